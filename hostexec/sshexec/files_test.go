package sshexec

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/hosttest"
)

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func TestPutAndGet(t *testing.T) {
	for _, kind := range []string{"openssh", "dropbear", "shell"} {
		t.Run(kind, func(t *testing.T) {
			var p *Pool
			var home, user string
			if kind == "shell" {
				// The one path a test may write without root: a home directory's own .fabricbot.
				home, user = t.TempDir(), "0"
				f := fleet(t, 1, hosttest.Options{Shell: "/bin/sh", Home: home})
				p = fleetPool(t, f, func(o *Options) {
					inner := o.Resolve
					o.Resolve = func(h string) (Endpoint, error) {
						ep, err := inner(h)
						ep.StateDir = home + "/state"
						return ep, err
					}
				})
			} else {
				s := startServer(t, kind)
				home, user = filepath.Join(s.dir, "home", "fbsh"), "fbsh"
				p = s.pool(t, nil)
			}
			ctx := deadline(t)
			target := filepath.Join(home, "sub", "opensm.conf")
			put := func(l hostexec.Lease, mode fs.FileMode, content []byte, announced string) error {
				return p.put(ctx, user, l, target, mode, content, announced)
			}
			content := append(bytes.Repeat([]byte("guid 0x1\n\x00\xff"), 100000), "end"...)
			if err := put(lease, 0o640, content, sum(content)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(target)
			st, serr := os.Stat(target)
			if err != nil || serr != nil || !bytes.Equal(got, content) || st.Mode().Perm() != 0o640 {
				t.Fatalf("%d bytes, %v, %v", len(got), err, st)
			}
			// The same again touches nothing.
			old := time.Unix(1e9, 0)
			if err := os.Chtimes(target, old, old); err != nil {
				t.Fatal(err)
			}
			if err := put(lease, 0o640, content, sum(content)); err != nil {
				t.Fatal(err)
			}
			if st, err := os.Stat(target); err != nil || !st.ModTime().Equal(old) {
				t.Errorf("written again: %v %v", st.ModTime(), err)
			}
			// Other content replaces it by rename, other mode counts as different.
			if err := put(lease, 0o600, []byte("new\n"), sum([]byte("new\n"))); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(target); err != nil || string(got) != "new\n" {
				t.Errorf("%q %v", got, err)
			}
			if err := put(hostexec.Lease{Run: lease.Run, Token: lease.Token - 1}, 0o600, []byte("late"), sum([]byte("late"))); !errors.Is(err, hostexec.ErrFenced) {
				t.Errorf("older lease: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(home, "sub", ".fabricbot*")); len(left) > 0 {
				t.Errorf("left behind %q", left)
			}
		})
	}
}

func TestPutRefusesBeforeSending(t *testing.T) {
	p := &Pool{}
	ok := []byte("x")
	for name, try := range map[string]func() error{
		"path": func() error {
			return p.Put(t.Context(), "h", lease, "/etc/passwd", 0o644, bytes.NewReader(ok), sum(ok))
		},
		"dots": func() error {
			return p.Put(t.Context(), "h", lease, "/etc/opensm/../passwd", 0o644, bytes.NewReader(ok), sum(ok))
		},
		"journal": func() error {
			return p.Put(t.Context(), "h", lease, "/var/lib/fabricbot/jobs/a/exit", 0o644, bytes.NewReader(ok), sum(ok))
		},
		"sum": func() error {
			return p.Put(t.Context(), "h", lease, "/etc/opensm/opensm.conf", 0o644, bytes.NewReader(ok), sum([]byte("y")))
		},
		"mode": func() error {
			return p.Put(t.Context(), "h", lease, "/etc/opensm/opensm.conf", 0o4755, bytes.NewReader(ok), sum(ok))
		},
		"lease": func() error {
			return p.Put(t.Context(), "h", hostexec.Lease{}, "/etc/opensm/opensm.conf", 0o644, bytes.NewReader(ok), sum(ok))
		},
	} {
		if err := try(); hostexec.OutcomeOf(err) != hostexec.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGet(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{Shell: "/bin/sh", Home: t.TempDir()})
	p := fleetPool(t, f, nil)
	want, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Get(deadline(t), "0", "/proc/sys/kernel/random/boot_id", 100); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
	if _, err := p.Get(deadline(t), "0", "/proc/sys/kernel/random/boot_id", 5); err == nil || !strings.Contains(err.Error(), "longer than 5") {
		t.Errorf("too long: %v", err)
	}
	if _, err := p.Get(deadline(t), "0", "/etc/opensm/no-such-file", 5); hostexec.OutcomeOf(err) != hostexec.Failed {
		t.Errorf("missing: %v", err)
	}
	if _, err := p.Get(deadline(t), "0", "/etc/shadow", 5); !errors.Is(err, hostexec.ErrNotAllowed) {
		t.Errorf("forbidden: %v", err)
	}
}

func TestSignalChecksTheName(t *testing.T) {
	s := startServer(t, "openssh")
	p := s.pool(t, nil)
	st, err := p.rawJob(deadline(t), "root", lease, "daemon", "", "trap 'echo hup; exit 9' HUP; echo up; while :; do sleep 0.05; done")
	if err != nil {
		t.Fatal(err)
	}
	child := 0
	waitFor(t, "the job's program", func() bool {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", st.PID, st.PID))
		_, _ = fmt.Sscan(string(text), &child)
		j, err := p.PollJob(deadline(t), "root", "daemon", 0)
		return err == nil && string(j.Output) == "up\n" && child > 0
	})
	if err := p.Signal(deadline(t), "root", lease, child, "opensm", "HUP"); err == nil || !strings.Contains(err.Error(), "is sh") {
		t.Errorf("wrong name: %v", err)
	}
	if err := p.Signal(deadline(t), "root", lease, child, "sh", "KILL"); !errors.Is(err, hostexec.ErrNotAllowed) {
		t.Errorf("wrong signal: %v", err)
	}
	if err := p.Signal(deadline(t), "root", lease, child, "sh", "HUP"); err != nil {
		t.Error(err)
	}
	if j := done(t, p, "root", "daemon"); j.Exit != 9 || string(j.Output) != "up\nhup\n" {
		t.Errorf("%+v", j)
	}
}
