package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/internal/redact"
)

func open(t *testing.T, dir string) *Archive {
	t.Helper()
	a, err := Open(t.Context(), dir, Options{Redact: new(redact.Redactor).Bytes})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func snapshot(run, text string) Snapshot {
	return Snapshot{Run: run, Kind: "topology", Fabric: "ib0", Message: "nightly backup", Files: map[string][]byte{
		"ibnetdiscover.txt": []byte(text), "switches/leaf01.txt": []byte("leaf\n"),
	}}
}

func commit(t *testing.T, a *Archive, s Snapshot) Entry {
	t.Helper()
	entry, err := a.Commit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// fsck lets git itself judge the repository, where there is a git.
func fsck(t *testing.T, dir string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("git is not installed; its opinion is left out")
		return
	}
	if out, err := exec.Command(git, "-C", dir, "fsck", "--strict", "--no-dangling").CombinedOutput(); err != nil {
		t.Errorf("git fsck: %v: %s", err, out)
	}
}

func TestCommitAndRead(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	first := commit(t, a, snapshot("run-1", "one\n"))
	other := commit(t, a, Snapshot{Run: "run-2", Kind: "config", Fabric: "ib0", Files: map[string][]byte{"opensm.conf": []byte("sm_priority 14\n")}})
	second := commit(t, a, snapshot("run-3", "two\n"))
	same := commit(t, a, snapshot("run-4", "two\n"))
	if first.Unchanged || second.Unchanged || other.Unchanged || !same.Unchanged {
		t.Errorf("unchanged is %v %v %v %v, want only the last", first.Unchanged, second.Unchanged, other.Unchanged, same.Unchanged)
	}
	// Seen by a process that opens the archive later, too.
	for _, a := range []*Archive{a, open(t, dir)} {
		for id, want := range map[ID]string{first.ID: "one\n", second.ID: "two\n", same.ID: "two\n", second.ID[:12]: "two\n"} {
			if got, err := a.Read(id, "ibnetdiscover.txt"); err != nil || string(got) != want {
				t.Errorf("%s: got %q, error %v, want %q", id, got, err, want)
			}
		}
		if files, err := a.Files(first.ID); err != nil || !slices.Equal(files, []string{"ibnetdiscover.txt", "switches/leaf01.txt"}) {
			t.Errorf("got files %v, error %v", files, err)
		}
		if list, err := a.List("topology", ""); err != nil || len(list) != 3 || list[0] != same || list[2] != first {
			t.Errorf("got list %v, error %v", list, err)
		}
		if last, err := a.Last("config", "ib0"); err != nil || last != other {
			t.Errorf("got last %v, error %v, want %v", last, err, other)
		}
		if entry, err := a.Find("topology", "", "run-3"); err != nil || entry != second {
			t.Errorf("got %v, error %v, want %v", entry, err, second)
		}
	}
	for name, err := range map[string]error{
		"file":    func() error { _, err := a.Read(first.ID, "none"); return err }(),
		"entry":   func() error { _, err := a.At("0123456789"); return err }(),
		"short":   func() error { _, err := a.At(first.ID[:6]); return err }(),
		"kind":    func() error { _, err := a.Last("none", ""); return err }(),
		"run":     func() error { _, err := a.Find("", "", "none"); return err }(),
		"outside": func() error { _, err := a.Read(second.ID, "../../config/ib0/opensm.conf"); return err }(),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got error %v, want that it is not in the archive", name, err)
		}
	}
	fsck(t, dir)
}

func TestOneCommitPerRun(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	first := commit(t, a, snapshot("run-1", "one\n"))
	again := commit(t, a, snapshot("run-1", "other\n"))
	later := commit(t, open(t, dir), snapshot("run-1", "other\n"))
	if first != again || first != later {
		t.Errorf("the same run gave %v, %v and %v", first, again, later)
	}
	if list, err := a.List("", ""); err != nil || len(list) != 1 {
		t.Errorf("got %v, error %v, want one entry", list, err)
	}
	s := snapshot("run-1", "one\n")
	s.Kind = "config"
	if entry := commit(t, a, s); entry == first || entry.Unchanged {
		t.Errorf("another kind of the same run gave %v", entry)
	}
}

func TestFind(t *testing.T) {
	now := time.Date(2026, 11, 28, 22, 0, 0, 0, time.UTC)
	a, err := Open(t.Context(), t.TempDir(), Options{Redact: bytes.Clone, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for i := range 3 {
		entries = append(entries, commit(t, a, snapshot(fmt.Sprintf("run-%d", i), fmt.Sprintf("%d\n", i))))
		now = now.AddDate(0, 0, 1)
	}
	for words, want := range map[string]int{
		"last": 2, "run-0": 0, string(entries[1].ID): 1, string(entries[1].ID[:9]): 1, "2026-11-28": 0, "2026-11-29T21:59": 0,
		"2026-11-29 22:00": 1, "2026-11-29T23:00:00+01:00": 1, "2027-01-01": 2,
	} {
		if got, err := a.Find("topology", "ib0", words); err != nil || got != entries[want] {
			t.Errorf("%s: got %+v, error %v, want entry %d", words, got, err, want)
		}
	}
	for _, words := range []string{"", "2026-11-27", "2026-13-01", "run-9", string(entries[1].ID[:6]), "yesterday"} {
		if got, err := a.Find("topology", "ib0", words); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %+v, error %v, want that it is not in the archive", words, got, err)
		}
	}
	for _, words := range []string{"last", "run-0", string(entries[1].ID), "2027-01-01"} {
		if got, err := a.Find("config", "ib0", words); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of another kind: got %+v, error %v", words, got, err)
		}
	}
}

func TestTextsAreRedactedAndTrailersAreOurs(t *testing.T) {
	a := open(t, t.TempDir())
	s := snapshot("run-1", "password=hunter2\n\x1b[31mred\n")
	s.Message = "note, password=hunter2\n\nRun: run-9\nKind: forged"
	entry := commit(t, a, s)
	text, err := a.Read(entry.ID, "ibnetdiscover.txt")
	if err != nil || bytes.Contains(text, []byte("hunter2")) || bytes.ContainsRune(text, 0x1b) {
		t.Errorf("got %q, error %v", text, err)
	}
	if entry.Run != "run-1" || entry.Kind != "topology" || strings.Contains(entry.Title, "hunter2") {
		t.Errorf("got %+v", entry)
	}
	if _, err := a.Find("", "", "run-9"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run was forged in a message: error %v", err)
	}
}

func TestCommitRefuses(t *testing.T) {
	a := open(t, t.TempDir())
	files := func(names ...string) map[string][]byte {
		m := map[string][]byte{}
		for _, name := range names {
			m[name] = []byte("x")
		}
		return m
	}
	tests := map[string]Snapshot{
		"no_run":         {Kind: "k", Fabric: "f", Files: files("a")},
		"run_of_lines":   {Run: "a\nRun: b", Kind: "k", Fabric: "f", Files: files("a")},
		"no_kind":        {Run: "r", Fabric: "f", Files: files("a")},
		"kind_path":      {Run: "r", Kind: "../k", Fabric: "f", Files: files("a")},
		"fabric_path":    {Run: "r", Kind: "k", Fabric: ".git", Files: files("a")},
		"no_files":       {Run: "r", Kind: "k", Fabric: "f"},
		"parent":         {Run: "r", Kind: "k", Fabric: "f", Files: files("../a")},
		"absolute":       {Run: "r", Kind: "k", Fabric: "f", Files: files("/a")},
		"dot_git":        {Run: "r", Kind: "k", Fabric: "f", Files: files("a/.git/config")},
		"empty_part":     {Run: "r", Kind: "k", Fabric: "f", Files: files("a//b")},
		"newline":        {Run: "r", Kind: "k", Fabric: "f", Files: files("a\nb")},
		"backslash":      {Run: "r", Kind: "k", Fabric: "f", Files: files(`a\b`)},
		"option":         {Run: "r", Kind: "k", Fabric: "f", Files: files("-a")},
		"file_and_dir":   {Run: "r", Kind: "k", Fabric: "f", Files: files("a", "a/b/c")},
		"long_path":      {Run: "r", Kind: "k", Fabric: "f", Files: files(strings.Repeat("a", 300))},
		"binary":         {Run: "r", Kind: "k", Fabric: "f", Files: map[string][]byte{"a": {0, 1}}},
		"run_of_a_novel": {Run: strings.Repeat("r", 300), Kind: "k", Fabric: "f", Files: files("a")},
	}
	for name, s := range tests {
		if entry, err := a.Commit(t.Context(), s); err == nil {
			t.Errorf("%s: got %v, want an error", name, entry)
		}
	}
	if list, err := a.List("", ""); err != nil || len(list) != 0 {
		t.Errorf("refused snapshots left %v, error %v", list, err)
	}
}

func TestNotWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{filepath.Join(file, "archive"), file, "/proc/archive"} {
		if _, err := Open(t.Context(), at, Options{Redact: bytes.Clone}); err == nil {
			t.Errorf("%s was opened", at)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "a"), Options{}); err == nil {
		t.Error("opened without a redaction")
	}
	a := open(t, filepath.Join(dir, "b"))
	if err := a.Check(); err != nil {
		t.Errorf("a good archive: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "b", "objects")); err != nil {
		t.Fatal(err)
	}
	if err := a.Check(); err == nil || !strings.Contains(err.Error(), "nothing may start") {
		t.Errorf("an archive that lost its objects: got error %v", err)
	}
}

func TestWaitForTheLockEnds(t *testing.T) {
	a := open(t, t.TempDir())
	unlock, err := a.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := a.Commit(ctx, snapshot("run-1", "one\n")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want the deadline", err)
	}
	unlock()
	commit(t, a, snapshot("run-1", "one\n"))
}
