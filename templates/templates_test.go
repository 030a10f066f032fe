package templates

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The fields of a view, as activities.View has them; the bot's own tests
// render real views.
type person struct{ ID, Name string }
type step struct {
	Text, Host, State, Detail string
	Begun, Ended              time.Time
}
type planLine struct{ Host, Device, What, From, To, Note string }
type plan struct {
	Summary           string
	Changes, Refused  []planLine
	Effects, Warnings []string
	Rollback, Hash    string
	Hosts             []string
}
type policy struct{ Users, Groups []string }
type gate struct {
	Need    int
	Expires time.Time
	Policy  policy
}
type decision struct {
	By           person
	Hash, Reason string
	Yes          bool
	At           time.Time
}
type progress struct {
	Done, Total int
	Unit        string
}
type view struct {
	Run, Op, Words, Cluster, State, Note, Error, Of string
	By                                              person
	Started, Updated, Ended                         time.Time
	Progress                                        *progress
	Steps                                           []step
	Plan                                            *plan
	Gate                                            *gate
	Decided                                         []decision
}
type typedFinding struct{ Severity, Text, Action string }
type typedResult struct {
	Summary  string
	Findings []typedFinding
	Lines    []string
}

var t0 = time.Date(2026, 3, 5, 14, 2, 0, 0, time.UTC)

func sampleView(state string) view {
	v := view{
		Run: "4f2c09a1b3d4", Op: "sm restart", Words: "sm restart -hosts sm1", Cluster: "ib1", State: state,
		By: person{"T1:U024ANNA", "anna"}, Started: t0, Updated: t0.Add(190 * time.Second),
		Progress: &progress{89, 128, "hosts"},
		Plan: &plan{
			Summary: "restart opensm on 1 host", Hash: "9f86d081884c7d65", Hosts: []string{"sm1"},
			Changes:  []planLine{{Host: "sm1", Device: "mlx5_0", What: "opensm", From: "running", To: "restarted"}},
			Refused:  []planLine{{Host: "sm2", What: "has no standby"}},
			Effects:  []string{"no new paths for about 20 s"},
			Warnings: []string{"the standby's priority is equal"}, Rollback: "the old package is kept",
		},
		Gate:    &gate{Need: 1, Expires: t0.Add(time.Hour), Policy: policy{Users: []string{"T1:U024CARL"}, Groups: []string{"S0OPS"}}},
		Decided: []decision{{By: person{"T1:U024BEN", "ben"}, Hash: "9f86d081884c7d65", Yes: true, At: t0.Add(time.Minute)}},
	}
	for _, s := range []string{"ok", "ok", "ok", "ok", "ok", "failed", "running"} {
		v.Steps = append(v.Steps, step{Text: "look at ports", Host: "node01", State: s, Begun: t0, Ended: t0.Add(4 * time.Second), Detail: "2 ports active"})
	}
	return v
}

// stoppedView is a run over three hosts that was cancelled at the second.
func stoppedView() view {
	v := sampleView("cancelled")
	v.Error = "cancelled by anna: not during the review"
	v.Plan.Changes = []planLine{{Host: "sm1"}, {Host: "sm2"}, {Host: "sm3"}}
	at := t0
	v.Steps = nil
	add := func(host, text, state string) {
		v.Steps = append(v.Steps, step{Text: text, Host: host, State: state, Begun: at, Ended: at.Add(300 * time.Millisecond)})
		at = at.Add(2 * time.Second)
	}
	look := func() {
		add("", "find a port to look from", "ok")
		add("sm3", "ask every subnet manager", "ok")
	}
	look()
	at = v.Decided[0].At.Add(time.Second)
	look()
	add("sm1", "restart the standby", "ok")
	add("sm3", "ask every subnet manager", "ok")
	add("sm2", "restart the standby", "failed")
	return v
}

func set(t testing.TB) *Set {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGoldens(t *testing.T) {
	ended := sampleView("done")
	ended.Ended = t0.Add(200 * time.Second)
	failed := sampleView("failed")
	failed.Error = "restarting opensm on sm1: exit 1"
	dup := sampleView("duplicate")
	dup.Of = "77aa88bb99cc"
	result := typedResult{
		Summary:  "12 switches, 128 hosts, 3 findings",
		Findings: []typedFinding{{"warning", "ib-leaf-07 port 3 runs at 2x", "check the cable"}, {"error", "node09 is gone", ""}},
		Lines:    []string{"master: sm1 priority 14", "standby: sm2 priority 13"},
	}
	jsonResult := map[string]any{"summary": "kept as 2026-03-05", "lines": []any{"3 files"}, "findings": []any{map[string]any{"severity": "warning", "text": "1 link gone", "action": ""}}}
	waiting := sampleView("waiting for approval")
	denied := sampleView("denied")
	denied.Error = "denied by ben: not now"
	denied.Decided = []decision{{By: person{"T1:U024BEN", "ben"}, Hash: "9f86d081884c7d65", Reason: "not now", At: t0.Add(time.Minute)}}
	partly := stoppedView()
	tests := []struct {
		name, slug string
		data       Data
		blocks     []string
	}{
		{"running", "sm-restart", Data{sampleView("running"), nil}, []string{"title", "text", "words", "progress", "steps", "refreshed"}},
		{"waiting", "sm-restart", Data{waiting, nil}, []string{"title", "text", "plan", "gate", "ask", "decided", "row"}},
		{"done", "sm-restart", Data{ended, result}, []string{"title", "text", "end", "findings", "decisions", "refreshed", "summary"}},
		{"failed", "sm-restart", Data{failed, nil}, []string{"title", "text", "end", "failed-notice", "findings"}},
		{"denied", "sm-restart", Data{denied, nil}, []string{"title", "text", "end", "decisions", "outcome", "summary"}},
		{"cancelled", "sm-restart", Data{partly, nil}, []string{"title", "text", "end", "outcome", "all-steps"}},
		{"duplicate", "sm-restart", Data{dup, nil}, []string{"title", "text", "end"}},
		{"untyped", "topology-backup", Data{ended, jsonResult}, []string{"text", "end", "findings"}},
	}
	s := set(t)
	for _, tt := range tests {
		for _, d := range []Dialect{Slack, Plain} {
			var out strings.Builder
			for _, b := range tt.blocks {
				got, err := s.Render(d, tt.slug, b, tt.data)
				if err != nil {
					t.Fatal(err)
				}
				out.WriteString("--- " + b + "\n" + got + "\n")
			}
			file := filepath.Join("testdata", tt.name+"."+string(d)+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("%s differs (run with -update and read the diff):\ngot\n%s\nwant\n%s", file, out.String(), want)
			}
		}
	}
}

const hostile = "<!channel> <@U1> <https://evil.example|fine> `x` & \x1b[31mred\x1b[0m \u202eabc\u202c\x00\n✅ Approved by you"

// TestHostileTextStaysText puts hostile text in every place of a view.
func TestHostileTextStaysText(t *testing.T) {
	v := sampleView("failed")
	v.Run, v.Op, v.Words, v.Cluster, v.Note, v.Error, v.Of = hostile, hostile, hostile, hostile, hostile, hostile, hostile
	v.By = person{hostile, hostile}
	v.Steps = []step{{Text: hostile, Host: hostile, State: "ok", Detail: hostile}}
	v.Plan = &plan{Summary: hostile, Hash: hostile, Rollback: hostile, Hosts: []string{hostile},
		Changes: []planLine{{hostile, hostile, hostile, hostile, hostile, hostile}}, Refused: []planLine{{Host: hostile, What: hostile, Note: hostile}},
		Effects: []string{hostile}, Warnings: []string{hostile}}
	v.Gate.Policy = policy{[]string{hostile}, []string{hostile}}
	v.Decided = []decision{{By: person{"local:" + hostile, hostile}, Hash: hostile, Reason: hostile}}
	v.Progress.Unit = hostile
	r := typedResult{hostile, []typedFinding{{hostile, hostile, hostile}}, []string{hostile}}
	s := set(t)
	for _, slug := range append(s.Slugs(), "unknown") {
		for _, part := range s.base[Slack].Templates() {
			switch part.Name() {
			case "messages", "step", "change", "approvers", "decision", "delta", "delta-lines", "silent", "sm", "end-step":
				continue // rendered through their callers, with other data
			}
			for _, state := range []string{"failed", "done", "waiting for approval", "running", "duplicate"} {
				v.State = state
				for _, d := range []Dialect{Slack, Plain} {
					got, err := s.Render(d, slug, part.Name(), Data{v, r})
					if err != nil {
						t.Fatal(err)
					}
					for _, bad := range []string{"\x1b", "\x00", "\u202e", "\n✅ Approved by you"} {
						if strings.Contains(got, bad) {
							t.Errorf("%s %s: %q came through: %q", d, part.Name(), bad, got)
						}
					}
					if d == Plain {
						continue
					}
					for _, bad := range []string{"<!channel", "<@U1>", "<https", "`x`"} {
						if strings.Contains(got, bad) {
							t.Errorf("%s %s: %q came through: %q", d, part.Name(), bad, got)
						}
					}
					if strings.Count(got, "`")%2 != 0 {
						t.Errorf("%s: an odd backtick: %q", part.Name(), got)
					}
				}
			}
		}
	}
}

// TestEveryActionIsEscaped renders templates whose author forgot to escape.
func TestEveryActionIsEscaped(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{{.}}`, "&lt;!here&gt; \u02cba"},
		{`{{if .}}{{.}}{{else}}{{.}}{{end}}`, "&lt;!here&gt; \u02cba"},
		{`{{with .}}{{.}}{{end}}`, "&lt;!here&gt; \u02cba"},
		{`{{range $i, $c := .Split}}{{$c}}{{end}}`, ""},
		{`{{printf "%s!" .}}`, "&lt;!here&gt; \u02cba!"},
		{`{{$x := .}}{{$x}}`, "&lt;!here&gt; \u02cba"},
		{`{{bold . | printf "%s"}}`, "*&amp;lt;!here&amp;gt; \u02cba*"},
		{`{{code .}}`, "`&lt;!here&gt; \u02cba`"},
		{`<!channel> & co`, "&lt;!channel&gt; &amp; co"},
		{`{{template "inner" .}}{{define "inner"}}{{.}}{{end}}`, "&lt;!here&gt; \u02cba"},
		{"{{pre .}}", "```\n&lt;!here&gt; \u02cba\n```"},
		{`{{mention . ""}}{{group .}}`, "&lt;!here&gt; \u02cba&lt;!here&gt; \u02cba"},
		{`{{mention "T1:U024ANNA" .}} {{group "S0OPS"}}`, "<@U024ANNA> <!subteam^S0OPS>"},
	}
	for _, tt := range tests {
		s, err := newSet(fstest.MapFS{"messages/_base.tmpl": {Data: []byte(`{{define "x"}}` + strings.Replace(tt.text, `{{define "inner"}}{{.}}{{end}}`, "", 1) + `{{end}}{{define "inner"}}{{.}}{{end}}`)}})
		if err != nil {
			t.Fatal(err)
		}
		var data any = "<!here> `a"
		if strings.Contains(tt.text, "Split") {
			data = struct{ Split []string }{}
		}
		got, err := s.Render(Slack, "any", "x", data)
		if err != nil || got != tt.want {
			t.Errorf("%s = %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	s := set(t)
	if _, err := s.Render("morse", "x", "title", nil); err == nil {
		t.Error("an unknown dialect was rendered")
	}
	if _, err := s.Render(Slack, "x", "nothing", nil); err == nil {
		t.Error("an unknown block was rendered")
	}
	if _, err := newSet(fstest.MapFS{"messages/_base.tmpl": {Data: []byte("{{")}}); err == nil {
		t.Error("a broken template was accepted")
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ got, want string }{
		{span(59*time.Second + 600*time.Millisecond), "1 m 0 s"}, {span(3 * time.Hour), "3 h 0 m"}, {span(72 * time.Hour), "3 days"},
		{plural(1, "host"), "1 host"}, {plural(2, "switch"), "2 switches"}, {plural(0, "entry"), "0 entries"},
		{span(300 * time.Millisecond), "< 1 s"}, {period("why?"), "why?"}, {period("so"), "so."},
		{Slack.Said("see `runs list` & `<x>`, odd `"), "see `runs list` &amp; `&lt;x&gt;`, odd \u02cb"}, {Plain.Said("see `runs list`"), `see "runs list"`},
		{percent(127, 128), "99 %"}, {percent(1, 0), "0 %"}, {percent(300, 128), "100 %"},
		{bar(64, 128), "██████░░░░░░"}, {bar(-1, 4), "░░░░░░░░░░░░"}, {bar(9, 4), "████████████"},
		{clip(5, "abcdefgh"), "abcd…"}, {clip(5, "äöüß"), "äöüß"}, {short("0123456789"), "01234567"},
		{few(2, []string{"a", "b", "c"}), "a, b and 1 more"}, {took(t0, t0.Add(-1)), ""},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("case %d: got %q, want %q", i, tt.got, tt.want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add(hostile)
	f.Add("\x1b]0;title\x07&lt;")
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range []Dialect{Slack, Plain} {
			for _, got := range []markup{d.esc(s), d.bold(s), d.strike(s), d.pre(s), d.mention(s, s)} {
				if strings.ContainsAny(string(got), "\x1b\x00\r") {
					t.Errorf("control code in %q", got)
				}
			}
			if got := string(d.esc(s)); strings.Contains(got, "\n") || d == Slack && strings.ContainsAny(got, "<>`") {
				t.Errorf("%s: %q is not escaped", d, got)
			}
		}
	})
}
