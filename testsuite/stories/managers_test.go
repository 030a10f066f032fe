package stories

import (
	"strings"
	"testing"
	"time"
)

func TestNoSubnetManager(t *testing.T) {
	s := open(t)
	s.fault("sm-kill", standby)
	s.fault("sm-kill", master)
	before := s.starts()
	s.whole("sm status", "done", "no master answers", "no subnet manager")
	s.whole("sm restart", "failed", "no subnet manager answers as master")
	s.started(before, 0, 0)
}

func TestTwoMasters(t *testing.T) {
	s := open(t)
	s.fault("two-masters")
	s.eventually("there are two masters", time.Minute, func() bool {
		return strings.Contains(s.manager(master), "SMINFO_MASTER") && strings.Contains(s.manager(standby), "SMINFO_MASTER")
	})
	before := s.starts()
	s.whole("sm status", "done", "2 masters", "two masters", master, standby)
	s.whole("sm restart", "failed", "there are 2 masters", "stop all but one")
	s.started(before, 0, 0)
}

// A standby that dies after its start is not taken for one that stands by: the
// restart ends there, and the master never stops.
func TestStandbyDiesAfterItsStart(t *testing.T) {
	s := open(t)
	before := s.starts()
	s.fault("sm-dies", standby)
	r := s.ask("sm restart")
	s.approve(r)
	s.ends(r, "failed", standby, "the master was not touched")
	s.started(before, 0, 1)
	s.has("the master", s.manager(master), "SMINFO_MASTER")
}

func TestSMHostRebootsDuringRestart(t *testing.T) {
	s := open(t)
	r := s.ask("sm restart")
	s.approve(r)
	before := s.starts()
	s.eventually("the standby is being restarted", time.Minute, func() bool { return s.starts()[standby] > before[standby] })
	_, err := s.Lab.Fault(s.ctx, "reboot", standby)
	s.must(err)
	r, state, err := s.AwaitEnd(s.ctx, r.ID)
	s.must(err)
	text := s.Plain(r.Message)
	s.Logf("it ended %s:\n%s", state, text)
	s.saidOnce(r)
	now := s.starts()
	switch state {
	case "done": // it came back in time to stand by
		s.has("the message", text, "2 subnet managers restarted")
	case "failed":
		s.has("the message", text, standby, "the master was not touched")
	default:
		s.Errorf("it ended %q", state)
	}
	if n := now[standby] - before[standby]; n > 2 { // by us and by the boot
		s.Errorf("the subnet manager of %s was started %d times", standby, n)
	}
	if n := now[master] - before[master]; n > 1 {
		s.Errorf("the subnet manager of %s was started %d times", master, n)
	}
	s.well()
}

func TestDiskFullOnSMHost(t *testing.T) {
	s := open(t)
	before := s.starts()
	s.fault("disk-full", standby)
	r := s.ask("sm restart")
	s.approve(r)
	s.ends(r, "failed", standby, "cannot be written", "space left there")
	s.started(before, 0, 0)
	s.heal("disk-full", standby)
	r = s.ask("sm restart -hosts " + standby)
	s.approve(r)
	s.ends(r, "done")
	s.started(before, 0, 1)
}
