package stories

import (
	"strings"
	"sync"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

func TestWhoMayApprove(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	replies := len(r.Replies)
	s.has("the requester's own click", s.press(r, stage.UserA, stage.Approve), "You asked for run", "somebody else has to approve")
	s.has("the viewer's click", s.press(r, stage.Viewer, stage.Approve), "You are not among those who may decide")
	s.has("the outsider's click", s.press(r, "U07ADMIN", stage.Approve), "You are not among those who may decide")
	s.typed(stage.UserA, "approve "+r.ID, "somebody else has to approve")
	s.typed(stage.Viewer, "approve "+r.ID, "not among those who may decide")
	s.typed(stage.Viewer, "runs cancel "+r.ID, "No rule allows")
	r = s.buttons(r.ID)
	if len(r.Replies) > replies+1 { // the question to the approvers may just have come
		s.Errorf("refused clicks left replies in the thread: %d, were %d", len(r.Replies), replies)
	}
	s.has("the reply", s.press(r, stage.UserA, stage.Cancel), "stops at its next safe point")
	s.ends(r, "cancelled", "cancelled by operator-a")
	s.started(before, 0, 0)
	if n := s.count(r.ID, "approved"); n != 0 {
		s.Errorf("%d approvals are recorded", n)
	}
}

func placesAndStrangers(t *testing.T) {
	s := open(t)
	s.quiet(func() {
		s.typed(stage.Viewer, "sm restart", "No rule allows sm restart")
		s.typedIn(stage.Guest, stage.Shared, "sm status", "own workspace only")
		s.typedIn(stage.UserA, stage.Shared, "sm status", "People outside of this workspace can read this channel")
		s.typedIn(stage.UserA, stage.Elsewhere, "sm status", "I am not in this channel", "/invite @fabricbot")
		s.typedIn(stage.UserA, "C07SECRET", "sm status", "does not listen in this channel")
	})
	if _, err := s.Slack.Slash(stage.Guest, stage.Channel, "/fabric sm status"); err == nil {
		s.Error("a guest typed into a channel that is not shared")
	}
	for _, channel := range []string{stage.Elsewhere, stage.Shared, "C07SECRET"} {
		if n := len(s.Slack.Messages(channel)); n != 0 {
			s.Errorf("%d messages stand in %s", n, channel)
		}
	}
}

// One approver clicks twice and another once, all at the same moment: one
// approval counts, and the late ones are told whose.
func TestApproversClickAtOnce(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart -hosts " + standby)
	id := buttonOf(s, r, stage.Approve)
	from := map[string]int{stage.UserB: len(s.Slack.Ephemerals(stage.UserB)), userC: len(s.Slack.Ephemerals(userC))}
	var all sync.WaitGroup
	for _, user := range []string{stage.UserB, stage.UserB, userC} {
		// A click may come after the buttons are gone; Slack refuses that one.
		all.Go(func() { _, _ = s.Slack.Click(user, stage.Channel, r.Message.TS, id) })
	}
	all.Wait()
	r = s.ends(r, "done", "1 subnet manager restarted", "the master stayed the same")
	s.started(before, 0, 1)
	if n := s.count(r.ID, "approved"); n != 1 {
		s.Errorf("%d approvals are recorded", n)
	}
	for user, n := range from {
		for _, m := range s.Slack.Ephemerals(user)[n:] {
			s.Logf("%s is told: %s", user, s.Plain(m))
			s.has("what the late one is told", s.Plain(m), short(r.ID), "already")
		}
	}
}

func TestDeniedWithReason(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	if _, err := s.Slack.Click(stage.UserB, stage.Channel, r.Message.TS, buttonOf(s, r, stage.Deny)); err != nil {
		s.Fatal(err)
	}
	s.must(s.Slack.Wait(s.ctx, func(slackemu.State) bool { return len(s.Slack.Views(stage.UserB)) > 0 }))
	views := s.Slack.Views(stage.UserB)
	form := views[len(views)-1]
	if res, err := s.Slack.Submit(form.ID, stage.UserB, map[string]any{"answer": "not during the <review> & *beam time*"}); err != nil || !res.Closed {
		s.Fatalf("the form did not close: %+v, %v", res, err)
	}
	r = s.ends(r, "denied", "operator-b", "not during the <review> & beam time")
	s.has("the message as Slack gets it", r.Message.Text+stage.Shown(r.Message), `\u0026lt;review\u0026gt; \u0026amp; *beam time*`)
	if len(stage.Buttons(r.Message)) > 1 {
		s.Errorf("buttons are left: %v", stage.Buttons(r.Message))
	}
	s.started(before, 0, 0)
	if n := s.count(r.ID, "denied"); n != 1 {
		s.Errorf("the denial is recorded %d times", n)
	}
	s.has("an approval too late", typedAfter(s, r), "does not wait for approval any more")
}

// typedAfter is what an approver is told who approves a run that has ended.
func typedAfter(s *story, r stage.Run) string {
	s.Helper()
	return s.typed(userC, "approve "+r.ID)
}

// buttonOf is the action id of a button of a run's message.
func buttonOf(s *story, r stage.Run, button string) string {
	s.Helper()
	for _, id := range stage.Buttons(r.Message) {
		if strings.Contains(strings.ToLower(id), button) {
			return id
		}
	}
	s.Fatalf("no button %s among %v", button, stage.Buttons(r.Message))
	return ""
}

func short(run string) string { return run[:8] }
