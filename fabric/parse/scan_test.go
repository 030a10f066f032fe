package parse

import (
	"slices"
	"strings"
	"testing"
)

func TestLinesAreCleaned(t *testing.T) {
	in := "plain\r\n\x1b[1;32mState:\x1b[0m Active  \t\n\x1b]0;title\x07prompt$ \n10%\r50%\r100%\n\nlast"
	want := []string{"plain", "State: Active", "prompt$", "100%", "", "last"}
	s := newLines(strings.NewReader(in))
	var got []string
	for line, ok := s.text(); ok; line, ok = s.text() {
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLinesAreBounded(t *testing.T) {
	s := newLines(strings.NewReader(strings.Repeat("x", 3*longestLine) + "\nnext\n"))
	line, _ := s.text()
	if len(line) != longestLine || !s.cut {
		t.Errorf("got %d bytes, cut %v", len(line), s.cut)
	}
	if line, ok := s.text(); !ok || line != "next" {
		t.Errorf("got %q after the long line", line)
	}
}

func TestDottedFields(t *testing.T) {
	for in, want := range map[string]Field{
		"LinkState:.......................Active":   {"LinkState", "Active"},
		"Node Description:........host.example.com": {"Node Description", "host.example.com"},
		"\t\tMlid....................0xC004":        {"Mlid", "0xC004"},
		"McastPkeyTrapSuppressionEnabled:.0":        {"McastPkeyTrapSuppressionEnabled", "0"},
		"NodeDescription.........":                  {"NodeDescription", ""},
	} {
		if got, ok := dotted(in); !ok || got != want {
			t.Errorf("dotted(%q) = %q, %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "...", "host.example.com", "a sentence. Another.", ".x"} {
		if got, ok := dotted(in); ok {
			t.Errorf("dotted(%q) = %q, want none", in, got)
		}
	}
}
