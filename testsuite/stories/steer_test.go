package stories

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

func TestFreezeStopsChangesOnly(t *testing.T) {
	s := open(t)
	before := s.starts()
	waiting := s.ask("sm restart")
	s.typed(stage.UserA, "freeze beam time until Friday", "The site is frozen")
	thawed := false
	s.Cleanup(func() {
		if !thawed {
			_, _ = s.Type(s.ctx, stage.UserA, stage.Channel, "unfreeze")
		}
	})
	s.typed(stage.UserB, "freeze once more", "already frozen")
	// What was asked for before the freeze must not begin in it.
	s.approve(waiting)
	s.ends(waiting, "failed", "the site is frozen", "beam time until Friday")
	s.whole("sm restart -hosts "+standby, "failed", "the site is frozen", "operator-a froze it", "beam time until Friday")
	s.whole("sm status", "done", "is master")
	s.started(before, 0, 0)
	s.typed(stage.UserA, "unfreeze", "Changes are allowed again")
	thawed = true
	r := s.ask("sm restart -hosts " + standby)
	s.approve(r)
	s.ends(r, "done")
	s.started(before, 0, 1)
	if s.count("", "freeze") != 1 || s.count("", "unfreeze") != 1 {
		s.Errorf("freeze and unfreeze are recorded %d and %d times", s.count("", "freeze"), s.count("", "unfreeze"))
	}
}

func TestCancelledInTheMiddle(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	s.approve(r)
	s.shows(r.ID, "restart the standby")
	s.typed(stage.UserA, "runs cancel "+r.ID+" wrong cluster", "stops at its next safe point")
	s.ends(r, "cancelled", "cancelled by operator-a: wrong cluster")
	now := s.starts()
	s.Logf("%s started %d times, %s %d times", master, now[master]-before[master], standby, now[standby]-before[standby])
	if now[master]-before[master] > 1 || now[standby]-before[standby] > 1 {
		s.Error("a subnet manager was started more than once")
	}
	s.well()
	s.typed(stage.UserA, "runs cancel "+r.ID, "ended")
}

func TestPausedAndResumed(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	s.approve(r)
	s.shows(r.ID, "restart the standby")
	s.typed(stage.UserA, "runs pause "+r.ID+" coffee", "pauses at its next safe point")
	r = s.shows(r.ID, "*paused*")
	held := s.starts()
	time.Sleep(4 * time.Second)
	s.started(held, 0, 0)
	s.typed(stage.UserA, "runs resume "+r.ID, "goes on")
	s.ends(r, "done", "2 subnet managers restarted")
	s.started(before, 1, 1)
	s.typed(stage.UserA, "runs resume "+r.ID, "ended")
}

// A command that Slack delivers twice is one run.
func redeliveredCommandIsOneRun(t *testing.T) {
	s := open(t)
	before, commits := s.runs(), s.commits()
	s.must(s.Slack.Inject(slackemu.Fault{Kind: slackemu.FaultDuplicate}))
	s.whole("topology backup", "done", "stored")
	if n := s.runs() - before; n != 1 {
		s.Errorf("the command made %d runs", n)
	}
	if n := s.commits() - commits; n != 1 {
		s.Errorf("the command made %d commits", n)
	}
	twice := 0
	for _, d := range s.Slack.Deliveries() {
		if d.Duplicate && d.Type == "slash_commands" {
			twice++
		}
	}
	if twice == 0 {
		s.Error("nothing was delivered twice")
	}
}

func sameCommandOfTwoPeople(t *testing.T) {
	s := open(t)
	before, heardA, heardB := s.runs(), len(s.Slack.Ephemerals(stage.UserA)), len(s.Slack.Ephemerals(stage.UserB))
	var both sync.WaitGroup
	for _, user := range []string{stage.UserA, stage.UserB} {
		both.Go(func() {
			if _, err := s.Slack.Slash(user, stage.Channel, "/fabric sm status"); err != nil {
				s.Error(err)
			}
		})
	}
	both.Wait()
	s.eventually("one of the two is told", 15*time.Second, func() bool {
		return s.toldOf(stage.UserA, heardA, "already running as run")+s.toldOf(stage.UserB, heardB, "already running as run") == 1
	})
	s.eventually("there is a run", 15*time.Second, func() bool { return s.runs() > before })
	all := s.Slack.Messages(stage.Channel)
	for i := len(all) - 1; i >= 0; i-- {
		if id := runID(all[i]); id != "" {
			s.ends(stage.Run{ID: id}, "done", "is master")
			break
		}
	}
	if n := s.runs() - before; n != 1 {
		s.Errorf("two people made %d runs", n)
	}
}

// toldOf counts what a person was privately told since, with these words.
func (s *story) toldOf(user string, from int, words string) int {
	n := 0
	for _, m := range s.Slack.Ephemerals(user)[from:] {
		if strings.Contains(s.Plain(m), words) {
			n++
		}
	}
	return n
}

// runID is the run that a message is about.
func runID(m slackemu.Message) string {
	meta, _ := m.Metadata.(map[string]any)
	payload, _ := meta["event_payload"].(map[string]any)
	id, _ := payload["run"].(string)
	return id
}

func runsShowAndList(t *testing.T) {
	s := open(t)
	r := s.whole("sm status", "done", "is master")
	s.typed(stage.Viewer, "runs show "+short(r.ID), short(r.ID), "sm status", "is master", "ask every subnet manager")
	s.typed(stage.Viewer, "runs list", short(r.ID), "sm status", "done", "operator-a")
	if running := s.typed(stage.Viewer, "runs list -state running"); strings.Contains(running, short(r.ID)) {
		s.Errorf("a run that has ended is listed as running: %s", running)
	}
	s.typed(stage.Viewer, "runs show ffffffffff", "no run")
	s.typed(stage.Viewer, "runs show nonsense", "is not a run's id")
	if entries := s.recorded(r.ID); len(entries) < 2 || entries[0].Event != "requested" {
		s.Errorf("the audit file says %v", fmt.Sprint(entries))
	}
}
