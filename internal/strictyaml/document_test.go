package strictyaml

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/op"
	"github.com/google/go-cmp/cmp"
)

type file struct {
	Name    string            `yaml:"name"`
	Wait    time.Duration     `yaml:"wait"`
	Count   int               `yaml:"count"`
	Labels  map[string]string `yaml:"labels"`
	Class   op.Class          `yaml:"class"`
	Inner   *inner            `yaml:"inner"`
	Several []inner           `yaml:"several"`
}

type inner struct {
	Port uint16   `yaml:"port"`
	Tags []string `yaml:"tags"`
}

func TestDecode(t *testing.T) {
	const text = "# note\nname: a\nwait: 1h30m\nlabels: {x: y}\nclass: read-only\ninner: {port: 22, tags: [a, b]}\nseveral:\n  - port: 1\n  - &two {port: 2}\n  - *two\n"
	doc, err := Parse("file.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := file{Count: 7}
	if err := doc.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := file{Name: "a", Wait: 90 * time.Minute, Count: 7, Labels: map[string]string{"x": "y"}, Class: op.ReadOnly,
		Inner: &inner{Port: 22, Tags: []string{"a", "b"}}, Several: []inner{{Port: 1}, {Port: 2}, {Port: 2}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !doc.Has("inner.port") || doc.Has("inner.prot") {
		t.Error("Has is wrong for inner.port or inner.prot")
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown_key", "name: a\nlables: {}\n", `f.yaml:2:1: unknown key "lables", did you mean labels?`},
		{"unknown_inner_key", "inner:\n  prot: 22\n", `f.yaml:2:3: unknown key "prot", did you mean port?`},
		{"unknown_key_in_list", "several:\n  - port: 1\n  - porte: 2\n", `f.yaml:3:5: unknown key "porte", did you mean port?`},
		{"far_key", "inner: {zzzzzz: 1}\n", `f.yaml:1:9: unknown key "zzzzzz"; here are known: port, tags`},
		{"key_of_other_case", "Name: a\n", `f.yaml:1:1: unknown key "Name", did you mean name?`},
		{"twice", "name: a\nname: b\n", "f.yaml:2:1:"},
		{"text_for_number", "count: many\n", "f.yaml:1:8:"},
		{"number_for_duration", "wait: 10\n", "f.yaml:1:7:"},
		{"bad_duration", "wait: soon\n", "f.yaml:1:7:"},
		{"overflow", "inner: {port: 70000}\n", "f.yaml:1:15:"},
		{"negative", "inner: {port: -1}\n", "f.yaml:1:15:"},
		{"list_for_text", "name: [a]\n", "f.yaml:1:7: a list is not expected here"},
		{"mapping_for_text", "name: {a: b}\n", "f.yaml:1:7: keys and values are not expected here"},
		{"text_for_mapping", "inner: a\n", "f.yaml:1:8: keys and values are expected here: port, tags"},
		{"bad_class", "class: harmless\n", "unknown operation class"},
		{"syntax", "name: [a\n", "f.yaml:1:"},
		{"two_documents", "name: a\n---\nname: b\n", "f.yaml:3:5: a second document"},
		{"bomb", "a: &a [x]\nb: &b [*a, *a]\n", "f.yaml:2:8: an alias inside an anchor"},
		{"many_aliases", "a: &a x\nb: [" + strings.Repeat("*a, ", 101) + "]\n", "101 aliases, at most 100"},
		{"only_text", "hello\n", "f.yaml:1:1: keys and values are expected here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Parse("f.yaml", []byte(tt.text))
			if err == nil {
				err = doc.Decode(new(file))
			}
			var located *Error
			if !errors.As(err, &located) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want …%s…", err, tt.want)
			}
		})
	}
}

func TestErrorf(t *testing.T) {
	doc, err := Parse("f.yaml", []byte("name: a\nseveral:\n  - port: 1\n  - port: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"several[1].port":    "f.yaml:4:11: several[1].port: wrong",
		"several[1].tags[3]": "f.yaml:4:",
		"inner.port":         "f.yaml: inner.port: wrong",
		"":                   "f.yaml: wrong",
	} {
		if got := doc.Errorf(path, "wrong").Error(); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want …%s…", path, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "# only a remark\n", "---\n"} {
		doc, err := Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := doc.Decode(new(file)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: a\nseveral:\n  - &x {port: 1}\n  - *x\n"))
	f.Add([]byte("<<: {a: b}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := Parse("f.yaml", text)
		if err != nil {
			return
		}
		if err := doc.Decode(new(file)); err != nil && !strings.HasPrefix(err.Error(), "f.yaml") {
			t.Fatalf("error without a place: %v", err)
		}
	})
}
