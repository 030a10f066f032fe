package bot

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

var update = flag.Bool("update", false, "rewrite generated files")

func TestManifestIsCurrent(t *testing.T) {
	x, err := workflows.Index()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Manifest(x)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "deploy", "slack-manifest.yaml")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what the catalog says; run go test ./bot -run ManifestIsCurrent -update and read the diff", file)
	}
}

func TestManifestIsWithinLimits(t *testing.T) {
	var entries []op.Entry
	for i := range 200 {
		entries = append(entries, op.Spec[struct{}]{Name: "noun" + string(rune('a'+i%20)) + " verb" + string(rune('a'+i/20)), Summary: "do", Examples: []string{""}}.Entry())
	}
	x, err := op.NewIndex(entries)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Manifest(x)
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if n := count(m.Features.Commands[0].Hint); n > limitHint {
		t.Errorf("a hint of %d", n)
	}
	if n := count(m.Display.Description); n > 140 {
		t.Errorf("a description of %d", n)
	}
	if !slices.IsSorted(m.OAuth.Scopes.Bot) {
		t.Error("the scopes are not sorted")
	}
}
