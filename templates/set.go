package templates

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed messages/*.tmpl
var messages embed.FS

const baseFile = "messages/_base.tmpl"

// Data is what a block is rendered from.
type Data struct {
	// View is the run's view (activities.View).
	View any
	// Result is the run's result: its own type where the program knows it,
	// otherwise its decoded JSON object, nil before there is one.
	Result any
}

// Set holds all templates in all dialects. It is safe for concurrent use.
type Set struct {
	ops  map[Dialect]map[string]*template.Template
	base map[Dialect]*template.Template
}

// New reads the embedded templates. An error is a mistake in a template file.
func New() (*Set, error) { return newSet(messages) }

func newSet(files fs.FS) (*Set, error) {
	s := &Set{ops: map[Dialect]map[string]*template.Template{}, base: map[Dialect]*template.Template{}}
	names, err := fs.Glob(files, "messages/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("listing message templates: %w", err)
	}
	for _, d := range []Dialect{Slack, Plain} {
		base, err := parseFile(files, template.New("messages").Funcs(d.funcs()).Option("missingkey=zero"), baseFile)
		if err != nil {
			return nil, err
		}
		s.ops[d] = map[string]*template.Template{}
		for _, name := range names {
			if name == baseFile {
				continue
			}
			own, err := base.Clone()
			if err != nil {
				return nil, fmt.Errorf("copying the base for %s: %w", name, err)
			}
			if own, err = parseFile(files, own, name); err != nil {
				return nil, err
			}
			escapeAll(own, d)
			s.ops[d][strings.TrimSuffix(path.Base(name), ".tmpl")] = own
		}
		escapeAll(base, d)
		s.base[d] = base
	}
	return s, nil
}

// parseFile cuts comments and the blank lines between definitions by parsing
// only named blocks: text outside of any block is never rendered.
func parseFile(files fs.FS, into *template.Template, name string) (*template.Template, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("reading message template %s: %w", name, err)
	}
	t, err := into.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("parsing message template %s: %w", name, err)
	}
	return t, nil
}

// escapeAll rewrites a set that shares its trees with no other: Clone copies
// the trees.
func escapeAll(t *template.Template, d Dialect) {
	for _, part := range t.Templates() {
		part.Tree = part.Tree.Copy()
		escapeTree(part.Tree, d)
	}
}

// ErrNoBlock reports a block that neither the operation nor the base has.
var ErrNoBlock = errors.New("no such message block")

// maxRendered bounds one rendered block in bytes; surfaces cut far below it.
const maxRendered = 256 << 10

// Render gives the words of one block of an operation (by its slug, such as
// "topology-backup"); operations without a file of their own have the base's
// words. Surrounding blank space is cut.
func (s *Set) Render(d Dialect, slug, block string, data any) (string, error) {
	base, ok := s.base[d]
	if !ok {
		return "", fmt.Errorf("rendering %s of %s: unknown dialect %q", block, slug, d)
	}
	t := base
	if own, ok := s.ops[d][slug]; ok {
		t = own
	}
	if t.Lookup(block) == nil {
		return "", fmt.Errorf("rendering %s of %s: %w", block, slug, ErrNoBlock)
	}
	out, err := run(t, block, data)
	if err != nil && t != base && base.Lookup(block) != nil {
		// A result of another version lacks what the operation's own words
		// name; the base knows only what every result has.
		out, err = run(base, block, data)
	}
	if err != nil {
		return "", fmt.Errorf("rendering %s of %s: %w", block, slug, err)
	}
	return out, nil
}

func run(t *template.Template, block string, data any) (string, error) {
	var out limited
	if err := t.ExecuteTemplate(&out, block, data); err != nil && !errors.Is(err, io.ErrShortWrite) {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// Slugs lists the operations that have words of their own.
func (s *Set) Slugs() []string {
	var slugs []string
	for slug := range s.ops[Slack] {
		slugs = append(slugs, slug)
	}
	return slugs
}

// limited stops a template that runs over a very large result.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxRendered {
		return 0, io.ErrShortWrite
	}
	return l.Builder.Write(p)
}
