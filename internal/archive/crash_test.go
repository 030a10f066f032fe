package archive

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv makes the test binary play another process that commits until it is killed or has done so many times.
const (
	childEnv  = "ARCHIVE_TEST_CHILD"
	childRuns = 6
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		os.Exit(writerChild(name, os.Getenv("ARCHIVE_TEST_DIR"), os.Getenv("ARCHIVE_TEST_ENDLESS") != ""))
	}
	os.Exit(m.Run())
}

func writerChild(name, dir string, endless bool) int {
	a, err := Open(context.Background(), dir, Options{Redact: bytes.Clone})
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	for i := 0; endless || i < childRuns; i++ {
		run := fmt.Sprintf("%s-%d", name, i)
		s := snapshot(run, strings.Repeat(run+"\n", 2000))
		if _, err := a.Commit(context.Background(), s); err != nil {
			fmt.Println("error:", err)
			return 1
		}
		fmt.Println(run)
	}
	return 0
}

func child(t *testing.T, name, dir string, endless string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+name, "ARCHIVE_TEST_DIR="+dir, "ARCHIVE_TEST_ENDLESS="+endless)
	return cmd
}

// A writer is killed at changing moments, many times over: whatever it confirmed is there, whole, and the next one goes on.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	confirmed := map[string]bool{}
	for round := range 8 {
		cmd := child(t, fmt.Sprintf("round%d", round), dir, "yes")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for i := 0; lines.Scan(); i++ {
			if strings.HasPrefix(lines.Text(), "error:") {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			confirmed[lines.Text()] = true
			if i == round%3 {
				// Into the middle of the next commit, each round a little later.
				time.AfterFunc(time.Duration(round)*1700*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the writer was not killed")
		}
	}
	a := open(t, dir)
	for run := range confirmed {
		entry, err := a.Find("topology", "ib0", run)
		if err != nil {
			t.Errorf("run %s was confirmed: %v", run, err)
			continue
		}
		if text, err := a.Read(entry.ID, "ibnetdiscover.txt"); err != nil || string(text) != strings.Repeat(run+"\n", 2000) {
			t.Errorf("run %s: %d octets, error %v", run, len(text), err)
		}
	}
	commit(t, a, snapshot("afterwards", "x\n"))
	fsck(t, dir)
}

func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 3 {
		cmd := child(t, fmt.Sprintf("writer%d", i), dir, "")
		group.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	a := open(t, dir)
	for i := range 3 {
		group.Go(func() {
			if _, err := a.Commit(t.Context(), snapshot(fmt.Sprintf("here-%d", i), "x\n")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list, err := a.List("", ""); err != nil || len(list) != 3*childRuns+3 {
		t.Errorf("got %d entries, error %v, want %d", len(list), err, 3*childRuns+3)
	}
	fsck(t, dir)
}

// What a power cut can leave: names of objects without their content, and temporary files.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	kept := commit(t, a, snapshot("run-1", "one\n"))
	probe := t.TempDir()
	p := open(t, probe)
	commit(t, p, snapshot("run-1", "one\n"))
	commit(t, p, snapshot("run-2", "two\n"))
	// Every object that the second commit will need, emptied or cut short.
	made := 0
	err := filepath.WalkDir(filepath.Join(probe, "objects"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "pack") {
			return err
		}
		rel, err := filepath.Rel(probe, path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, rel)
		if _, err := os.Stat(target); err == nil {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		made++
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		return os.WriteFile(target, content[:len(content)*(made%2)/2], 0o444)
	})
	if err != nil || made == 0 {
		t.Fatalf("made %d broken objects, error %v", made, err)
	}
	old := time.Now().Add(-2 * staleBlob)
	for name, want := range map[string]bool{"tmp/new-1": false, "tmp/blob-old": false, "tmp/blob-young": true, "objects/pack/tmp_obj_1": false} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !want {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		defer func() {
			if _, err := os.Stat(path); (err == nil) != want {
				t.Errorf("%s is there: %v, want %v", name, err == nil, want)
			}
		}()
	}
	a = open(t, dir)
	entry := commit(t, a, snapshot("run-2", "two\n"))
	for id, want := range map[ID]string{kept.ID: "one\n", entry.ID: "two\n"} {
		if text, err := a.Read(id, "ibnetdiscover.txt"); err != nil || string(text) != want {
			t.Errorf("got %q, error %v, want %q", text, err, want)
		}
	}
	reachable(t, dir)
}

// reachable lets git read all that the branch needs; broken objects that nothing refers to may lie about.
func reachable(t *testing.T, dir string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("git is not installed; its opinion is left out")
		return
	}
	if out, err := exec.Command(git, "-C", dir, "rev-list", "--objects", "--quiet", "main").CombinedOutput(); err != nil {
		t.Errorf("git rev-list: %v: %s", err, out)
	}
	if out, err := exec.Command(git, "-C", dir, "archive", "--format=tar", "-o", os.DevNull, "main").CombinedOutput(); err != nil {
		t.Errorf("git archive: %v: %s", err, out)
	}
}

// An operator may run git gc at any time.
func TestPackedByHand(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	a := open(t, dir)
	first := commit(t, a, snapshot("run-1", "one\n"))
	if out, err := exec.Command(git, "-C", dir, "gc", "-q", "--prune=now").CombinedOutput(); err != nil {
		t.Fatalf("git gc: %v: %s", err, out)
	}
	commit(t, a, snapshot("run-2", "two\n"))
	if text, err := a.Read(first.ID, "ibnetdiscover.txt"); err != nil || string(text) != "one\n" {
		t.Errorf("got %q, error %v", text, err)
	}
	if list, err := open(t, dir).List("", ""); err != nil || len(list) != 2 {
		t.Errorf("got %v, error %v, want two entries", list, err)
	}
	fsck(t, dir)
}
