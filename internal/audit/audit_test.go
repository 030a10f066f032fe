package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/internal/redact"
)

func entry(reason string) Entry {
	return Entry{Event: "requested", Operation: "sm restart", By: "T0TEAM:U0ANNA", Requester: "T0TEAM:U0ANNA", Targets: "node[001-064]", Reason: reason}
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	log, err := Open(path, new(redact.Redactor).String)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func verify(t *testing.T, path string) (Report, error) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Verify(bytes.NewReader(content))
}

func TestAppendAndVerify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := open(t, path)
	var last Receipt
	for i := range 5 {
		receipt, err := log.Append(t.Context(), entry(fmt.Sprintf("<%d> \xff & token=hunter2", i)))
		if err != nil {
			t.Fatal(err)
		}
		last = receipt
		log = open(t, path)
	}
	report, err := verify(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if report.Entries != 5 || report.Torn != 0 || report.Last != last {
		t.Errorf("got %+v, want 5 entries ending in %+v", report, last)
	}
	content, _ := os.ReadFile(path)
	if bytes.Contains(content, []byte("hunter2")) {
		t.Errorf("a secret is in the audit file: %s", content)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
}

func TestAppendRefuses(t *testing.T) {
	log := open(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	for name, bad := range map[string]Entry{
		"no_event":     {Operation: "sm status", By: "T:U"},
		"odd_event":    {Event: "Guessed\n", Operation: "sm status", By: "T:U"},
		"no_operation": {Event: "requested", By: "T:U"},
		"no_person":    {Event: "requested", Operation: "sm status"},
		"too_long":     entry(strings.Repeat("x", maxLine)),
	} {
		if receipt, err := log.Append(t.Context(), bad); err == nil {
			t.Errorf("%s: got %+v, want an error", name, receipt)
		}
	}
	if report, err := verify(t, log.path); err != nil || report.Entries != 0 {
		t.Errorf("refused entries left %+v, error %v", report, err)
	}
}

// An act that is repeated after a crash records itself again; the record stays as it was.
func TestAppendOncePerRunEventAndNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, other := open(t, path), open(t, path)
	one := entry("first")
	one.Run, one.Number = "run-1", 3
	first, err := log.Append(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]*Log{"same": log, "other": other, "later": open(t, path)} {
		one.Reason = name
		if again, err := log.Append(t.Context(), one); err != nil || again != first {
			t.Errorf("%s: got %+v, error %v, want %+v", name, again, err, first)
		}
	}
	for name, change := range map[string]func(*Entry){
		"run": func(e *Entry) { e.Run = "run-2" }, "event": func(e *Entry) { e.Event = "planned" }, "number": func(e *Entry) { e.Number = 4 },
	} {
		next := one
		change(&next)
		if receipt, err := other.Append(t.Context(), next); err != nil || receipt == first {
			t.Errorf("another %s: got %+v, error %v", name, receipt, err)
		}
	}
	if report, err := verify(t, path); err != nil || report.Entries != 4 {
		t.Errorf("got %+v, error %v, want 4 entries", report, err)
	}
}

func TestVerifyNoticesTampering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := open(t, path)
	for i := range 4 {
		if _, err := log.Append(t.Context(), entry(fmt.Sprint("reason ", i))); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))[:4]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := map[string][]byte{
		"changed":   bytes.Replace(whole, []byte("reason 1"), []byte("reason 7"), 1),
		"removed":   join(lines[0], lines[2], lines[3]),
		"first_cut": join(lines[1:]...),
		"swapped":   join(lines[0], lines[2], lines[1], lines[3]),
		"doubled":   join(lines[0], lines[0], lines[1]),
		"inserted":  join(lines[0], []byte("{}\n"), lines[1]),
		"blank":     join(lines[0], []byte("\n"), lines[1]),
		"spaced":    bytes.Replace(whole, []byte(`"seq":2,`), []byte(`"seq": 2,`), 1),
		"returns":   bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")),
		"garbage":   join(lines[0], []byte("torn"), lines[1], lines[2]),
		"last_torn": whole[:len(whole)-20],
	}
	for name, content := range tests {
		if report, err := Verify(bytes.NewReader(content)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, report)
		} else if IsTornTail(err) != (name == "last_torn") {
			t.Errorf("%s: taken for a torn last line or not, wrongly: %v", name, err)
		}
	}
	// What the chain alone cannot see, the receipt can.
	report, err := Verify(bytes.NewReader(join(lines[:3]...)))
	if err != nil || report.Last.Seq != 3 {
		t.Errorf("three lines: got %+v, error %v", report, err)
	}
}

func TestAppendGoesOnAfterACrash(t *testing.T) {
	for _, cut := range []int{1, 2, 30} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		log := open(t, path)
		for range 3 {
			if _, err := log.Append(t.Context(), entry("before")); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()-int64(cut)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := log.Append(t.Context(), entry("after")); err != nil {
				t.Fatal(err)
			}
		}
		report, err := verify(t, path)
		if err != nil {
			t.Fatalf("cut by %d: %v", cut, err)
		}
		// One octet less is only the newline: the entry itself is whole.
		want := Report{Entries: 4, Torn: 1}
		if cut == 1 {
			want = Report{Entries: 5}
		}
		if report.Entries != want.Entries || report.Torn != want.Torn {
			t.Errorf("cut by %d: got %+v, want %+v", cut, report, want)
		}
	}
}

func TestNotWritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "audit.jsonl"), filepath.Dir(file), "/dev/full"} {
		if _, err := Open(path, strings.ToUpper); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "audit.jsonl"), nil); err == nil {
		t.Error("opened without a redaction")
	}
}

func TestWaitForTheLockEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := open(t, path)
	holder, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if err := syscall.Flock(int(holder.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := log.Append(ctx, entry("waiting")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want the deadline", err)
	}
}

func TestReadStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := open(t, path)
	for range 3 {
		if _, err := log.Append(t.Context(), entry("x")); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stop := errors.New("enough")
	seen := 0
	if _, err := Read(file, func(e Entry, r Receipt) error {
		if seen++; e.Seq == 2 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) || seen != 2 {
		t.Errorf("got error %v after %d entries, want to stop after 2", err, seen)
	}
}

func FuzzVerify(f *testing.F) {
	line, err := json.Marshal(Entry{Seq: 1, Prev: genesis, Event: "requested", Operation: "a", By: "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, '\n'))
	f.Add([]byte("{}\n\n"))
	f.Add([]byte("torn"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if report, err := Verify(bytes.NewReader(content)); err == nil && report.Entries == 0 && len(content) > 0 {
			t.Fatalf("%q passes without an entry", content)
		}
	})
}
