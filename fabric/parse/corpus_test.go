package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floor is the least share of hand-checked facts, in percent, that a tool's
// parser must find in the corpus; 100 unless listed. The facts on
// saturated counters and a note on mlxfwmanager's columns are in words that
// only their author would choose; one fact on mlnxofedinstall is an adapter's
// list in two forms.
var floor = map[string]float64{"ibqueryerrors": 98, "mlxfwmanager": 99, "mlnxofedinstall": 99}

// TestCorpus scores the parsers against samples of real output whose facts
// were checked by hand. The samples are other people's text and not part of
// this repository: FABRICBOT_CORPUS names their folder.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("FABRICBOT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	specs, _ := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if len(specs) == 0 {
		t.Skip("no corpus of tool output: set FABRICBOT_CORPUS to its folder")
	}
	type score struct{ found, facts float64 }
	scores := map[string]*score{}
	for _, path := range specs {
		var spec struct {
			Tool  string
			Facts any
		}
		if err := decodeFile(path, &spec); err != nil {
			t.Fatal(err)
		}
		p, ok := Tool(spec.Tool)
		if !ok {
			continue
		}
		sc := scores[spec.Tool]
		if sc == nil {
			sc = &score{}
			scores[spec.Tool] = sc
		}
		facts := leaves(spec.Facts, nil, nil)
		sc.facts += float64(len(facts))
		text, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		v, err := p(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
			continue
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := decode(b, &got); err != nil {
			t.Fatal(err)
		}
		sc.found += found(facts, leaves(got, nil, nil), func(f leaf) { t.Logf("%s: missing %v", filepath.Base(path), f) })
	}
	for _, name := range Tools() {
		sc := scores[name]
		if sc == nil {
			continue
		}
		want, ok := floor[name]
		if !ok {
			want = 100
		}
		if got := 100 * sc.found / sc.facts; got < want {
			t.Errorf("%s: found %.1f %% of %.0f facts, want %.1f %%", name, got, sc.facts, want)
		}
	}
}

// leaf is a scalar at a path of keys; "[]" stands for any list position.
type leaf struct {
	path  string
	key   string
	value string
}

func leaves(x any, path []string, all []leaf) []leaf {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			all = leaves(v, append(slices.Clone(path), k), all)
		}
	case []any:
		for _, v := range x {
			all = leaves(v, append(slices.Clone(path), "[]"), all)
		}
	default:
		key := ""
		for _, p := range path {
			if p != "[]" {
				key = p
			}
		}
		all = append(all, leaf{strings.Join(path, "/"), key, normal(x)})
	}
	return all
}

// normal makes values comparable as text: 1 is 1.0, hex digits are in lower
// case, null is null.
func normal(x any) string {
	if x == nil {
		return "null"
	}
	s := strings.ToLower(strings.TrimSpace(fmt.Sprint(x)))
	if f, err := strconv.ParseFloat(s, 64); err == nil && !strings.HasPrefix(s, "0x") && math.Abs(f) < 1<<53 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return s
}

// found counts the facts: a fact at the same path or under the same last key
// counts one, its value under another key one half.
func found(facts, got []leaf, missing func(leaf)) float64 {
	paths, keys, values := map[leaf]int{}, map[[2]string]bool{}, map[string]bool{}
	for _, g := range got {
		paths[leaf{path: g.path, value: g.value}]++
		keys[[2]string{g.key, g.value}] = true
		values[g.value] = true
	}
	sum := 0.0
	for _, f := range facts {
		at := leaf{path: f.path, value: f.value}
		switch {
		case paths[at] > 0:
			paths[at]--
			sum++
		case keys[[2]string{f.key, f.value}]:
			sum++
		case values[f.value] && !slices.Contains([]string{"true", "false", "null", "0", "1", ""}, f.value):
			sum += 0.5
		default:
			missing(f)
		}
	}
	return sum
}

func decodeFile(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return decode(b, to)
}

func decode(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(to)
}
