package parse

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNotUnderstood is returned for a text in which a parser recognised
// nothing: neither the tool's output nor its way of reporting failure.
var ErrNotUnderstood = errors.New("nothing of this tool's output recognised")

// parsers is filled before main by the package-level calls of tool and only
// read afterwards.
var parsers = map[string]func(io.Reader) (any, error){}

// tool registers a parser under the names by which people call the tool.
func tool[T any](parse func(io.Reader) (T, error), names ...string) struct{} {
	for _, name := range names {
		if _, taken := parsers[name]; taken {
			panic("parse: two parsers for " + name)
		}
		parsers[name] = func(r io.Reader) (any, error) {
			v, err := parse(r)
			if err != nil {
				return nil, fmt.Errorf("parsing the output of %s: %w", name, err)
			}
			return v, nil
		}
	}
	return struct{}{}
}

// Tool returns the parser for a tool, named as people call it with the words
// that change its output ("ibstat", "ibnetdiscover -p"). Its value marshals
// to one JSON object.
func Tool(name string) (func(io.Reader) (any, error), bool) {
	p, ok := parsers[name]
	return p, ok
}

// Tools returns the names that Tool knows, sorted.
func Tools() []string {
	names := make([]string, 0, len(parsers))
	for name := range parsers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
