package slackemu

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// testBot is a small bot on the real client: it answers /fabric commands and
// clicks in ways the tests steer by the command's text.
type testBot struct {
	api    *slack.Client
	socket *socketmode.Client
	seen   chan socketmode.Event // every request, after it was handled
}

func quick() Options {
	return Options{Timing: Timing{
		AckDeadline: 400 * time.Millisecond, PingEvery: 200 * time.Millisecond, FileProcessing: time.Millisecond,
		EventRetry: [3]time.Duration{time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond},
	}}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func client(s *Server, more ...slack.Option) *slack.Client {
	more = append([]slack.Option{
		slack.OptionAPIURL(s.APIURL()), slack.OptionAppLevelToken(s.AppToken()),
		slack.OptionHTTPClient(&http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}),
	}, more...)
	return slack.New(s.BotToken(), more...)
}

func connect(t *testing.T, s *Server) *testBot {
	t.Helper()
	b := &testBot{api: client(s), seen: make(chan socketmode.Event, 100)}
	b.socket = socketmode.New(b.api)
	before := s.State().Sockets
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.socket.RunContext(ctx) }()
	go func() {
		for {
			select {
			case ev := <-b.socket.Events:
				b.handle(ctx, ev)
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	wait(t, s, func(st State) bool { return st.Sockets > before })
	return b
}

func (b *testBot) handle(ctx context.Context, ev socketmode.Event) {
	if ev.Request == nil || ev.Request.EnvelopeID == "" { // hello and the client's own events
		return
	}
	switch data := ev.Data.(type) {
	case slack.SlashCommand:
		b.slash(ctx, ev, data)
	case slack.InteractionCallback:
		b.interact(ctx, ev, data)
	case slackevents.EventsAPIEvent:
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, nil)
		if e, ok := data.InnerEvent.Data.(*slackevents.AppMentionEvent); ok {
			_, _, _ = b.api.PostMessage(e.Channel, slack.MsgOptionText("heard you", false), slack.MsgOptionTS(e.TimeStamp))
		}
		if e, ok := data.InnerEvent.Data.(*slackevents.AppHomeOpenedEvent); ok {
			_, _ = b.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: e.User, View: slack.HomeTabViewRequest{
				Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewDividerBlock()}},
			}})
		}
	}
	b.seen <- ev
}

func (b *testBot) slash(ctx context.Context, ev socketmode.Event, c slack.SlashCommand) {
	switch {
	case c.Text == "silent":
		return
	case c.Text == "public":
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, map[string]any{"response_type": "in_channel", "text": "for all"})
	case c.Text == "modal":
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, nil)
		_, _ = b.api.OpenView(c.TriggerID, askReason())
	case strings.HasPrefix(c.Text, "approve"):
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, map[string]any{"text": "started"})
		_, _, _ = b.api.PostMessage(c.ChannelID, slack.MsgOptionText("approve?", false), slack.MsgOptionBlocks(approveBlocks()...))
	default:
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, map[string]any{"text": "got " + c.Text})
	}
}

func (b *testBot) interact(ctx context.Context, ev socketmode.Event, c slack.InteractionCallback) {
	if c.Type == slack.InteractionTypeViewSubmission {
		reason := c.View.State.Values["reason"]["text"].Value
		if reason == "bad" {
			_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, slack.NewErrorsViewSubmissionResponse(map[string]string{"reason": "say more"}))
			return
		}
		if reason == "wrongkey" {
			_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, slack.NewErrorsViewSubmissionResponse(map[string]string{"nowhere": "x"}))
			return
		}
		_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, nil)
		return
	}
	_ = b.socket.AckCtx(ctx, ev.Request.EnvelopeID, nil)
	for _, a := range c.ActionCallback.BlockActions {
		switch a.ActionID {
		case "approve":
			_, _, _, _ = b.api.UpdateMessage(c.Channel.ID, c.Message.Timestamp, slack.MsgOptionText("approved by <@"+c.User.ID+">", false))
		case "deny":
			_, _ = b.api.OpenView(c.TriggerID, askReason())
		}
	}
}

func plainText(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}

func approveBlocks() []slack.Block {
	return []slack.Block{
		slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, "*drain* of 12 hosts", false, false), nil, nil),
		slack.NewActionBlock("gate",
			slack.NewButtonBlockElement("approve", "run1", plainText("Approve drain")).WithStyle(slack.StylePrimary).
				WithConfirm(slack.NewConfirmationBlockObject(plainText("Sure?"), plainText("12 hosts"), plainText("Yes"), plainText("No"))),
			slack.NewButtonBlockElement("deny", "run1", plainText("Deny")).WithStyle(slack.StyleDanger)),
	}
}

func askReason() slack.ModalViewRequest {
	in := slack.NewInputBlock("reason", plainText("Reason"), nil, slack.NewPlainTextInputBlockElement(nil, "text"))
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plainText("Deny"), Submit: plainText("Send"), CallbackID: "deny",
		Blocks: slack.Blocks{BlockSet: []slack.Block{in}},
	}
}

// wait fails the test when the workspace does not reach a state.
func wait(t *testing.T, s *Server, ok func(State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	if err := s.Wait(ctx, ok); err != nil {
		st := s.State()
		t.Fatalf("%v\ncalls: %+v\ndeliveries: %+v\nwarnings: %v", err, st.Calls, st.Deliveries, st.Warnings)
	}
}

// code gives the Slack error of a call with its details, or the transport's.
func code(err error) string {
	if err == nil {
		return ""
	}
	var refusal slack.SlackErrorResponse
	if errors.As(err, &refusal) && len(refusal.ResponseMetadata.Messages) > 0 {
		return err.Error() + ": " + strings.Join(refusal.ResponseMetadata.Messages, "; ")
	}
	return err.Error()
}
