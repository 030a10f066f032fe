package sshexec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// tree starts children and a grandchild whose parent goes away, all with the
// tag on their command line; stubborn adds one that ignores TERM.
func tree(tag string, stubborn bool) []string {
	trap := ""
	if stubborn {
		trap = `trap "" TERM; `
	}
	return []string{"/bin/sh", "-c", `
		sleep 1000.` + tag + ` &
		( sleep 1001.` + tag + ` & ) &
		( ` + trap + `sleep 1002.` + tag + ` ) &
		echo up
		wait
		sleep 1003.` + tag}
}

// alive lists the processes with the tag.
func alive(t *testing.T, tag string) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(line), "sleep\x00") && strings.Contains(string(line), "."+tag) {
			list = append(list, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 400 {
		if ok() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("waited for %s in vain", what)
}

func TestCancelAndTimeoutKillTheRemoteTree(t *testing.T) {
	for i, kind := range []string{"openssh", "dropbear"} {
		t.Run(kind, func(t *testing.T) {
			p := startServer(t, kind).pool(t, func(o *Options) { o.PerHost = 1 })
			for j, user := range []string{"fbsh", "fbfish", "fbcsh", "fbsudo", "root"} {
				t.Run(user, func(t *testing.T) {
					t.Parallel() // most of it is waiting for what ignores TERM
					killThrice(t, p, user, fmt.Sprintf("%d%d%d", os.Getpid(), i, j))
				})
			}
		})
	}
}

// killThrice ends the same tree by cancel, by time-out and for being idle.
func killThrice(t *testing.T, p *Pool, user, tag string) {
	cmd := hostexec.Command{Argv: tree(tag, true), Sudo: user == "fbsudo"}
	ctx, cancel := context.WithCancel(deadline(t))
	go func() {
		for len(alive(t, tag)) < 3 && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
	}()
	r, err := p.raw(ctx, user, cmd)
	if !errors.Is(err, context.Canceled) || r.Step != "cancel" || r.Outcome != hostexec.Failed || r.Remains || string(r.Stdout) != "up\n" {
		t.Errorf("cancel: %v, %+v", err, r)
	}
	if left := alive(t, tag); len(left) > 0 {
		t.Errorf("after cancel there still run %q", left)
	}
	cmd.Argv = tree(tag, false)
	cmd.Timeout = 400 * time.Millisecond
	if r, err = p.raw(deadline(t), user, cmd); hostexec.OutcomeOf(err) != hostexec.TimedOut || r.Step != "command" || r.Remains {
		t.Errorf("time-out: %v", err)
	}
	cmd.Timeout, cmd.Idle = time.Minute, 300*time.Millisecond
	if r, err = p.raw(deadline(t), user, cmd); hostexec.OutcomeOf(err) != hostexec.TimedOut || r.Step != "idle" || r.Remains {
		t.Errorf("idle: %v", err)
	}
	if left := alive(t, tag); len(left) > 0 {
		t.Errorf("after time-outs there still run %q", left)
	}
	// The connection is as good as before.
	if r, err := p.Look(deadline(t), user, hostexec.Command{Argv: []string{"hostname"}}); err != nil || r.Outcome != hostexec.OK {
		t.Errorf("afterwards: %v", err)
	}
}

// A caller's deadline kills as well and is told apart from the command's own time-out.
func TestDeadlineOfTheCaller(t *testing.T) {
	p := startServer(t, "openssh").pool(t, nil)
	if _, err := p.Look(deadline(t), "fbsh", hostexec.Command{Argv: []string{"hostname"}}); err != nil {
		t.Fatal(err)
	}
	tag := fmt.Sprintf("%d77", os.Getpid())
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	r, err := p.raw(ctx, "fbsh", hostexec.Command{Argv: tree(tag, false)})
	if hostexec.OutcomeOf(err) != hostexec.TimedOut || r.Step != "deadline" || r.Remains || len(alive(t, tag)) > 0 {
		t.Errorf("%v, %+v, %q", err, r, alive(t, tag))
	}
}

// An active program is not idle.
func TestIdleCountsFromTheLastOutput(t *testing.T) {
	p := startServer(t, "openssh").pool(t, nil)
	r, err := p.raw(deadline(t), "fbsh", hostexec.Command{Argv: []string{"/bin/sh", "-c", "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.3; done"}, Idle: 1500 * time.Millisecond})
	if err != nil || r.Outcome != hostexec.OK {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestSudo(t *testing.T) {
	s := startServer(t, "openssh")
	if _, err := os.Stat("/usr/bin/sudo"); err != nil {
		t.Skip("sudo is not installed")
	}
	p := s.pool(t, nil)
	r, err := p.Look(deadline(t), "fbsh", hostexec.Command{Argv: []string{"whoami"}, Sudo: true})
	if hostexec.OutcomeOf(err) != hostexec.Refused || r.Step != "sudo" || !strings.Contains(r.Detail, "password is required") {
		t.Errorf("without right: %v, %+v", err, r)
	}
	for user, want := range map[string]string{"fbsudo": "root\n", "root": "root\n"} {
		if r, err = p.Look(deadline(t), user, hostexec.Command{Argv: []string{"whoami"}, Sudo: true}); err != nil || string(r.Stdout) != want {
			t.Errorf("%s: %q, %v", user, r.Stdout, err)
		}
	}
	// A program's own failure under sudo stays a failure.
	if r, err = p.Look(deadline(t), "fbsudo", hostexec.Command{Argv: []string{"ls", "/etc/opensm/none"}, Sudo: true}); err != nil || r.Outcome != hostexec.Failed {
		t.Errorf("own failure: %v, %+v", err, r)
	}
}
