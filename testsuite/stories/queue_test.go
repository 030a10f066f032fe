package stories

import (
	"context"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// Two changes of one host: the second waits and says for whom, also over the
// death of everything, and is done after the first.
func TestSecondChangeWaitsForTheFirst(t *testing.T) {
	s := open(t)
	before := s.starts()
	first := s.ask("sm restart")
	s.approve(first)
	s.shows(first.ID, "restart the standby")
	s.typed(stage.UserA, "runs pause "+first.ID, "pauses")
	s.shows(first.ID, "*paused*")
	s.Cleanup(func() {
		if s.Failed() { // a paused run would hold up every later story
			_, _ = s.Type(context.WithoutCancel(s.ctx), stage.UserA, stage.Channel, "runs cancel "+first.ID)
		}
	})
	between := s.starts()
	second := s.ask("sm restart -hosts " + standby)
	s.approve(second)
	s.shows(second.ID, " is busy by run "+first.ID+" (sm restart)")
	s.crash()
	s.shows(second.ID, "is busy by run "+first.ID)
	time.Sleep(3 * time.Second)
	s.started(between, 0, 0)
	s.typed(stage.UserA, "runs resume "+first.ID, "goes on")
	s.ends(first, "done", "2 subnet managers restarted")
	s.ends(second, "done", "1 subnet manager restarted")
	s.started(before, 1, 2)
}
