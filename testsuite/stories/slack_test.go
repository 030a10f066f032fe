package stories

import (
	"context"
	"encoding/json"
	"slices"
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

// has demands words in a text, at the beginning of a sentence or within.
func (s *story) has(what, text string, words ...string) {
	s.Helper()
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
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
	s.saidOnce(r)
	// A verdict may show a moment before its reason.
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	_ = s.Slack.Wait(ctx, func(slackemu.State) bool {
		r, err = s.Stage.Run(r.ID)
		return err == nil && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s.Plain(r.Message), w) })
	})
	s.must(err)
	text := s.Plain(r.Message)
	s.Logf("run %s:\n%s", r.ID, text)
	if got != state {
		s.Errorf("run %s ended %q, want %q", r.ID, got, state)
	}
	s.has("the message", text, words...)
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

// runs counts the runs that ever spoke in the channel.
func (s *story) runs() int {
	n := 0
	for _, m := range s.Slack.Messages(stage.Channel) {
		if keyOf(m) == "live" {
			n++
		}
	}
	return n
}

// quiet does something and demands that no run begins to speak and that
// nothing is recorded.
func (s *story) quiet(do func()) {
	s.Helper()
	messages, entries := s.runs(), len(s.recorded(""))
	do()
	if n := s.runs() - messages; n != 0 {
		s.Errorf("%d runs appeared in the channel", n)
	}
	if n := len(s.recorded("")) - entries; n != 0 {
		s.Errorf("%d entries appeared in the audit file", n)
	}
}
