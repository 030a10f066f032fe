package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/op"
)

// Who may only give control words and look must not steer somebody else's
// dangerous run from a terminal; Slack refuses the same.
func TestSteeringFollowsTheRun(t *testing.T) {
	rules, err := access.New(access.Policy{Rules: []access.Rule{
		{Operations: []string{"*"}, Classes: []op.Class{op.Control, op.ReadOnly}, Who: []string{"local:1000@admin1"}},
	}}, "T0TEAM", nil)
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]bool{"dangerous": false, "changes": false, "read-only": true} {
		what, err := steering(activities.View{Op: "sm restart", Class: class, By: activities.Person{ID: "T0TEAM:U0ANNA"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Decide(t.Context(), "local:1000@admin1", what); got.Allowed != want {
			t.Errorf("steering a %s run: %v (%s), want %v", class, got.Allowed, got.Reason, want)
		}
	}
	if _, err := steering(activities.View{Op: "sm restart"}); err == nil {
		t.Error("a run without a class may be steered")
	}
}

// What a host prints must not act on the terminal of whoever asks.
func TestHostRunCleansOutput(t *testing.T) {
	var out bytes.Buffer
	c := &command{Streams: Streams{Out: &out}}
	c.grouped([]hostexec.Result{{Host: "node001", Outcome: hostexec.Failed, Exit: 1,
		Stdout: []byte("a\x1b]0;owned\x07b\x1b[2J\n"), Stderr: []byte("c\u202ed\r\x00"), Detail: "exit \x9b31m"}})
	if got := out.String(); strings.ContainsAny(got, "\x1b\x07\x00\r\u202e\u009b") || !strings.Contains(got, "ab\n") {
		t.Errorf("a terminal would see %q", got)
	}
}
