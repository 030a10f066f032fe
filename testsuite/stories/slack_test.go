package stories

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// begin types a command of operator A that starts a run.
func (s *story) begin(command string) stage.Run {
	s.Helper()
	return s.beginAs(stage.UserA, command)
}

func (s *story) beginAs(user, command string) stage.Run {
	s.Helper()
	r, err := s.Start(s.ctx, user, command)
	s.must(err)
	return r
}

// ask begins a run and waits for its buttons.
func (s *story) ask(command string) stage.Run {
	s.Helper()
	return s.buttons(s.begin(command).ID)
}

// buttons waits until a run's message can be approved.
func (s *story) buttons(run string) stage.Run {
	s.Helper()
	return s.shows(run, `"action_id":"`+stage.Approve)
}

// shows waits until a run's message holds the text.
func (s *story) shows(run, text string) stage.Run {
	s.Helper()
	r, err := s.Await(s.ctx, run, text)
	s.must(err)
	return r
}

// press presses a button and returns what that person alone was told.
func (s *story) press(r stage.Run, user, button string) string {
	s.Helper()
	r, err := s.Stage.Run(r.ID)
	s.must(err)
	said, err := s.Press(s.ctx, r, user, button)
	s.must(err)
	return said
}

// approve lets operator B approve.
func (s *story) approve(r stage.Run) {
	s.Helper()
	if said := s.press(r, stage.UserB, stage.Approve); said != "" {
		s.Fatalf("operator B was told %s", said)
	}
}

// typed types a command and demands words of the private answer.
func (s *story) typed(user, command string, words ...string) string {
	s.Helper()
	return s.typedIn(user, stage.Channel, command, words...)
}

func (s *story) typedIn(user, channel, command string, words ...string) string {
	s.Helper()
	answer, err := s.Type(s.ctx, user, channel, command)
	s.must(err)
	s.has("the answer to "+command, answer, words...)
	return answer
}

// has demands words in a text.
func (s *story) has(what, text string, words ...string) {
	s.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.Errorf("%s lacks %q: %s", what, w, text)
		}
	}
}

// ends waits for a run's end, demands the state and words of the message, and
// that nothing of it was said twice.
func (s *story) ends(r stage.Run, state string, words ...string) stage.Run {
	s.Helper()
	r, got, err := s.AwaitEnd(s.ctx, r.ID)
	s.must(err)
	text := s.Plain(r.Message)
	s.Logf("run %s:\n%s", r.ID, text)
	if got != state {
		s.Errorf("run %s ended %q, want %q", r.ID, got, state)
	}
	s.has("the message", text, words...)
	s.saidOnce(r)
	return r
}

// whole runs a command from its start to its end.
func (s *story) whole(command, state string, words ...string) stage.Run {
	s.Helper()
	return s.ends(s.begin(command), state, words...)
}

// saidOnce demands one message in the channel and no reply twice, once the run
// is over for the engine as well.
func (s *story) saidOnce(r stage.Run) {
	s.Helper()
	s.eventually("the end is in the audit file", 30*time.Second, func() bool { return s.count(r.ID, "ended") == 1 })
	r, err := s.Stage.Run(r.ID)
	s.must(err)
	seen := map[string]bool{}
	for _, m := range r.Replies {
		if m.Deleted {
			continue
		}
		key := keyOf(m)
		if key == "" {
			key = "files " + strings.Join(s.fileNames(m), " ")
		}
		if seen[key] {
			s.Errorf("run %s said %q twice in its thread", r.ID, key)
		}
		seen[key] = true
	}
}

func (s *story) fileNames(m slackemu.Message) []string {
	var names []string
	for _, f := range s.Slack.Files() {
		for _, id := range m.Files {
			if f.ID == id {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// keyOf is what a message is within its run, by its metadata.
func keyOf(m slackemu.Message) string {
	b, err := json.Marshal(m.Metadata)
	if err != nil {
		return ""
	}
	var meta struct {
		Payload struct{ Key string } `json:"event_payload"`
	}
	if json.Unmarshal(b, &meta) != nil {
		return ""
	}
	return meta.Payload.Key
}

// said counts the messages of the channel, replies included.
func (s *story) said() int { return len(s.Slack.Messages(stage.Channel)) }

// quiet does something and demands that the channel stays as it was and that
// nothing is recorded.
func (s *story) quiet(do func()) {
	s.Helper()
	messages, entries := s.said(), len(s.recorded(""))
	do()
	if n := s.said() - messages; n != 0 {
		s.Errorf("%d messages appeared in the channel", n)
	}
	if n := len(s.recorded("")) - entries; n != 0 {
		s.Errorf("%d entries appeared in the audit file", n)
	}
}

// heard waits until a person is privately told the words.
func (s *story) heard(user string, from int, words string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 15*time.Second)
	defer cancel()
	if err := s.Slack.Wait(ctx, func(slackemu.State) bool {
		all := s.Slack.Ephemerals(user)
		for _, m := range all[min(from, len(all)):] {
			if strings.Contains(s.Plain(m), words) {
				return true
			}
		}
		return false
	}); err != nil {
		s.Errorf("%s is not told %q", user, words)
	}
}
