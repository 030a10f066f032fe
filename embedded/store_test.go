package embedded

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// prepared makes a data directory as a start does, up to where the server would take over.
func prepared(t *testing.T) (Options, Meta) {
	t.Helper()
	o, err := Options{DataDir: filepath.Join(t.TempDir(), "data")}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if err := openDir(o.DataDir); err != nil {
		t.Fatal(err)
	}
	m, err := prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m.FrontendPort = 7233
	if err := writeMeta(o.DataDir, m); err != nil {
		t.Fatal(err)
	}
	return o, m
}

func edit(t *testing.T, o Options, statements ...string) {
	t.Helper()
	db, err := openStore(filepath.Join(o.DataDir, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func query(t *testing.T, path, q string) string {
	t.Helper()
	db, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var s string
	if err := db.QueryRow(q).Scan(&s); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return s
}

// TestVisibilitySchemaIsKnown fails when a server upgrade changes the visibility schema. The server ships no steps
// for it: write the step from the old sum by hand, test it on a copy of an old file, then change the sum here.
func TestVisibilitySchemaIsKnown(t *testing.T) {
	got, err := visibilityMD5()
	if err != nil {
		t.Fatal(err)
	}
	if want := "9b85253368dfdbf47f0ef5dbc8566315"; got != want {
		t.Errorf("visibility schema has md5 %s, want %s of server 1.32.1: read the comment of this test", got, want)
	}
}

// TestUpgrade puts a file back to schema 0.9, as a server of that time left it, and wants it brought up with its rows
// kept and a copy from before beside it.
func TestUpgrade(t *testing.T) {
	o, m := prepared(t)
	edit(t, o,
		`DROP TABLE current_chasm_executions`, // of 0.11
		`DROP TABLE tasks_v2`,                 // of 0.10
		`UPDATE schema_version SET curr_version='0.9'`,
		`INSERT INTO queue_metadata (queue_type, data, data_encoding, version) VALUES (77, x'01', 'kept', 1)`,
	)
	m.ServerVersion, m.SQLiteSchema = "1.29.0", "0.9"
	if err := writeMeta(o.DataDir, m); err != nil {
		t.Fatal(err)
	}
	got, err := prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.SQLiteSchema != "0.11" || got.ServerVersion != "1.32.1" || !got.Created.Equal(m.Created) {
		t.Errorf("record %+v", got)
	}
	path := filepath.Join(o.DataDir, databaseFile)
	tables := `SELECT count(*) FROM sqlite_master WHERE type='table' AND name IN ('current_chasm_executions','tasks_v2')`
	version := `SELECT curr_version FROM schema_version`
	row := `SELECT data_encoding FROM queue_metadata WHERE queue_type=77`
	if query(t, path, version) != "0.11" || query(t, path, tables) != "2" || query(t, path, row) != "kept" {
		t.Errorf("upgraded file: version %s, %s of 2 new tables, row %q", query(t, path, version), query(t, path, tables), query(t, path, row))
	}
	copies, err := filepath.Glob(path + ".before-1.32.1.*Z")
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %v, %v, want one", copies, err)
	}
	if query(t, copies[0], version) != "0.9" || query(t, copies[0], tables) != "0" || query(t, copies[0], row) != "kept" {
		t.Error("the copy is not as before")
	}

	// Interrupted before the version was written: the same steps once more.
	edit(t, o, `UPDATE schema_version SET curr_version='0.9'`)
	if _, err := prepare(t.Context(), o); err != nil {
		t.Errorf("repeating an interrupted upgrade: %v", err)
	}

	// And the server serves from such a file.
	edit(t, o, `UPDATE schema_version SET curr_version='0.9'`)
	c, line := spawn(t, o.DataDir)
	if line != "ready" {
		t.Fatal(line)
	}
	c.stop(t)
	after, err := engine.ReadMeta(o.DataDir)
	if err != nil || after.ServerVersion != "1.32.1" || after.SQLiteSchema != "0.11" || query(t, path, row) != "kept" {
		t.Errorf("after a start: %+v, %v", after, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, o Options, m *Meta)
		want string
	}{
		{"newer-server", func(_ *testing.T, _ Options, m *Meta) { m.ServerVersion = "1.33.0" }, "use the newer fabricbot"},
		{"newer-patch", func(_ *testing.T, _ Options, m *Meta) { m.ServerVersion = "1.32.2" }, "use the newer fabricbot"},
		{"newer-schema", func(_ *testing.T, _ Options, m *Meta) { m.SQLiteSchema = "0.12" }, "knows up to 0.11"},
		{"newer-schema-in-file", func(t *testing.T, o Options, _ *Meta) { edit(t, o, `UPDATE schema_version SET curr_version='1.0'`) }, "knows up to 0.11"},
		{"newer-record", func(_ *testing.T, _ Options, m *Meta) { m.Format = 2 }, "newer fabricbot"},
		{"other-visibility", func(_ *testing.T, _ Options, m *Meta) { m.VisibilitySchemaMD5 = "0123" }, "without a step between them"},
		{"nonsense-version", func(_ *testing.T, _ Options, m *Meta) { m.ServerVersion = "new" }, `server version "new"`},
		{"no-shards", func(_ *testing.T, _ Options, m *Meta) { m.HistoryShards = 0 }, "names 0 history shards"},
		{"database-gone", func(t *testing.T, o Options, _ *Meta) { remove(t, o, databaseFile) }, "is gone although"},
		{"not-a-database", func(t *testing.T, o Options, _ *Meta) {
			if err := os.WriteFile(filepath.Join(o.DataDir, databaseFile), []byte(strings.Repeat("garbage ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is damaged"},
		{"foreign-database", func(t *testing.T, o Options, _ *Meta) { edit(t, o, `DELETE FROM schema_version`) }, "was not made by fabricbot"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, m := prepared(t)
			tc.do(t, o, &m)
			if err := writeMeta(o.DataDir, m); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(filepath.Join(o.DataDir, engine.MetaFile))
			if err != nil {
				t.Fatal(err)
			}
			// Through the front door: nothing may have started or changed.
			_, err = Start(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want one line with %q", err, tc.want)
			}
			after, err := os.ReadFile(filepath.Join(o.DataDir, engine.MetaFile))
			if err != nil || string(after) != string(before) {
				t.Errorf("the record changed: %s, %v", after, err)
			}
			if copies, _ := filepath.Glob(filepath.Join(o.DataDir, "*.before-*")); len(copies) > 0 {
				t.Errorf("left copies %v", copies)
			}
		})
	}
	t.Run("record-gone", func(t *testing.T) {
		o, _ := prepared(t)
		remove(t, o, engine.MetaFile)
		if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "restore both from the same backup") {
			t.Errorf("got %v", err)
		}
	})
}

func remove(t *testing.T, o Options, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(o.DataDir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenFirstStart wants a first start that was cut short anywhere to be followed by a whole one.
func TestBrokenFirstStart(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, o Options, m Meta)
	}{
		{"record-only", func(t *testing.T, o Options, _ Meta) { remove(t, o, databaseFile) }},
		{"half-database", func(t *testing.T, o Options, _ Meta) {
			remove(t, o, databaseFile)
			if err := os.WriteFile(filepath.Join(o.DataDir, databaseFile+".new"), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"before-the-server", func(*testing.T, Options, Meta) {}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, m := prepared(t)
			m.FrontendPort = 0
			if err := writeMeta(o.DataDir, m); err != nil {
				t.Fatal(err)
			}
			tc.do(t, o, m)
			if _, err := prepare(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if v := query(t, filepath.Join(o.DataDir, databaseFile), `SELECT curr_version FROM schema_version`); v != "0.11" {
				t.Errorf("schema %s", v)
			}
		})
	}
}

// TestLockedDatabase holds the write lock as a backup tool or a shell would, in this process and in another.
func TestLockedDatabase(t *testing.T) {
	o, _ := prepared(t)
	path := filepath.Join(o.DataDir, databaseFile)
	db, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, line := spawn(t, o.DataDir)
	if want := "is locked by " + process(os.Getpid()); !strings.Contains(line, want) || !strings.HasPrefix(line, "error:") {
		t.Errorf("child said %q, want %q", line, want)
	}
}

func TestOpenDirRefusesSharedOne(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o750, 0o701} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), Options{DataDir: dir}); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %o: got %v", mode, err)
		}
	}
}

// TestFullDisk mounts small file systems of its own.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system takes root")
	}
	mount := func(t *testing.T, size string) string {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
			t.Skipf("mounting a tmpfs, which takes CAP_SYS_ADMIN: %v", err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	t.Run("little-room", func(t *testing.T) {
		_, err := Start(t.Context(), Options{DataDir: filepath.Join(mount(t, "8m"), "data")})
		if err == nil || !strings.Contains(err.Error(), "MiB free and the engine wants 64") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		dir := mount(t, "128m")
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), Options{DataDir: filepath.Join(dir, "data")})
		if err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("full-while-copying", func(t *testing.T) {
		dir := mount(t, "80m")
		o, err := Options{DataDir: filepath.Join(dir, "data")}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if err := openDir(o.DataDir); err != nil {
			t.Fatal(err)
		}
		m, err := prepare(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		m.ServerVersion = "1.31.0" // so that a copy is due
		if err := writeMeta(o.DataDir, m); err != nil {
			t.Fatal(err)
		}
		ballast, err := os.Create(filepath.Join(dir, "ballast"))
		if err != nil {
			t.Fatal(err)
		}
		defer ballast.Close()
		for err == nil {
			_, err = ballast.Write(make([]byte, 64<<10))
		}
		if _, err := prepare(t.Context(), o); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("got %v", err)
		}
	})
}
