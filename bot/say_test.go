package bot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
)

func clickOf(user, ts, action string) slack.InteractionCallback {
	cb := slack.InteractionCallback{Type: slack.InteractionTypeBlockActions}
	cb.User.ID, cb.User.TeamID, cb.Team.ID, cb.Channel.ID = user, team, team, ops
	cb.Container.MessageTs = ts
	cb.ActionCallback.BlockActions = []*slack.BlockAction{{ActionID: action}}
	return cb
}

func TestPressed(t *testing.T) {
	p := pressed{Run: "4f2c09a1d3", Gate: "g1", Hash: strings.Repeat("ab", 32)}
	got, err := parsePressed(p.value())
	if err != nil || got.Run != p.Run || got.Gate != p.Gate || got.Hash != p.Hash[:hashLength] {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "|g|h", "a|b", "a|b|c|d", "a b|g|h", "a|<!here>|h", "a|g|" + strings.Repeat("x", 300)} {
		if _, err := parsePressed(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if q, channel, err := parseCarried(carried(p, ops)); err != nil || q.Run != p.Run || channel != ops {
		t.Errorf("%+v %s %v", q, channel, err)
	}
}

func TestTypedText(t *testing.T) {
	tests := map[string]string{
		"sm status -from &lt;x&gt; &amp; y":                                  "sm status -from <x> & y",
		"host inspect -hosts <http://node01.example.org|node01.example.org>": "host inspect -hosts node01.example.org",
		"<@U07ADMIN> stays": "<@U07ADMIN> stays",
		"&amp;lt;":          "&lt;",
	}
	for in, want := range tests {
		if got := typedText(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		s     string
		runes int
		want  string
	}{
		{"short", 10, "short"},
		{"0123456789", 10, "0123456789"},
		{"look <!date^1^{x}|y> end", 16, "look…"},
		{"a &amp;amp; tail that is long", 10, "a…"},
		{"a `code span` b", 14, "a `code…`"},
	}
	for _, tt := range tests {
		if got := fitText(tt.s, tt.runes); got != tt.want || count(got) > tt.runes {
			t.Errorf("fitText(%q, %d) = %q, want %q", tt.s, tt.runes, got, tt.want)
		}
	}
	long := strings.Repeat("0123456789\n", 100)
	if got := fitLines(long, 200); count(got) > 200 || !strings.HasSuffix(got, "more lines") {
		t.Errorf("fitLines gave %q", got)
	}
	if got := fitBytes(strings.Repeat("\u6f22", 3000), limitTextBytes); len(got) > limitTextBytes || got == "" {
		t.Errorf("fitBytes gave %d bytes", len(got))
	}
}

func FuzzFit(f *testing.F) {
	f.Add("a <@U1> &amp; ```x``` `y`", 12)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 10 || n > 5000 {
			return
		}
		for _, got := range []string{fitText(s, n), fitLines(s, max(n, 60))} {
			if count(got) > max(n, 60) {
				t.Errorf("%d runes, want at most %d: %q", count(got), n, got)
			}
		}
	})
}

// TestHugeViewFits draws a view in which everything is as large as it gets.
func TestHugeViewFits(t *testing.T) {
	huge := strings.Repeat("<!channel> & `x` \n", 3000)
	v := activities.View{
		Run: "4f2c09a1d3", Op: "sm restart", Class: "dangerous", Words: huge, Cluster: huge, By: activities.Person{ID: "T1:U1ANNA"}, State: activities.Waiting,
		Note: huge, Error: huge, Gate: &activities.Gate{ID: "g1", Hash: strings.Repeat("a", 64)}, Plan: &activities.Plan{Summary: huge, Rollback: huge},
	}
	for range 400 {
		v.Plan.Changes = append(v.Plan.Changes, activities.PlanLine{Host: huge, Device: huge, What: huge, From: huge, To: huge, Note: huge})
		v.Plan.Refused = append(v.Plan.Refused, activities.PlanLine{Host: huge, What: huge})
		v.Plan.Effects, v.Plan.Warnings = append(v.Plan.Effects, huge), append(v.Plan.Warnings, huge)
		v.Gate.Policy.Users = append(v.Gate.Policy.Users, "T1:U1BEN")
		v.Steps = append(v.Steps, activities.Step{Text: huge, Host: huge, Detail: huge, State: activities.StepFailed})
		v.Decided = append(v.Decided, activities.Decision{By: v.By, Reason: huge, Hash: huge})
	}
	findings := []map[string]string{}
	for range 20 {
		findings = append(findings, map[string]string{"severity": "fail", "text": huge, "action": huge})
	}
	result, err := json.Marshal(map[string]any{"summary": huge, "lines": []string{huge, huge}, "findings": findings})
	if err != nil {
		t.Fatal(err)
	}
	v.Result = result
	r := Renderer{Words: words(t), TypedAbove: 3}
	for _, state := range []activities.State{activities.Waiting, activities.Running, activities.Paused, activities.Done, activities.Failed, activities.Denied} {
		v.State = state
		m, err := r.live(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, b := range m.Blocks {
			n := textLength(b)
			if n > limitSection {
				t.Errorf("%s: a block of %d", state, n)
			}
			total += n
		}
		if total > limitAllBlocks || len(m.Blocks) > limitBlocks || len(m.Text) > limitTextBytes || count(m.Text) > maxNotification {
			t.Errorf("%s: %d in all blocks, %d blocks, text %d", state, total, len(m.Blocks), count(m.Text))
		}
		if state.Final() && len(m.Blocks) > 6 {
			t.Errorf("%s: %d blocks in a final message", state, len(m.Blocks))
		}
		if s := dump(m); strings.Contains(s, "<!channel>") {
			t.Errorf("%s: a broadcast came through", state)
		}
	}
}
