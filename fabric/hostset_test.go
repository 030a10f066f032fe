package fabric

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// siteHosts is a HostSource with node001 to node064, login1 and the groups the tests name.
type siteHosts struct {
	names  []string
	groups map[string][]string
}

func newSiteHosts() siteHosts {
	site := siteHosts{names: []string{"login1"}}
	for i := range 64 {
		site.names = append(site.names, fmt.Sprintf("node%03d", i+1))
	}
	site.groups = map[string][]string{
		"rack7":   {"node009", "node010", "node011"},
		"rack:r7": {"node011"},
		"empty":   {},
		"broken":  {"node999"},
	}
	return site
}

func (s siteHosts) Host(name string) bool { return slices.Contains(s.names, name) }
func (s siteHosts) Group(name string) ([]string, bool) {
	members, found := s.groups[name]
	return members, found
}
func (s siteHosts) Names() []string  { return s.names }
func (s siteHosts) Groups() []string { return []string{"rack7", "rack:r7", "empty", "broken"} }

func TestResolve(t *testing.T) {
	tests := []struct{ name, expr, want string }{
		{"one", "node001", "node001"},
		{"range", "node[001-004]", "node[001-004]"},
		{"design_example", "node[001-010,012],@rack7,!node009", "node[001-008,010-012]"},
		{"exclusion_first", "!node002,node[001-003]", "node[001,003]"},
		{"exclude_group", "node[008-012],!@rack7", "node[008,012]"},
		{"implicit_group", "@rack:r7", "node011"},
		{"group_range", "@rack[7-7]", "node[009-011]"},
		{"spaces", "  node001 , node003 ", "node[001,003]"},
		{"twice", "node001,node001,node[001-002]", "node[001-002]"},
		{"exclude_what_was_not_meant", "node001,!node002", "node001"},
		{"several_brackets", "node0[0-1][1-2]", "node[001-002,011-012]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := HostExpr(tt.expr).Resolve(newSiteHosts())
			if err != nil {
				t.Fatal(err)
			}
			if got := set.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	tests := []struct {
		name, expr string
		column     int
		reason     string
	}{
		{"empty", "", 1, "no host given"},
		{"blank", "  ", 1, "no host given"},
		{"only_exclusions", "!node001", 1, "no implicit all"},
		{"nothing_left", "node001,!node001", 1, "no host is left"},
		{"padding_forgotten", "node001,node17", 9, "unknown host node17, did you mean node017?"},
		{"typo", "ndoe005", 1, "did you mean node005?"},
		{"far_away", "storage", 1, "unknown host storage"},
		{"unknown_in_range", "node[060-070]", 1, "6 unknown hosts: node[065-070]"},
		{"unknown_excluded", "node[001-004],!node99", 15, "unknown host node99"},
		{"unknown_group", "node001,@rack8", 9, "unknown group @rack8, did you mean @rack7?"},
		{"empty_group", "@empty", 1, "group @empty has no hosts"},
		{"group_of_strangers", "@broken", 1, `group @broken names the unknown host "node999"`},
		{"backwards", "node[9-1]", 6, "runs backwards"},
		{"padding_differs", "node[1-064]", 6, "pads its ends differently"},
		{"padding_shrinks", "node[001-64]", 6, "pads its ends differently"},
		{"no_number", "node[]", 6, "a number is missing"},
		{"half_range", "node[1-]", 8, "a number is missing"},
		{"letters_in_range", "node[a-f]", 6, "a number is missing"},
		{"open_bracket", "node[1-2", 9, "ends with ]"},
		{"closing_only", "node1]", 6, `']' is not allowed`},
		{"wildcard", "node*", 5, `'*' is not allowed`},
		{"trailing_comma", "node001,", 9, "a name is missing"},
		{"double_comma", "node001,,node002", 9, "a name is missing"},
		{"no_comma", "node001 node002", 9, "a comma is expected"},
		{"bare_group", "@", 2, "a name is missing"},
		{"bare_exclusion", "node001,!", 10, "a name is missing"},
		{"double_exclusion", "node001,!!node002", 10, "a second !"},
		{"shell", "node001;reboot", 8, `';' is not allowed`},
		{"option", "-oProxyCommand=x", 15, `'=' is not allowed`},
		{"leading_hyphen", "-node", 1, "begins or ends with a hyphen"},
		{"path", "../etc", 3, `'/' is not allowed`},
		{"newline", "node001\nnode002", 8, "is not allowed"},
		{"too_many", "node[1-100001]", 14, "more than 100000 names"},
		{"too_many_by_product", "n[1-1000]x[1-1000]", 19, "more than 100000 names"},
		{"too_many_by_terms", "n[1-60000],m[1-60000]", 12, "more than 100000 names"},
		{"huge_bounds", "n[1-999999999999999999]", 23, "more than 100000 names"},
		{"too_many_digits", "n[1-9999999999999999999]", 3, "more than 18 digits"},
		{"long_name", strings.Repeat("a", 64), 1, "a part of 64 octets"},
		{"long_times_many", strings.Repeat("a", 300) + "[1-99999]", 301, "more than 253 octets"},
		{"not_ascii", "nodé1", 4, `'é' is not allowed`},
		{"not_utf8", "node\xff", 5, "is not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := HostExpr(tt.expr).Resolve(newSiteHosts())
			var exprErr *HostExprError
			if !errors.As(err, &exprErr) {
				t.Fatalf("got %v and error %v, want a *HostExprError", set, err)
			}
			if exprErr.Column != tt.column || !strings.Contains(exprErr.Reason, tt.reason) {
				t.Errorf("got column %d: %s\nwant column %d: …%s…", exprErr.Column, exprErr.Reason, tt.column, tt.reason)
			}
		})
	}
}

func TestFold(t *testing.T) {
	tests := []struct {
		name  string
		hosts []string
		want  string
	}{
		{"none", nil, ""},
		{"one_keeps_its_number", []string{"node017"}, "node017"},
		{"padding_kept", []string{"n010", "n009", "n011"}, "n[009-011]"},
		{"no_padding", []string{"n9", "n10", "n11"}, "n[9-11]"},
		{"grows_out_of_padding", []string{"n099", "n100", "n101"}, "n[099-101]"},
		{"natural_order", []string{"n10", "n2"}, "n[2,10]"},
		{"mixed_padding", []string{"n1", "n01", "n2"}, "n[1,01,2]"},
		{"rectangle", []string{"r1n1", "r1n2", "r2n1", "r2n2"}, "r[1-2]n[1-2]"},
		{"first_number_folds_better", []string{"r1n1", "r2n1", "r3n1", "r1n2"}, "r[1-3]n1,r1n2"},
		{"domain", []string{"n1.ib.example", "n2.ib.example"}, "n[1-2].ib.example"},
		{"addresses", []string{"10.0.0.1", "10.0.0.2"}, "10.0.0.[1-2]"},
		{"plain_names", []string{"beta", "alpha"}, "alpha,beta"},
		{"number_beyond_a_range", []string{"n1234567890123456789", "n1234567890123456790"}, "n1234567890123456789,n1234567890123456790"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := NewHostSet(tt.hosts...)
			if err != nil {
				t.Fatal(err)
			}
			if got := set.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Whatever the set, its text means exactly its hosts.
func TestFoldReadsBack(t *testing.T) {
	name := rapid.StringMatching(`[ab]{0,2}[0-9]{1,3}([a-c][0-9]{1,2})?(\.ib[0-2])?`)
	rapid.Check(t, func(t *rapid.T) {
		set, err := NewHostSet(rapid.SliceOfN(name, 0, 60).Draw(t, "names")...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		var back HostSet
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !back.Equal(set) {
			t.Fatalf("%s reads back as %v, want %v", text, back.Names(), set.Names())
		}
	})
}

func TestSetOperations(t *testing.T) {
	set := func(expr string) HostSet {
		var s HostSet
		if err := s.UnmarshalText([]byte(expr)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := set("n[1-4]"), set("n[3-6]")
	for _, tt := range []struct {
		name string
		got  HostSet
		want string
	}{
		{"union", a.Union(b), "n[1-6]"},
		{"minus", a.Minus(b), "n[1-2]"},
		{"intersect", a.Intersect(b), "n[3-4]"},
		{"intersect_nothing", a.Intersect(set("m1")), ""},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	if got := fmt.Sprint(set("n[1-5]").Chunks(2)); got != "[n[1-2] n[3-4] n5]" {
		t.Errorf("chunks of 2: got %s", got)
	}
	if got := a.Chunks(0); got != nil {
		t.Errorf("chunks of 0: got %v, want none", got)
	}
	if !a.Contains("n4") || a.Contains("n5") || a.Contains("n04") {
		t.Error("Contains is wrong for n4, n5 or n04")
	}
}

func TestHostSetTextRefuses(t *testing.T) {
	for _, text := range []string{"@rack7", "n1,!n2", "n[2-1]", "n1,"} {
		var s HostSet
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s: got %v, want an error", text, s)
		}
	}
	if set, err := NewHostSet("good", "bad name"); err == nil {
		t.Errorf("a name with a space: got %v, want an error", set)
	}
}

func TestHostExprIsAFlagAndText(t *testing.T) {
	var input struct {
		Hosts HostExpr `json:"hosts"`
	}
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.SetOutput(new(strings.Builder))
	flags.Var(&input.Hosts, "hosts", "")
	if err := flags.Parse([]string{"-hosts", " node[001-003],!node002 "}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"hosts":"node[001-003],!node002"}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if err := flags.Parse([]string{"-hosts", "node[3-1]"}); err == nil {
		t.Error("the flag took a range that runs backwards")
	}
	if err := json.Unmarshal([]byte(`{"hosts":"node["}`), &input); err == nil {
		t.Error("JSON brought in half a bracket")
	}
	if err := json.Unmarshal([]byte(`{"hosts":""}`), &input); err != nil || input.Hosts != "" {
		t.Errorf("empty text: got %q and error %v, want the zero value", input.Hosts, err)
	}
}

func TestExpandPattern(t *testing.T) {
	got, err := ExpandPattern("10.0.[1-2].[9-10]")
	if want := []string{"10.0.1.9", "10.0.1.10", "10.0.2.9", "10.0.2.10"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "a,b", "a b", "!a", "@a", "a[1-"} {
		if got, err := ExpandPattern(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	for _, seed := range []string{
		"node[001-064,070],@rack7,!node009", "n[1-2]x[3-4]", "10.0.0.[1-9]", "@rack:r[1-3]", "a,!b", "n[9-1]", "n[", "é", "n[00-099]", "n[1,01,2]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		expr, err := ParseHosts(text)
		if err != nil {
			var exprErr *HostExprError
			if !errors.As(err, &exprErr) || exprErr.Column < 1 {
				t.Fatalf("error %v is not a *HostExprError with a column", err)
			}
			return
		}
		var set, back HostSet
		if set.UnmarshalText([]byte(expr)) != nil {
			return // groups and exclusions
		}
		if set.Empty() || set.Len() > MaxHosts {
			t.Fatalf("%q stands for %d hosts", text, set.Len())
		}
		if err := back.UnmarshalText([]byte(set.String())); err != nil || !back.Equal(set) {
			t.Fatalf("%q folds to %q, which does not read back: %v", text, set.String(), err)
		}
	})
}
