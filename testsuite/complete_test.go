package testsuite

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/workflows"
)

// baseSuffices lists the operations whose result is told well enough by the
// base template: a summary, findings and lines, with files for the rest. An
// operation not listed here has words of its own.
var baseSuffices = []string{}

// TestOperationsAreComplete walks the catalog and asks of every operation what
// CONTRIBUTING.md says an operation consists of.
func TestOperationsAreComplete(t *testing.T) {
	words, err := templates.New()
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t, "../workflows")
	for _, e := range workflows.Catalog() {
		t.Run(e.Slug(), func(t *testing.T) {
			if err := e.Validate(); err != nil {
				t.Error(err)
			}
			if e.Detail == "" {
				t.Errorf("%s says nothing beyond its summary: give Detail what an operator must know before typing it", e.Name)
			}
			for _, p := range e.Params {
				if p.Doc == "" {
					t.Errorf("%s: parameter -%s has no doc", e.Name, p.Name)
				}
			}
			sample(t, words, e)
			own := slices.Contains(words.Slugs(), e.Slug())
			if based := slices.Contains(baseSuffices, e.Slug()); own == based {
				t.Errorf("templates/messages/%s.tmpl exists: %t; listed in baseSuffices: %t; want exactly one", e.Slug(), own, based)
			}
			if _, err := os.Stat(filepath.Join("../workflows/testdata/histories", e.Slug()+".json")); err != nil {
				t.Errorf("no recorded history: add the run to histories_test.go and run `make histories` (%v)", err)
			}
			want := "Test" + camel(e.Slug())
			if !slices.ContainsFunc(tests, func(name string) bool { return strings.EqualFold(name, want) }) {
				t.Errorf("package workflows has no %s", want)
			}
		})
	}
}

// sample holds the declared sample to what a real result goes through: packed
// by the worker, given its type back by the catalog, put into words for both
// surfaces.
func sample(t *testing.T, words *templates.Set, e workflows.Entry) {
	t.Helper()
	packed, err := activities.Pack(e.Sample)
	if err != nil {
		t.Errorf("packing the sample: %v", err)
		return
	}
	back, err := e.Result(packed)
	if err != nil {
		t.Errorf("unpacking the sample: %v", err)
		return
	}
	if diff := cmp.Diff(e.Sample, back); diff != "" {
		t.Errorf("the sample does not survive its way (-declared +unpacked):\n%s", diff)
	}
	view := activities.View{Run: "4f2c09a1d3", Op: e.Name, Words: e.Name, Cluster: "alpha", State: activities.Done, By: activities.Person{ID: "T024BE7LD:U024ANNA", Name: "anna"}, Result: packed}
	for _, d := range []templates.Dialect{templates.Slack, templates.Plain} {
		said, err := words.Render(d, e.Slug(), "done", templates.Data{View: view, Result: back})
		if err != nil {
			t.Errorf("putting the sample into words: %v", err)
		}
		if said == "" {
			t.Errorf("the final message in dialect %v is empty", d)
		}
	}
}

// camel is the slug as Go writes it in a test's name.
func camel(slug string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(slug, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// testNames lists the tests of a package.
func testNames(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, bytes.NewReader(b), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// TestNoHistoryIsLeftOver finds histories of operations that are gone.
func TestNoHistoryIsLeftOver(t *testing.T) {
	files, err := filepath.Glob("../workflows/testdata/histories/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !slices.ContainsFunc(workflows.Catalog(), func(e workflows.Entry) bool { return name == e.Slug() || strings.HasPrefix(name, e.Slug()+"-") }) {
			t.Errorf("%s is the history of no operation", file)
		}
	}
}
