package op

import (
	"fmt"
	"strings"
	"time"
)

// Approval says how many people other than the requester must agree and how
// long the request stays open. Who may approve is the site's configuration.
type Approval struct {
	// Count of distinct approvers; zero means the operation needs none.
	Count int `json:"count"`
	// Wait is the time after which an undecided request is denied; zero means
	// the site's approval window.
	Wait time.Duration `json:"wait,omitempty"`
}

// Spec declares one operation whose input is In.
type Spec[In any] struct {
	// Name is noun and verb in lower case, "topology backup".
	Name string
	// Summary is one line without a full stop, in the imperative.
	Summary string
	// Detail is what help and docs add to the summary: plain paragraphs.
	Detail   string
	Class    Class
	Approval Approval
	// Examples are the words after the name; the first one is shown with every
	// usage error. A test parses them all.
	Examples []string
	// Params binds parameters to the fields of a zero In.
	Params func(p *Params, in *In)
	// Check judges the parameters together, after each was read.
	Check func(in In) error
}

// Entry is a Spec with its input type erased, as catalogs hold it.
type Entry struct {
	Name     string   `json:"name"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail,omitempty"`
	Class    Class    `json:"class"`
	Approval Approval `json:"approval"`
	Examples []string `json:"examples"`
	Params   []Param  `json:"params"`

	parse func(e Entry, words []string) (any, error)
}

// Entry erases the input type.
func (s Spec[In]) Entry() Entry {
	e := Entry{
		Name: s.Name, Summary: s.Summary, Detail: s.Detail, Class: s.Class,
		Approval: s.Approval, Examples: s.Examples,
	}
	var in In
	e.Params = s.bind(&in).list
	e.parse = func(e Entry, words []string) (any, error) {
		var in In
		if err := s.bind(&in).read(e, words); err != nil {
			return nil, err
		}
		if s.Check != nil {
			if err := s.Check(in); err != nil {
				return nil, e.usageError("", err.Error())
			}
		}
		return in, nil
	}
	return e
}

func (s Spec[In]) bind(in *In) *Params {
	p := &Params{}
	if s.Params != nil {
		s.Params(p, in)
	}
	return p
}

// Parse reads the words after the operation's name into its input value (of
// the Spec's In type, not a pointer). The error is a [*UsageError].
func (e Entry) Parse(words []string) (any, error) { return e.parse(e, words) }

// Slug is the name as one file-name-safe word: "topology-backup".
func (e Entry) Slug() string { return strings.ReplaceAll(e.Name, " ", "-") }

// Noun is the first word of the name.
func (e Entry) Noun() string {
	noun, _, _ := strings.Cut(e.Name, " ")
	return noun
}

// unfitEndings are file-name endings which the Go tool reads as a test or as a
// build constraint: an operation named so would silently leave the build.
var unfitEndings = []string{
	"test", "linux", "windows", "darwin", "freebsd", "openbsd", "netbsd", "solaris", "aix", "android", "ios", "js", "plan9",
	"wasip1", "amd64", "arm64", "arm", "386", "ppc64", "ppc64le", "riscv64", "s390x", "wasm", "mips", "loong64",
}

// Validate reports the first mistake in the declaration itself.
func (e Entry) Validate() error {
	words := strings.Fields(e.Name)
	if len(words) == 0 || len(words) > 2 || strings.Join(words, " ") != e.Name || strings.ToLower(e.Name) != e.Name {
		return fmt.Errorf("operation %q: a name is one or two lower-case words", e.Name)
	}
	for _, end := range unfitEndings {
		if len(words) == 2 && words[1] == end {
			return fmt.Errorf("operation %q: a file ending in _%s would leave the build", e.Name, end)
		}
	}
	if e.Summary == "" || strings.HasSuffix(e.Summary, ".") {
		return fmt.Errorf("operation %q: a summary is one line without a full stop", e.Name)
	}
	if len(e.Examples) == 0 {
		return fmt.Errorf("operation %q: needs an example", e.Name)
	}
	if e.Class == Dangerous && e.Approval.Count < 1 {
		return fmt.Errorf("operation %q: a dangerous operation names an approval", e.Name)
	}
	seen := map[string]bool{}
	for _, p := range e.Params {
		if seen[p.Name] {
			return fmt.Errorf("operation %q: parameter %s is declared twice", e.Name, p.Name)
		}
		seen[p.Name] = true
	}
	for _, ex := range e.Examples {
		words, err := Split(ex)
		if err == nil {
			_, err = e.Parse(words)
		}
		if err != nil {
			return fmt.Errorf("operation %q: example %q: %w", e.Name, ex, err)
		}
	}
	return nil
}
