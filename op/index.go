package op

import (
	"fmt"
	"sort"
	"strings"
)

// Index finds operations by the words a person typed.
type Index struct {
	entries []Entry
	byName  map[string]Entry
}

// NewIndex builds an index; the entries are kept sorted by name. Two entries
// of one name or an invalid declaration are programming errors and reported.
func NewIndex(entries []Entry) (*Index, error) {
	x := &Index{byName: map[string]Entry{}}
	for _, e := range entries {
		if err := e.Validate(); err != nil {
			return nil, err
		}
		if _, ok := x.byName[e.Name]; ok {
			return nil, fmt.Errorf("operation %q is declared twice", e.Name)
		}
		x.byName[e.Name] = e
		x.entries = append(x.entries, e)
	}
	sort.Slice(x.entries, func(i, j int) bool { return x.entries[i].Name < x.entries[j].Name })
	return x, nil
}

// Entries returns all operations sorted by name.
func (x *Index) Entries() []Entry { return x.entries }

// Lookup finds an operation by its exact name.
func (x *Index) Lookup(name string) (Entry, bool) {
	e, ok := x.byName[name]
	return e, ok
}

// Resolve splits typed words into the operation and the words after its name.
// The error is a [*UsageError] with the nearest operation's name.
func (x *Index) Resolve(words []string) (Entry, []string, error) {
	if len(words) == 0 {
		return Entry{}, nil, &UsageError{Reason: "say what to do", Form: "NOUN VERB …", Example: "help"}
	}
	for n := min(2, len(words)); n > 0; n-- {
		if e, ok := x.byName[strings.ToLower(strings.Join(words[:n], " "))]; ok {
			return e, words[n:], nil
		}
	}
	return Entry{}, nil, x.unknown(words)
}

func (x *Index) unknown(words []string) *UsageError {
	typed := words[0]
	verbs := x.verbs(strings.ToLower(words[0]))
	if len(verbs) > 0 {
		if len(words) == 1 {
			return &UsageError{Reason: fmt.Sprintf("%s needs a verb: %s", words[0], strings.Join(verbs, ", ")), Example: words[0] + " " + verbs[0]}
		}
		typed = words[0] + " " + words[1]
	} else if len(words) > 1 && !strings.HasPrefix(words[1], "-") {
		typed = words[0] + " " + words[1]
	}
	names := make([]string, len(x.entries))
	for i, e := range x.entries {
		names[i] = e.Name
	}
	u := &UsageError{Reason: fmt.Sprintf("unknown operation %q", clip(typed, 60)), Example: "help"}
	if near := Nearest(strings.ToLower(typed), names); near != "" {
		u.Reason += fmt.Sprintf(", did you mean %q?", near)
		u.Example = strings.TrimSpace(near + " " + x.byName[near].Examples[0])
	} else if len(verbs) > 0 {
		u.Reason += fmt.Sprintf("; %s has %s", words[0], strings.Join(verbs, ", "))
		u.Example = words[0] + " " + verbs[0]
	}
	return u
}

func (x *Index) verbs(noun string) []string {
	var verbs []string
	for _, e := range x.entries {
		if n, verb, ok := strings.Cut(e.Name, " "); ok && n == noun {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

func clip(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:runes]) + "…"
	}
	return s
}
