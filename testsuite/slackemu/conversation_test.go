package slackemu

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

func TestSlashCommandIsAcknowledged(t *testing.T) {
	s := start(t, quick())
	b := connect(t, s)
	got, err := s.Slash("operator-a", "#fabric-ops", "/fabric sm status -v")
	if err != nil {
		t.Fatal(err)
	}
	if got.Outcome != Acked || got.Reply == nil || got.Reply.Text != "got sm status -v" || got.Reply.Ephemeral != "U07OPERA" {
		t.Errorf("result = %+v", got)
	}
	c := (<-b.seen).Data.(slack.SlashCommand)
	if c.Command != "/fabric" || c.UserName != "operator-a" || c.ChannelName != "fabric-ops" || c.TeamID != "T07FABRIC" {
		t.Errorf("command = %+v", c)
	}
	if len(s.Messages("fabric-ops")) != 0 {
		t.Error("an ephemeral reply became a channel message")
	}
	if len(s.Ephemerals("operator-b")) != 0 {
		t.Error("another user sees the ephemeral reply")
	}
}

func TestSlashVariants(t *testing.T) {
	o := quick()
	o.EscapeSlash = true
	s := start(t, o)
	connect(t, s)
	t.Run("timeout_is_shown_to_the_user", func(t *testing.T) {
		got, _ := s.Slash("operator-a", "fabric-ops", "/fabric silent")
		if got.Outcome != TimedOut || !got.Reply.System || !strings.Contains(got.Reply.Text, "operation_timeout") {
			t.Errorf("result = %+v", got)
		}
	})
	t.Run("in_channel", func(t *testing.T) {
		got, _ := s.Slash("operator-a", "fabric-ops", "/fabric public")
		list := s.Messages("fabric-ops")
		if got.Reply.Ephemeral != "" || len(list) != 2 || list[0].Text != "/fabric public" || list[1].Text != "for all" {
			t.Errorf("messages = %+v", list)
		}
	})
	t.Run("unknown_command_is_answered_by_slack", func(t *testing.T) {
		got, _ := s.Slash("operator-a", "fabric-ops", "/nonsense")
		if got.Reply == nil || !strings.Contains(got.Reply.Text, "not a valid command") {
			t.Errorf("result = %+v", got)
		}
	})
	t.Run("escaped_mentions", func(t *testing.T) {
		got, _ := s.Slash("operator-a", "random", "/fabric ask @viewer in #random")
		if got.Reply.Text != "got ask <@U07VIEWER|viewer> in <#C07RANDOM|random>" {
			t.Errorf("text = %q", got.Reply.Text)
		}
	})
	t.Run("private_channel_of_others", func(t *testing.T) {
		if _, err := s.Slash("viewer", "incident-room", "/fabric x"); err == nil {
			t.Error("a person typed into a channel that is closed to them")
		}
	})
	t.Run("foreign_team_in_shared_channel", func(t *testing.T) {
		if _, err := s.Slash("guest", "partner-shared", "/fabric x"); err != nil {
			t.Error(err)
		}
		if _, err := s.Slash("guest", "fabric-ops", "/fabric x"); err == nil {
			t.Error("a guest typed into a channel that is not shared")
		}
	})
}

func TestApprovalByClick(t *testing.T) {
	s := start(t, quick())
	connect(t, s)
	if _, err := s.Slash("operator-a", "fabric-ops", "/fabric approve"); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func(st State) bool { return len(st.Messages) == 1 })
	m := s.Messages("fabric-ops")[0]
	got, err := s.Click("operator-b", "fabric-ops", m.TS, "approve")
	if err != nil || got.Outcome != Acked || got.Confirm == nil {
		t.Fatalf("click = %+v, %v", got, err)
	}
	wait(t, s, func(st State) bool { return len(st.Messages[0].History) == 2 })
	m = s.Messages("fabric-ops")[0]
	if m.Text != "approved by <@U07OPERB>" || len(m.Blocks) != 0 || !m.Edited {
		t.Errorf("message = %+v", m)
	}
	if m.History[0].Via != "chat.postMessage" || len(m.History[0].Blocks) != 2 || m.History[1].Via != "chat.update" {
		t.Errorf("history = %+v", m.History)
	}
	if _, err := s.Click("operator-b", "fabric-ops", m.TS, "approve"); err == nil {
		t.Error("a button that is gone could be clicked")
	}
}

func TestModalRoundTrip(t *testing.T) {
	s := start(t, quick())
	connect(t, s)
	_, _ = s.Slash("operator-a", "fabric-ops", "/fabric approve")
	wait(t, s, func(st State) bool { return len(st.Messages) == 1 })
	if _, err := s.Click("operator-b", "fabric-ops", s.Messages("fabric-ops")[0].TS, "deny"); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func(st State) bool { return len(st.Views) == 1 })
	v := s.Views("operator-b")[0]

	got, err := s.Submit(v.ID, "operator-b", nil)
	if err != nil || got.Errors["reason"] == "" || got.Outcome != "" {
		t.Errorf("empty required input: %+v, %v", got, err)
	}
	got, _ = s.Submit(v.ID, "operator-b", map[string]any{"text": "bad"})
	if got.Errors["reason"] != "say more" || got.Closed {
		t.Errorf("errors of the app: %+v", got)
	}
	got, _ = s.Submit(v.ID, "operator-b", map[string]any{"reason": "wrongkey"})
	if got.Notice == "" || got.Closed {
		t.Errorf("errors that name no input: %+v", got)
	}
	got, _ = s.Submit(v.ID, "operator-b", map[string]any{"reason/text": "not now"})
	if !got.Closed || got.Outcome != Acked {
		t.Errorf("good answer: %+v", got)
	}
	if len(s.Views("operator-b")) != 0 {
		t.Error("modal still open")
	}
	if _, err := s.Submit(v.ID, "operator-b", nil); err == nil {
		t.Error("a closed modal was submitted")
	}
}

func TestEvents(t *testing.T) {
	s := start(t, quick())
	b := connect(t, s)
	ts, err := s.Say("operator-a", "fabric-ops", "", "@fabricbot status of <all> & more for @operator-b, @fabric-approvers")
	if err != nil {
		t.Fatal(err)
	}
	ev := (<-b.seen).Data.(slackevents.EventsAPIEvent)
	mention := ev.InnerEvent.Data.(*slackevents.AppMentionEvent)
	if mention.Text != "<@U07FABBOT> status of &lt;all&gt; &amp; more for <@U07OPERB>, <!subteam^S07APPROVE>" || mention.TimeStamp != ts {
		t.Errorf("mention = %+v", mention)
	}
	wait(t, s, func(st State) bool { return len(st.Messages) == 2 && st.Messages[1].ThreadTS == ts })

	if _, err := s.Say("operator-a", "@fabricbot", "", "hello"); err != nil {
		t.Fatal(err)
	}
	dm := (<-b.seen).Data.(slackevents.EventsAPIEvent).InnerEvent.Data.(*slackevents.MessageEvent)
	if dm.ChannelType != "im" || dm.Text != "hello" {
		t.Errorf("dm = %+v", dm)
	}
	if _, err := s.Say("operator-a", "random", "", "@fabricbot are you there"); err != nil {
		t.Fatal(err)
	}
	if err := s.OpenHome("viewer"); err != nil {
		t.Fatal(err)
	}
	if _, ok := (<-b.seen).Data.(slackevents.EventsAPIEvent).InnerEvent.Data.(*slackevents.AppHomeOpenedEvent); !ok {
		t.Error("the bot heard of a channel it is not in")
	}
	wait(t, s, func(st State) bool { return len(st.Homes) == 1 })
	if v, ok := s.Home("viewer"); !ok || v.Type != "home" {
		t.Errorf("home = %+v", v)
	}
}

func TestEphemeralMessageIsUpdatedThroughResponseURL(t *testing.T) {
	s := start(t, quick())
	b := connect(t, s)
	_, err := b.api.PostEphemeral("C07FABOPS", "U07OPERA", slack.MsgOptionText("x", false), slack.MsgOptionBlocks(approveBlocks()...))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Ephemerals("operator-a")[0]
	if _, err := s.Click("operator-b", "fabric-ops", m.TS, "other"); err == nil {
		t.Error("another user clicked an ephemeral message")
	}
	if _, err := s.Click("operator-a", "fabric-ops", m.TS, "other"); err == nil {
		t.Error("clicked a button which does not exist")
	}
	if _, err := s.Click("operator-a", "fabric-ops", m.TS, "deny"); err != nil {
		t.Fatal(err)
	}
	c := (<-b.seen).Data.(slack.InteractionCallback)
	if !c.Container.IsEphemeral || c.Message.Timestamp != "" {
		t.Errorf("container = %+v, message ts %q", c.Container, c.Message.Timestamp)
	}
	if _, _, err := b.api.PostMessage("C07FABOPS", slack.MsgOptionText("done", false), slack.MsgOptionReplaceOriginal(c.ResponseURL)); err != nil {
		t.Fatal(err)
	}
	if got := s.Ephemerals("operator-a")[0]; got.Text != "done" || len(got.Blocks) != 0 {
		t.Errorf("ephemeral = %+v", got)
	}
	if _, _, err := b.api.PostMessage("C07FABOPS", slack.MsgOptionDeleteOriginal(c.ResponseURL)); err != nil {
		t.Fatal(err)
	}
	if got := s.Ephemerals("operator-a")[0]; !got.Deleted {
		t.Error("not deleted")
	}
}
