package fabric

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// HostExpr is a target expression as a person writes it: names, ranges, groups and exclusions parted by commas, for example
//
//	node[001-064,070],@rack7,!node009
//
// A range keeps the zero padding of its lower bound, one name may hold several brackets, @ names a group of the inventory and
// ! takes hosts away wherever it stands. There is no "all": a site that wants one defines a group. A HostExpr from ParseHosts,
// Set or UnmarshalText is well formed; a constant is checked when it is resolved. The zero value means "not given".
type HostExpr string

// HostExprError is a mistake in a host expression or a name in it that the inventory does not know.
type HostExprError struct {
	Expr   string // the whole expression
	Column int    // where, in runes, the first is 1
	Reason string // what is wrong and, where possible, what was meant
}

func (e *HostExprError) Error() string {
	expr := e.Expr
	if utf8.RuneCountInString(expr) > 80 {
		expr = string([]rune(expr)[:79]) + "…"
	}
	return fmt.Sprintf("hosts %q, column %d: %s", expr, e.Column, e.Reason)
}

// ParseHosts checks the form of an expression; whether its hosts exist is for Resolve. Errors are *HostExprError.
func ParseHosts(expr string) (HostExpr, error) {
	expr = strings.TrimSpace(expr)
	if _, err := parseHostTerms(expr); err != nil {
		return "", err
	}
	return HostExpr(expr), nil
}

// String returns the expression as it was written.
func (e HostExpr) String() string { return string(e) }

// Set parses text; with String it makes *HostExpr a flag.Value.
func (e *HostExpr) Set(text string) error {
	parsed, err := ParseHosts(text)
	if err != nil {
		return err
	}
	*e = parsed
	return nil
}

// MarshalText returns the expression as it was written.
func (e HostExpr) MarshalText() ([]byte, error) { return []byte(e), nil }

// UnmarshalText parses text; empty text is "not given".
func (e *HostExpr) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*e = ""
		return nil
	}
	return e.Set(string(text))
}

// ExpandPattern returns the names that one pattern with ranges, such as node[01-03] or 10.0.0.[1-3], stands for, in the order
// written. Unlike an expression it may hold anything an address may; it has no commas outside brackets, groups or exclusions.
func ExpandPattern(pattern string) ([]string, error) {
	p := hostParser{expr: pattern, rest: pattern, column: 1}
	t, err := p.pattern(func(r rune) bool { return isHostRune(r) || r == '.' || r == ':' || r == '_' })
	if err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, p.fail("one name is expected here, without %q", firstRune(p.rest))
	}
	return t.expand(), nil
}
