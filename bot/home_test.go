package bot

import (
	"errors"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

func TestHomeShowsWhatWaitsForMe(t *testing.T) {
	h := open(t)
	h.waiting(1)
	h.slash(viewer, "sm status")
	h.until("both runs", func(s slackemu.State) bool { return len(tops(s, ops)) == 2 })
	h.runs.wait()
	tests := []struct{ user, want string }{
		{ben, "*Waiting for your decision*\n⏸ `"},
		{anna, "*Waiting for your decision*\nNothing.\n*Going on*\n⏸ `"},
		{viewer, "*Ended last*\n⚠ `"},
		{guest, "people of its own workspace only"},
	}
	for _, tt := range tests {
		if err := h.slack.OpenHome(tt.user); err != nil {
			t.Fatal(err)
		}
		h.until("the home tab of "+tt.user, func(s slackemu.State) bool {
			v, ok := homeOf(s, tt.user)
			return ok && strings.Contains(v, tt.want)
		})
	}
	h.allow(func(activities.Person, activities.Place, op.Entry) error { return errors.New("no <rule>") })
	if err := h.slack.OpenHome(ben); err != nil {
		t.Fatal(err)
	}
	h.until("the refusal", func(s slackemu.State) bool { v, _ := homeOf(s, ben); return strings.Contains(v, "No &lt;rule&gt;") })
}

// homeOf is the text of a person's Home tab.
func homeOf(s slackemu.State, user string) (string, bool) {
	for _, v := range s.Homes {
		if v.User != user {
			continue
		}
		var out []string
		for _, b := range v.Blocks {
			if text, ok := b.(map[string]any)["text"].(map[string]any); ok {
				out = append(out, text["text"].(string))
			}
		}
		return strings.Join(out, "\n"), true
	}
	return "", false
}
