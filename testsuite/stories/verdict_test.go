package stories

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// What must hold after everything that was done to the house. The file's name
// makes these the last.

// The audit file's lines still form one chain, whatever was killed between
// them: each names the hash of the one before and the next number.
func TestAfterwardsTheAuditChainHolds(t *testing.T) {
	s := open(t)
	text, err := os.ReadFile(filepath.Join(s.Dir, "data", "audit.jsonl"))
	s.must(err)
	prev := strings.Repeat("0", 64)
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var link struct {
			Seq  int
			Prev string
			Torn bool
		}
		s.must(json.Unmarshal(line, &link))
		if link.Seq != i+1 || link.Prev != prev {
			s.Fatalf("line %d is number %d after %s, want %s", i+1, link.Seq, link.Prev, prev)
		}
		sum := sha256.Sum256(line)
		prev = hex.EncodeToString(sum[:])
	}
}

// No run ever had two messages in the channel or said one thing twice.
func TestAfterwardsNothingWasSaidTwice(t *testing.T) {
	s := open(t)
	seen := map[string]bool{}
	for _, m := range s.Slack.Messages(stage.Channel) {
		key := keyOf(m)
		if key == "" || m.Deleted {
			continue
		}
		if id := runID(m) + " " + key; seen[id] {
			s.Errorf("said twice: %s", id)
		} else {
			seen[id] = true
		}
	}
	for _, w := range s.Slack.State().Warnings {
		s.Errorf("a careful bot would not: %s", w)
	}
	for _, d := range s.Slack.Deliveries() {
		if d.LateAck || d.Outcome == slackemu.TimedOut {
			s.Logf("not acknowledged in time: %s %s at %s", d.Type, d.Detail, d.At)
		}
	}
}

// No secret is in anything that people or logs got to see.
func TestAfterwardsNoSecretShows(t *testing.T) {
	s := open(t)
	key, err := os.ReadFile(filepath.Join(s.Lab.Dir, "ssh", "id_ed25519"))
	s.must(err)
	secrets := []string{s.Slack.BotToken(), s.Slack.AppToken(), strings.Split(string(key), "\n")[1]}
	look := func(where, text string) {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				s.Errorf("a secret shows in %s", where)
			}
		}
	}
	for _, file := range []string{s.DaemonLog(), filepath.Join(s.Dir, "data", "audit.jsonl"), filepath.Join(s.Dir, "data", "temporal", "engine.sqlite")} {
		text, err := os.ReadFile(file)
		s.must(err)
		look(file, string(text))
	}
	for _, m := range append(s.Slack.State().Messages, s.Slack.State().Ephemerals...) {
		for _, v := range m.History {
			b, err := json.Marshal(v)
			s.must(err)
			look("the channel", string(b))
		}
	}
}
