package stories

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

func (s *story) archive() string { return filepath.Join(s.Dir, "data", "archive") }

func TestArchiveReadOnly(t *testing.T) {
	s := open(t)
	commits := s.commits()
	dir := s.archive()
	s.must(unix.Mount(dir, dir, "", unix.MS_BIND, ""))
	s.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	s.must(unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	r := s.whole("topology backup", "failed", "the archive cannot be written", "read-only")
	s.noSteps(r)
	s.must(unix.Unmount(dir, unix.MNT_DETACH))
	s.whole("topology backup", "done", "stored")
	if n := s.commits() - commits; n != 1 {
		s.Errorf("there are %d more commits, want 1", n)
	}
}

func TestArchiveFull(t *testing.T) {
	s := open(t)
	dir, small := s.archive(), s.TempDir()
	s.must(unix.Mount("archive", small, "tmpfs", 0, "size=256m"))
	s.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	if out, err := exec.CommandContext(s.ctx, "cp", "-a", dir+"/.", small).CombinedOutput(); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	fill := filepath.Join(small, "fill")
	f, err := os.Create(fill)
	s.must(err)
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	s.must(f.Close())
	if !errors.Is(err, unix.ENOSPC) {
		s.Fatal(err)
	}
	s.must(unix.Mount(small, dir, "", unix.MS_BIND, ""))
	s.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	r := s.whole("topology backup", "failed", "the archive cannot be written", "free space first")
	s.noSteps(r)
}

// noSteps demands that a run did nothing before it was refused.
func (s *story) noSteps(r stage.Run) {
	s.Helper()
	if shown := s.typed(stage.UserA, "runs show "+r.ID); strings.Contains(shown, "discover the fabric") {
		s.Errorf("work began before the refusal: %s", shown)
	}
}

// another runs a second fabricd on the stage's configuration, and returns what
// it says and how it ends.
func (s *story) another(within time.Duration) (said string, code int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, fabricd, "-config", s.Config())
	cmd.Env = append(os.Environ(), "FABRICBOT_SLACK_BOT_TOKEN="+s.Slack.BotToken(), "FABRICBOT_SLACK_APP_TOKEN="+s.Slack.AppToken())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	s.Logf("it says:\n%s(%v)", out.String(), err)
	if ctx.Err() != nil {
		s.Fatalf("it does not end within %s", within)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestSecondFabricd(t *testing.T) {
	s := open(t)
	said, code := s.another(20 * time.Second)
	if code != 1 {
		s.Errorf("it ends with status %d", code)
	}
	s.has("the second one", said, "is in use by process", "stop that one first")
	s.whole("sm status", "done", "is master")
}

func TestDatabaseLocked(t *testing.T) {
	s := open(t)
	s.StopDaemon()
	s.Cleanup(func() {
		select {
		case <-s.Ended():
			s.restart()
		default:
		}
	})
	f, err := os.OpenFile(filepath.Join(s.Dir, "data", "temporal", "engine.sqlite"), os.O_RDWR, 0)
	s.must(err)
	defer f.Close()
	// What SQLite takes to write: its pending byte, and the 511 after it
	// (sqlite.org/c3ref/c_lock... os.h: PENDING_BYTE 0x40000000).
	s.must(unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: 0x40000000, Len: 512}))
	said, code := s.another(time.Minute)
	if code != 1 {
		s.Errorf("it ends with status %d", code)
	}
	s.has("fabricd", said, "locked")
}

// Slack is away while the managers are restarted: the work goes on, and the
// end is told once when Slack is back.
func TestSlackAwayInTheMiddle(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	s.approve(r)
	away := 25 * time.Second
	s.must(s.Slack.Inject(slackemu.Fault{Kind: slackemu.FaultRefuse, Duration: away}))
	s.must(s.Slack.Inject(slackemu.Fault{Kind: slackemu.FaultSocketKill}))
	back := time.Now().Add(away)
	s.eventually("the managers are restarted meanwhile", away, func() bool {
		now := s.starts()
		return now[master] > before[master] && now[standby] > before[standby]
	})
	s.Logf("done %s before Slack came back", time.Until(back).Round(time.Second))
	s.ends(r, "done", "2 subnet managers restarted")
	s.started(before, 1, 1)
	s.must(s.Slack.Wait(s.ctx, func(st slackemu.State) bool { return st.Sockets > 0 }))
	s.typed(stage.UserA, "runs show "+r.ID, "done")
}

func TestTokenRevoked(t *testing.T) {
	s := open(t)
	s.Cleanup(func() {
		s.Slack.ClearFaults()
		select {
		case <-s.Ended():
			s.restart()
		default:
		}
	})
	s.must(s.Slack.Inject(slackemu.Fault{Kind: slackemu.FaultTokenRevoked}))
	s.must(s.Slack.Inject(slackemu.Fault{Kind: slackemu.FaultDisconnect}))
	select {
	case <-s.Ended():
	case <-time.After(90 * time.Second):
		s.Fatal("fabricd lives on without a token")
	}
	log, err := os.ReadFile(s.DaemonLog())
	s.must(err)
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	last := lines[len(lines)-1]
	s.Logf("its last words: %s", last)
	s.has("its last words", last, "slack refuses the bot's tokens", "token_revoked")
}
