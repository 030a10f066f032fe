package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// Buttons of the live message.
const (
	Approve = "approve"
	Deny    = "deny"
	Cancel  = "cancel"
)

// Run is a run's live message as people see it.
type Run struct {
	ID      string
	Message slackemu.Message
	// Replies are the messages in its thread.
	Replies []slackemu.Message
}

// Text is everything the message shows, as one text.
func (r Run) Text() string { return Shown(r.Message) }

// Shown is everything a message shows, as one text.
func Shown(m slackemu.Message) string {
	b, err := json.Marshal(m.Version)
	if err != nil {
		return m.Text
	}
	return string(b)
}

// checking is how the acknowledgement ends, which a real answer follows.
const checking = "checking …"

// Type types a slash command and returns the private answer that follows the
// acknowledgement; an error when none comes within the time.
func (s *Stage) Type(ctx context.Context, user, channel, text string) (answer string, err error) {
	before := len(s.Slack.Ephemerals(user))
	res, err := s.Slack.Slash(user, channel, "/fabric "+text)
	if err != nil {
		return "", err
	}
	if res.Reply != nil && res.Reply.System {
		return "", fmt.Errorf("the answer came from Slack itself: %s", Shown(*res.Reply))
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.Slack.Wait(ctx, func(slackemu.State) bool {
		all := s.Slack.Ephemerals(user)
		for _, m := range all[min(before, len(all)):] {
			if text := s.Plain(m); !strings.Contains(text, checking) {
				answer = text
				return true
			}
		}
		return false
	}); err != nil {
		return "", fmt.Errorf("%q got no private answer", text)
	}
	return answer, nil
}

// Start types a command that starts a run and returns it once its message
// stands in the channel.
func (s *Stage) Start(ctx context.Context, user, text string) (Run, error) {
	known := map[string]bool{}
	for _, m := range s.top() {
		known[m.TS] = true
	}
	res, err := s.Slack.Slash(user, Channel, "/fabric "+text)
	if err != nil {
		return Run{}, err
	}
	if res.Reply != nil && res.Reply.System {
		return Run{}, fmt.Errorf("the answer came from Slack itself: %s", Shown(*res.Reply))
	}
	var found *slackemu.Message
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.Slack.Wait(wait, func(slackemu.State) bool {
		for _, m := range s.top() {
			if !known[m.TS] && runOf(m) != "" {
				found = &m
				return true
			}
		}
		return false
	}); err != nil {
		return Run{}, fmt.Errorf("no message of %q in the channel; the private answers were %q", text, s.privately(user))
	}
	return s.Run(runOf(*found))
}

func (s *Stage) privately(user string) []string {
	var all []string
	for _, m := range s.Slack.Ephemerals(user) {
		all = append(all, m.Text)
	}
	return all
}

// top lists the messages of the channel that stand in no thread.
func (s *Stage) top() []slackemu.Message {
	var top []slackemu.Message
	for _, m := range s.Slack.Messages(Channel) {
		if (m.ThreadTS == "" || m.ThreadTS == m.TS) && !m.Deleted {
			top = append(top, m)
		}
	}
	return top
}

// runOf reads the run's id from a message's metadata.
func runOf(m slackemu.Message) string {
	b, err := json.Marshal(m.Metadata)
	if err != nil {
		return ""
	}
	var meta struct {
		Payload struct {
			Run string `json:"run"`
			Key string `json:"key"`
		} `json:"event_payload"`
	}
	if json.Unmarshal(b, &meta) != nil {
		return ""
	}
	return meta.Payload.Run
}

// Run finds a run's message; more than one in the channel is an error.
func (s *Stage) Run(id string) (Run, error) {
	r := Run{ID: id}
	count := 0
	for _, m := range s.top() {
		if runOf(m) == id {
			r.Message = m
			count++
		}
	}
	if count != 1 {
		return r, fmt.Errorf("run %s has %d messages in the channel", id, count)
	}
	for _, m := range s.Slack.Messages(Channel) {
		if m.ThreadTS == r.Message.TS && m.TS != r.Message.TS {
			r.Replies = append(r.Replies, m)
		}
	}
	return r, nil
}

// Await waits until the run's message holds the text.
func (s *Stage) Await(ctx context.Context, id, text string) (Run, error) {
	var r Run
	var err error
	waited := s.Slack.Wait(ctx, func(slackemu.State) bool {
		r, err = s.Run(id)
		return err == nil && strings.Contains(r.Text(), text)
	})
	if waited != nil {
		return r, errors.Join(fmt.Errorf("the message of run %s does not come to say %q; it says %s", id, text, r.Text()), err)
	}
	return r, nil
}

// endings are the final states as the message words them.
var endings = []string{"done", "partly failed", "failed", "cancelled", "denied", "expired"}

// AwaitEnd waits until the run has ended and returns how.
func (s *Stage) AwaitEnd(ctx context.Context, id string) (r Run, state string, err error) {
	waited := s.Slack.Wait(ctx, func(slackemu.State) bool {
		if r, err = s.Run(id); err != nil {
			return false
		}
		for _, e := range endings {
			if strings.Contains(r.Text(), "*"+e+"*") {
				state = e
				return true
			}
		}
		return false
	})
	if waited != nil {
		return r, "", errors.Join(fmt.Errorf("run %s does not end; its message says %s", id, r.Text()), err)
	}
	return r, state, nil
}

// Press presses a button of the run's message as somebody, and returns what
// that person alone was told within a moment.
func (s *Stage) Press(ctx context.Context, r Run, user, button string) (private string, err error) {
	action, err := findButton(r.Message, button)
	if err != nil {
		return "", err
	}
	before := len(s.Slack.Ephemerals(user))
	if _, err := s.Slack.Click(user, Channel, r.Message.TS, action); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_ = s.Slack.Wait(ctx, func(slackemu.State) bool { return len(s.Slack.Ephemerals(user)) > before })
	for _, m := range s.Slack.Ephemerals(user)[before:] {
		private += Shown(m)
	}
	return private, nil
}

// Buttons lists the action ids on a message.
func Buttons(m slackemu.Message) []string {
	var ids []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if id, ok := v["action_id"].(string); ok {
				ids = append(ids, id)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	b, err := json.Marshal(m.Version)
	if err != nil {
		return nil
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	walk(v)
	return ids
}

func findButton(m slackemu.Message, button string) (string, error) {
	ids := Buttons(m)
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), button) {
			return id, nil
		}
	}
	return "", fmt.Errorf("the message has no button %s, only %v", button, ids)
}
