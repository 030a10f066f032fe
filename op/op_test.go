package op

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type drawInput struct {
	Format string
	Depth  int
	Wait   time.Duration
	All    bool
	Run    string
	Why    string
}

var draw = Spec[drawInput]{
	Name: "topology draw", Summary: "draw the fabric", Class: ReadOnly,
	Examples: []string{"-format svg", ""},
	Params: func(p *Params, in *drawInput) {
		p.Choice(&in.Format, "format", "png", []string{"png", "svg"}, "picture format")
		p.Int(&in.Depth, "depth", 2, 1, 9, "levels")
		p.Duration(&in.Wait, "wait", time.Minute, "how long")
		p.Bool(&in.All, "all", "everything")
	},
}

var deny = Spec[drawInput]{
	Name: "deny", Summary: "refuse a run", Examples: []string{"4f2c too late today"},
	Params: func(p *Params, in *drawInput) {
		p.Text(&in.Run, "run", "", "the run", "4f2c")
		p.Text(&in.Why, "reason", "", "why", "")
		p.Require("run")
		p.Positional("run")
		p.Rest("reason")
	},
}

func index(t *testing.T) *Index {
	t.Helper()
	x, err := NewIndex([]Entry{draw.Entry(), deny.Entry()})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestParse(t *testing.T) {
	tests := []struct {
		line string
		want drawInput
		err  string
	}{
		{"topology draw", drawInput{Format: "png", Depth: 2, Wait: time.Minute}, ""},
		{"topology draw \u2014format=svg -all -depth 3", drawInput{Format: "svg", Depth: 3, Wait: time.Minute, All: true}, ""},
		{"Topology Draw -wait 90s", drawInput{Format: "png", Depth: 2, Wait: 90 * time.Second}, ""},
		{"deny 4f2c not today", drawInput{Run: "4f2c", Why: "not today"}, ""},
		{"deny", drawInput{}, "RUN is missing"},
		{"topology draw -fromat svg", drawInput{}, "did you mean format?"},
		{"topology draw -format gif", drawInput{}, "none of png, svg"},
		{"topology draw -depth 0", drawInput{}, "outside 1 to 9"},
		{"topology draw -depth", drawInput{}, "needs a value"},
		{"topology draw -depth 1 -depth 2", drawInput{}, "given twice"},
		{"topology draw -wait -1s", drawInput{}, "longer than nothing"},
		{"topology draw extra", drawInput{}, `unexpected word "extra"`},
		{"topolgy draw", drawInput{}, `did you mean "topology draw"`},
		{"topology", drawInput{}, "needs a verb: draw"},
		{"topology frobnicate", drawInput{}, "topology has draw"},
		{"frobnicate", drawInput{}, "unknown operation"},
		{"", drawInput{}, "say what to do"},
	}
	x := index(t)
	for _, tt := range tests {
		words, err := Split(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		e, rest, err := x.Resolve(words)
		if err == nil {
			got, err = e.Parse(rest)
		}
		if tt.err != "" {
			var u *UsageError
			if !errors.As(err, &u) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want a usage error with %q", tt.line, err, tt.err)
			} else if u.Example == "" {
				t.Errorf("%q: no example to copy in %v", tt.line, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, %v; want %+v", tt.line, got, err, tt.want)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		line string
		want []string
		err  bool
	}{
		{`a "b c" 'd e' f\ g`, []string{"a", "b c", "d e", "f g"}, false},
		{"\u201csmart quotes\u201d", []string{"smart quotes"}, false},
		{`""`, []string{""}, false},
		{`'open`, nil, true},
		{`tail\`, nil, true},
		{"$(reboot) `id`", []string{"$(reboot)", "`id`"}, false},
		{strings.Repeat("x", MaxLine+1), nil, true},
	}
	for _, tt := range tests {
		got, err := Split(tt.line)
		if (err != nil) != tt.err || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Split(%.20q) = %q, %v", tt.line, got, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`a "b c" -d=e`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			return
		}
		x := index(t)
		if e, rest, err := x.Resolve(words); err == nil {
			_, _ = e.Parse(rest)
		}
	})
}

func TestValidateRefusesBadDeclarations(t *testing.T) {
	bad := []Spec[drawInput]{
		{Name: "perf test", Summary: "x", Examples: []string{""}},
		{Name: "port wasm", Summary: "x", Examples: []string{""}},
		{Name: "Sm restart", Summary: "x", Examples: []string{""}},
		{Name: "sm restart", Summary: "x", Class: Dangerous, Examples: []string{""}},
		{Name: "sm status", Summary: "x.", Examples: []string{""}},
		{Name: "sm status", Summary: "x"},
		{Name: "sm status", Summary: "x", Examples: []string{"-nothing"}},
	}
	for _, s := range bad {
		if err := s.Entry().Validate(); err == nil {
			t.Errorf("declaration %q with examples %q was accepted", s.Name, s.Examples)
		}
	}
}

func TestUsageNamesEverything(t *testing.T) {
	u := draw.Entry().Usage()
	for _, want := range []string{"topology draw [-format png|svg] [-depth DEPTH]", "(default 1m0s)", "topology draw -format svg"} {
		if !strings.Contains(u, want) {
			t.Errorf("usage lacks %q:\n%s", want, u)
		}
	}
}
