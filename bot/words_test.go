package bot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/workflows"
)

// TestEveryOperationHasWords draws each operation's sample result in both
// dialects.
func TestEveryOperationHasWords(t *testing.T) {
	set := words(t)
	at := time.Date(2026, 3, 5, 14, 2, 0, 0, time.UTC)
	for _, e := range workflows.Catalog() {
		v := activities.View{
			Run: "4f2c09a1d3", Op: e.Name, Class: e.Class.String(), Words: e.Name, Cluster: "ib1", State: activities.Done,
			By: activities.Person{ID: "T1:U024ANNA", Name: "anna"}, Started: at, Updated: at.Add(time.Minute), Ended: at.Add(time.Minute),
		}
		for _, d := range []templates.Dialect{templates.Slack, templates.Plain} {
			out := ""
			for _, block := range []string{"text", "done", "findings"} {
				s, err := set.Render(d, e.Slug(), block, templates.Data{View: v, Result: e.Sample})
				if err != nil {
					t.Fatal(err)
				}
				out += "--- " + block + "\n" + s + "\n"
			}
			file := filepath.Join("testdata", "words", e.Slug()+"."+string(d)+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out != string(want) {
				t.Errorf("%s differs (run with -update and read the diff):\n%s", file, out)
			}
		}
	}
}

// TestResultOfAnotherVersion has a result in which nothing is where the
// operation's words look for it.
func TestResultOfAnotherVersion(t *testing.T) {
	r := Renderer{Words: words(t), Typed: func(op string, d activities.Data) (any, error) {
		e, _ := workflows.Lookup(op)
		return e.Result(d)
	}}
	for _, e := range workflows.Catalog() {
		v := activities.View{Run: "4f2c09a1d3", Op: e.Name, State: activities.Done, Result: activities.Data(`{"summary":"all is well","unheard":{"of":[1]}}`)}
		m, err := r.live(v, nil)
		if err != nil || !strings.Contains(dump(m), "all is well") {
			t.Errorf("%s: %v %s", e.Name, err, dump(m))
		}
	}
}
