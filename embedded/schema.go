package embedded

import (
	"bytes"
	"context"
	"crypto/md5" // names a schema version, protects nothing
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/schema"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	toolschema "go.temporal.io/server/tools/common/schema"
)

// Directories of the two SQLite schemas inside the server's embedded assets.
const (
	mainSchema       = "sqlite/v3/temporal"
	visibilitySchema = "sqlite/v3/visibility"
)

// versionRow is the db_name under which the main schema's version is kept. The stock tool uses the file's path, so a
// directory that was moved would look empty to it.
const versionRow = "engine"

// visibilityMD5 names the visibility schema of the linked server, which has neither versions nor upgrade steps.
func visibilityMD5() (string, error) {
	b, err := fs.ReadFile(schema.Assets(), visibilitySchema+"/schema.sql")
	if err != nil {
		return "", fmt.Errorf("reading the server's visibility schema: %w", err)
	}
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:]), nil
}

// createStore makes the database under a temporary name and moves it into place when it is whole, so that a crash in
// the middle leaves nothing that looks like a database.
func createStore(ctx context.Context, path string) error {
	tmp := path + ".new"
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(tmp + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the rest of a broken first start: %w", err)
		}
	}
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite's companions take this mode over
	if err != nil {
		return fmt.Errorf("making database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("making database: %w", err)
	}
	db, err := openStore(tmp)
	if err != nil {
		return err
	}
	err = fillStore(ctx, db)
	if cerr := db.Close(); err == nil { // the last close also folds the write-ahead log into the file
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("making database %s: %w", path, explainStore(tmp, err))
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("making database: %w", err)
	}
	return nil
}

func fillStore(ctx context.Context, db *sql.DB) error {
	for _, dir := range []string{mainSchema, visibilitySchema} {
		text, err := fs.ReadFile(schema.Assets(), dir+"/schema.sql")
		if err != nil {
			return err
		}
		statements, err := persistence.LoadAndSplitQueryFromReaders([]io.Reader{bytes.NewReader(text)})
		if err != nil {
			return err
		}
		for _, s := range statements {
			if _, err := db.ExecContext(ctx, s); err != nil {
				return err
			}
		}
	}
	v := versioned{ctx, db}
	if err := v.CreateSchemaVersionTables(); err != nil {
		return err
	}
	return v.UpdateSchemaVersion(sqliteschema.Version, sqliteschema.Version)
}

// copyStore writes a consistent copy of the database beside it and returns its path. What carries the label is whole:
// a copy in the making has another name.
func copyStore(ctx context.Context, db *sql.DB, path, label string) (string, error) {
	to := fmt.Sprintf("%s.%s.%s", path, label, time.Now().UTC().Format("20060102T150405.000000Z"))
	part := path + ".copying"
	err := os.Remove(part)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", part)
	}
	if err == nil {
		err = settle(part, to)
	}
	if err != nil {
		return "", fmt.Errorf("copying database %s before the upgrade: %w", path, explainStore(path, explainFull(path, err)))
	}
	return to, nil
}

// settle makes a finished file private, gets it onto the disk, and gives it its name.
func settle(part, to string) error {
	f, err := os.Open(part)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(part, to)
}

// upgradeStore runs the server's own steps from the version in the file to the linked one. Each step may be repeated,
// so a crash in the middle is mended by the next start.
func upgradeStore(ctx context.Context, db *sql.DB) error {
	task := toolschema.NewUpdateSchemaTask(versioned{ctx, db}, &toolschema.UpdateConfig{
		SchemaName:    mainSchema,
		TargetVersion: sqliteschema.Version,
	}, log.NewNoopLogger())
	return task.Run()
}

// versioned is what the server's schema tool needs of a database, over a handle that this package can close: the
// stock one keeps its handle for the life of the process.
type versioned struct {
	ctx context.Context // of the one upgrade this value exists for
	db  *sql.DB
}

func (v versioned) Exec(stmt string, args ...any) error {
	_, err := v.db.ExecContext(v.ctx, stmt, args...)
	return err
}

func (v versioned) CreateSchemaVersionTables() error {
	for _, s := range []string{
		`CREATE TABLE schema_version (version_partition INT NOT NULL, db_name VARCHAR(255) NOT NULL, creation_time DATETIME(6),
			curr_version VARCHAR(64), min_compatible_version VARCHAR(64), PRIMARY KEY (version_partition, db_name))`,
		`CREATE TABLE schema_update_history (version_partition INT NOT NULL, year INT NOT NULL, month INT NOT NULL,
			update_time DATETIME(6) NOT NULL, description VARCHAR(255), manifest_md5 VARCHAR(64), new_version VARCHAR(64),
			old_version VARCHAR(64), PRIMARY KEY (version_partition, year, month, update_time))`,
	} {
		if err := v.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

func (v versioned) ReadSchemaVersion() (string, error) {
	var s string
	err := v.db.QueryRowContext(v.ctx, `SELECT curr_version FROM schema_version WHERE version_partition=0 AND db_name=?`, versionRow).Scan(&s)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errors.New("the database holds no schema version: it was not made by fabricbot")
	}
	return s, err
}

func (v versioned) UpdateSchemaVersion(now, minCompatible string) error {
	return v.Exec(`REPLACE INTO schema_version (version_partition, db_name, creation_time, curr_version, min_compatible_version) VALUES (0,?,?,?,?)`,
		versionRow, time.Now().UTC(), now, minCompatible)
}

func (v versioned) WriteSchemaUpdateLog(from, to, manifestMD5, desc string) error {
	t := time.Now().UTC()
	return v.Exec(`INSERT INTO schema_update_history (version_partition, year, month, update_time, old_version, new_version, manifest_md5, description)
		VALUES (0,?,?,?,?,?,?,?)`, t.Year(), int(t.Month()), t, from, to, manifestMD5, desc)
}

func (v versioned) DropAllTables() error { return errors.New("tables of the engine are never dropped") }
func (v versioned) Close()               {}
func (v versioned) Type() string         { return "sql" }
