package sshexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// rawJob starts a job past the allow list.
func (p *Pool) rawJob(ctx context.Context, host string, lease hostexec.Lease, id, lock, shell string) (hostexec.JobStatus, error) {
	argv := []string{"/bin/sh", "-c", shell}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindStart, Args: []string{id, lock, "0", "$fb_sudo " + wire.QuoteAll(argv)}, Sudo: host == "fbsudo", Run: lease.Run, Token: lease.Token},
		argv:   argv, timeout: jobTime, keep: 1 << 20,
	})
	if a.marker.Word == "fenced" {
		return hostexec.JobStatus{State: hostexec.Fenced, Detail: a.Detail}, nil
	}
	if err != nil {
		return hostexec.JobStatus{}, err
	}
	how, rest, _ := strings.Cut(string(a.Stdout), "\n")
	st, err := report(host, argv, rest, a)
	st.Attached = how == "attached"
	return st, err
}

func done(t *testing.T, p *Pool, host, id string) (st hostexec.JobStatus) {
	t.Helper()
	waitFor(t, "job "+id, func() bool {
		var err error
		if st, err = p.PollJob(deadline(t), host, id, 0); err != nil {
			t.Fatal(err)
		}
		return st.State != hostexec.Running
	})
	return st
}

var lease = hostexec.Lease{Run: "firmware-upgrade/node1", Token: 5}

func TestJobRunsOnceAndIsFollowed(t *testing.T) {
	for _, kind := range []string{"openssh", "dropbear"} {
		t.Run(kind, func(t *testing.T) {
			s := startServer(t, kind)
			for _, user := range []string{"fbsh", "fbcsh", "fbsudo", "root"} {
				t.Run(user, func(t *testing.T) {
					t.Parallel()
					ctx, p := deadline(t), s.pool(t, nil)
					count := filepath.Join(s.dir, "home", user, "count")
					shell := "echo begun >>" + count + "; echo one; echo warn >&2; while [ ! -f " + count + ".go ]; do sleep 0.05; done; echo two; exit 3"

					// Ten starters at once, over two pools as of two workers: one process.
					other := s.pool(t, nil)
					var all sync.WaitGroup
					var mu sync.Mutex
					fresh, pids := 0, map[int]bool{}
					for i := range 10 {
						all.Go(func() {
							st, err := []*Pool{p, other}[i%2].rawJob(ctx, user, lease, "wf-1.burn", "flash", shell)
							// What callers do: a start is safe to repeat after any error.
							for range 3 {
								if hostexec.OutcomeOf(err) != hostexec.Lost {
									break
								}
								st, err = []*Pool{p, other}[i%2].rawJob(ctx, user, lease, "wf-1.burn", "flash", shell)
							}
							if err != nil || st.State != hostexec.Running {
								t.Errorf("start: %v %+v", err, st)
								return
							}
							mu.Lock()
							defer mu.Unlock()
							pids[st.PID] = true
							if !st.Attached {
								fresh++
							}
						})
					}
					all.Wait()
					if fresh != 1 || len(pids) != 1 {
						t.Fatalf("%d fresh starts, processes %v", fresh, pids)
					}
					waitFor(t, "first output", func() bool {
						st, err := p.PollJob(ctx, user, "wf-1.burn", 0)
						return err == nil && string(st.Output) == "one\n" && string(st.Errors) == "warn\n" && st.OutputBytes == 4
					})
					// Another job of the same lock is turned away and may come again.
					if st, err := p.rawJob(ctx, user, lease, "wf-2.burn", "flash", "true"); err != nil || st.State != hostexec.Busy || !strings.Contains(st.Detail, "wf-1.burn") {
						t.Errorf("busy: %v %+v", err, st)
					}
					// The connection goes, the job stays.
					p.Close()
					p = s.pool(t, nil)
					write(t, count+".go", "", 0o644)
					st := done(t, p, user, "wf-1.burn")
					if st.State != hostexec.Done || st.Exit != 3 || string(st.Output) != "one\ntwo\n" || st.Token != 5 || st.Started.IsZero() || st.Ended.Before(st.Started) {
						t.Errorf("done: %+v", st)
					}
					if st, err := p.PollJob(ctx, user, "wf-1.burn", 4); err != nil || string(st.Output) != "two\n" || st.OutputStart != 4 {
						t.Errorf("from an offset: %v %+v", err, st)
					}
					if st, err := p.rawJob(ctx, user, lease, "wf-1.burn", "flash", shell); err != nil || !st.Attached || st.State != hostexec.Done {
						t.Errorf("start of a finished job: %v %+v", err, st)
					}
					if text, err := os.ReadFile(count); err != nil || string(text) != "begun\n" {
						t.Errorf("it ran %q, %v", text, err)
					}
					if st, err := p.rawJob(ctx, user, lease, "wf-2.burn", "flash", "true"); err != nil || st.Attached || done(t, p, user, "wf-2.burn").State != hostexec.Done {
						t.Errorf("after busy: %v %+v", err, st)
					}
					if st, err := p.PollJob(ctx, user, "never", 0); err != nil || st.State != hostexec.Absent {
						t.Errorf("absent: %v %+v", err, st)
					}
				})
			}
		})
	}
}

func TestJobThatDiesUnseenIsUnknownAndNeverRestarted(t *testing.T) {
	s := startServer(t, "openssh")
	p := s.pool(t, nil)
	ctx := deadline(t)
	mark := filepath.Join(s.dir, "home", "fbsh", "runs")
	shell := "echo x >>" + mark + "; exec sleep 1000"
	st, err := p.rawJob(ctx, "fbsh", lease, "j1", "", shell)
	if err != nil || st.PID == 0 {
		t.Fatal(err, st)
	}
	waitFor(t, "the program", func() bool { _, err := os.Stat(mark); return err == nil })
	if err := syscall.Kill(-st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if st = done(t, p, "fbsh", "j1"); st.State != hostexec.Unknown || !strings.Contains(st.Detail, "is gone") {
		t.Errorf("%+v", st)
	}
	if st, err = p.rawJob(ctx, "fbsh", lease, "j1", "", shell); err != nil || st.State != hostexec.Unknown || !st.Attached {
		t.Errorf("start again: %v %+v", err, st)
	}
	if text, _ := os.ReadFile(mark); string(text) != "x\n" {
		t.Errorf("it ran %q", text)
	}

	// The same after a reboot: the recorded boot is not this one.
	if _, err = p.rawJob(ctx, "fbsh", lease, "j2", "", "exec sleep 1000"); err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(s.dir, "home", "fbsh", "state", "jobs", "j2", "pid")
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(text))
	write(t, pidFile, fmt.Sprintf("%s %s 00000000-0000-0000-0000-000000000000 %s\n", f[0], f[1], f[3]), 0o600)
	if st, err = p.PollJob(ctx, "fbsh", "j2", 0); err != nil || st.State != hostexec.Unknown || !strings.Contains(st.Detail, "booted") {
		t.Errorf("after a boot: %v %+v", err, st)
	}
	write(t, pidFile, string(text), 0o600)
	if st, err = p.CancelJob(ctx, "fbsh", lease, "j2"); err != nil || st.State != hostexec.Done || st.Exit != 143 || !strings.Contains(st.Detail, "cancelled") {
		t.Errorf("cancel: %v %+v", err, st)
	}
}

func TestInterruptedLaunchMayBeginOnceLater(t *testing.T) {
	s := startServer(t, "openssh")
	p := s.pool(t, nil)
	ctx := deadline(t)
	if _, err := p.rawJob(ctx, "root", lease, "first", "", "true"); err != nil {
		t.Fatal(err)
	}
	// What a start leaves behind that was cut off before its program began.
	write(t, filepath.Join(s.dir, "home", "root", "state", "jobs", "cut", "cmd"), "'false'\n", 0o600)
	if st, err := p.PollJob(ctx, "root", "cut", 0); err != nil || st.State != hostexec.Absent {
		t.Errorf("cut: %v %+v", err, st)
	}
	if st, err := p.rawJob(ctx, "root", lease, "cut", "", "exit 4"); err != nil || st.Attached || done(t, p, "root", "cut").Exit != 4 {
		t.Errorf("again: %v %+v", err, st)
	}
}

func TestOlderLeaseIsFenced(t *testing.T) {
	for _, kind := range []string{"openssh", "dropbear"} {
		t.Run(kind, func(t *testing.T) {
			s := startServer(t, kind)
			p := s.pool(t, nil)
			ctx := deadline(t)
			older, newer := hostexec.Lease{Run: "run-a", Token: 7}, hostexec.Lease{Run: "run-b", Token: 8}
			target := filepath.Join(s.dir, "home", "fbsh", ".fabricbot", "x")
			change := func(l hostexec.Lease, dir string) error {
				_, err := p.Change(ctx, "fbsh", l, hostexec.Command{Argv: []string{"mkdir", "-p", dir}})
				return err
			}
			// Test homes are not below a permitted directory; the transport is what is tested here.
			mkdir := func(l hostexec.Lease, name string) (hostexec.Result, error) {
				return p.run(ctx, "fbsh", l, hostexec.Command{Argv: []string{"mkdir", "-p", target + name}})
			}
			if err := change(hostexec.Lease{}, "/var/lib/fabricbot/x"); !errors.Is(err, hostexec.ErrNeedsLease) {
				t.Errorf("no lease: %v", err)
			}
			if _, err := mkdir(older, "1"); err != nil {
				t.Fatal(err)
			}
			if _, err := mkdir(newer, "2"); err != nil {
				t.Fatal(err)
			}
			r, err := mkdir(older, "3")
			if !errors.Is(err, hostexec.ErrFenced) || r.Outcome != hostexec.Refused || !strings.Contains(err.Error(), "run-b") {
				t.Errorf("older change: %v", err)
			}
			if _, err := os.Stat(target + "3"); err == nil {
				t.Error("the fenced command ran")
			}
			if st, err := p.rawJob(ctx, "fbsh", older, "late", "", "true"); err != nil || st.State != hostexec.Fenced {
				t.Errorf("older job: %v %+v", err, st)
			}
			if st, err := p.PollJob(ctx, "fbsh", "late", 0); err != nil || st.State != hostexec.Absent {
				t.Errorf("fenced job: %v %+v", err, st)
			}
			if st, err := p.rawJob(ctx, "fbsh", newer, "on-time", "", "true"); err != nil || st.State == hostexec.Fenced {
				t.Errorf("same lease: %v %+v", err, st)
			}
			if _, err := p.CancelJob(ctx, "fbsh", hostexec.Lease{}, "on-time"); !errors.Is(err, hostexec.ErrNeedsLease) {
				t.Errorf("cancel without lease: %v", err)
			}
		})
	}
}

func TestJobIDsAndPathsAreChecked(t *testing.T) {
	p := &Pool{}
	for _, id := range []string{"", "../x", "a/b", "a b", ".hidden", "-x", "a\n", strings.Repeat("a", 129), "$(id)"} {
		if _, err := p.StartJob(t.Context(), "h", lease, hostexec.Job{ID: id, Command: hostexec.Command{Argv: []string{"hostname"}}}); hostexec.OutcomeOf(err) != hostexec.Refused {
			t.Errorf("start %q: %v", id, err)
		}
		if _, err := p.PollJob(t.Context(), "h", id, 0); hostexec.OutcomeOf(err) != hostexec.Refused {
			t.Errorf("poll %q: %v", id, err)
		}
	}
	if _, err := p.StartJob(t.Context(), "h", lease, hostexec.Job{ID: "a", Lock: "../x", Command: hostexec.Command{Argv: []string{"hostname"}}}); hostexec.OutcomeOf(err) != hostexec.Refused {
		t.Errorf("lock: %v", err)
	}
	if _, err := p.StartJob(t.Context(), "h", lease, hostexec.Job{ID: "a", Command: hostexec.Command{Argv: []string{"flint", "sg"}}}); !errors.Is(err, hostexec.ErrNotAllowed) {
		t.Errorf("forbidden job: %v", err)
	}
	if _, err := p.StartJob(t.Context(), "h", hostexec.Lease{}, hostexec.Job{ID: "a", Command: hostexec.Command{Argv: []string{"hostname"}}}); !errors.Is(err, hostexec.ErrNeedsLease) {
		t.Errorf("no lease: %v", err)
	}
}
