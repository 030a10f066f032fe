package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// minLearned is the shortest value Learn accepts, in octets: anything shorter would tear holes in ordinary text.
const minLearned = 6

// minLearnedLine is the shortest line of a learned value of several lines that is also hidden on its own.
const minLearnedLine = 16

// Redactor takes secrets out of text. It is safe for concurrent use; the zero value knows the built-in patterns only.
type Redactor struct {
	extra []*regexp.Regexp

	mu      sync.RWMutex
	learned []string // longest first
	exact   *strings.Replacer
}

// New returns a Redactor that hides, besides what it knows already, every match of the given RE2 patterns. Where a pattern has
// groups, only what the groups matched is hidden.
func New(patterns ...string) (*Redactor, error) {
	r := new(Redactor)
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("redaction pattern %q: %w", p, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("redaction pattern %q matches empty text, so it would match everywhere", p)
		}
		r.extra = append(r.extra, re)
	}
	return r, nil
}

// Learn hides value from now on, also where it appears as base64, in a URL or inside JSON. It says whether it did: values of
// fewer than six octets are too short to be told from ordinary text.
func (r *Redactor) Learn(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) < minLearned {
		return false
	}
	forms := []string{
		value, Clean(value), url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minLearnedLine {
				forms = append(forms, line)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learned = append(r.learned, forms...)
	// A Replacer prefers, at one place, the pair given first, so the longest must come first.
	slices.SortFunc(r.learned, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	r.learned = slices.Compact(r.learned)
	pairs := make([]string, 0, 2*len(r.learned))
	for _, form := range r.learned {
		pairs = append(pairs, form, mark("secret"))
	}
	r.exact = strings.NewReplacer(pairs...)
	return true
}

// Resolve calls resolve and learns what it returns, so that a secret is hidden before anyone can print it.
func (r *Redactor) Resolve(resolve func() (string, error)) (string, error) {
	value, err := resolve()
	if err == nil {
		r.Learn(value)
	}
	return value, err
}

// String returns text without control codes and without secrets.
func (r *Redactor) String(text string) string {
	// Control codes go first: a colour change in the middle must not save a token from being seen.
	text = Clean(text)
	r.mu.RLock()
	exact := r.exact
	r.mu.RUnlock()
	if exact != nil {
		text = exact.Replace(text)
	}
	text = hideKnown(text)
	for _, re := range r.extra {
		text = hideMatches(re, text)
	}
	return text
}

// Bytes does for octets what String does for text.
func (r *Redactor) Bytes(text []byte) []byte { return []byte(r.String(string(text))) }

// hideMatches hides what the groups of re matched, or the whole match where there is no group.
func hideMatches(re *regexp.Regexp, text string) string {
	matches := re.FindAllStringSubmatchIndex(text, -1)
	if matches == nil {
		return text
	}
	var b strings.Builder
	done := 0
	for _, m := range matches {
		spans := m[2:]
		if len(spans) == 0 {
			spans = m[:2]
		}
		for i := 0; i < len(spans); i += 2 {
			// A group that did not match has -1; a group inside an earlier one is hidden already.
			if spans[i] < done || spans[i] == spans[i+1] {
				continue
			}
			b.WriteString(text[done:spans[i]])
			b.WriteString(mark("pattern"))
			done = spans[i+1]
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

func mark(what string) string { return "[redacted " + what + "]" }
