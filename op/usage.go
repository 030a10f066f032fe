package op

import (
	"fmt"
	"strings"
)

// UsageError is a person's mistake: shown with the accepted form and one
// example to copy, never with a stack trace.
type UsageError struct {
	// Op is the operation's name, empty when no operation was recognised.
	Op string
	// Param is the parameter at fault, empty when none is.
	Param string
	// Reason says what is wrong.
	Reason string
	// Form is the accepted form, Example one line to copy; both without the
	// leading command word.
	Form, Example string
}

// Error is one line: reason and example.
func (e *UsageError) Error() string {
	s := e.Reason
	if e.Param != "" {
		s = "-" + e.Param + ": " + s
	}
	if e.Example != "" {
		s += "; for example: " + e.Example
	}
	return s
}

func (e Entry) usageError(param, reason string) *UsageError {
	u := &UsageError{Op: e.Name, Param: param, Reason: reason, Form: e.Form()}
	if len(e.Examples) > 0 {
		u.Example = strings.TrimSpace(e.Name + " " + e.Examples[0])
	}
	return u
}

// UsageError makes a usage error of this operation for mistakes found after
// parsing, such as a host that is not in the inventory.
func (e Entry) UsageError(param, reason string) *UsageError { return e.usageError(param, reason) }

// Form is the one-line grammar: "topology draw [-format png|svg] [-hosts HOSTS]".
func (e Entry) Form() string {
	parts := []string{e.Name}
	for _, p := range e.Params {
		parts = append(parts, p.form())
	}
	return strings.Join(parts, " ")
}

func (p Param) form() string {
	value := strings.ToUpper(p.Name)
	if len(p.Choices) > 0 {
		value = strings.Join(p.Choices, "|")
	}
	s := "-" + p.Name + " " + value
	switch {
	case p.Rest:
		s = value + "…"
	case p.Positional:
		s = value
	case p.Kind == KindBool:
		s = "-" + p.Name
	}
	if !p.Required {
		s = "[" + s + "]"
	}
	return s
}

// Usage is the full help text in plain words, lines of at most about 100
// characters.
func (e Entry) Usage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s — %s\n\n  %s\n", e.Name, e.Summary, e.Form())
	if e.Detail != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(e.Detail))
	}
	if len(e.Params) > 0 {
		b.WriteString("\nParameters:\n")
	}
	for _, p := range e.Params {
		name := "-" + p.Name
		if p.Positional {
			name = strings.ToUpper(p.Name)
		}
		fmt.Fprintf(&b, "  %-14s %s", name, p.Doc)
		switch {
		case p.Required:
			b.WriteString(" (required)")
		case p.Default != "":
			fmt.Fprintf(&b, " (default %s)", p.Default)
		}
		if p.Example != "" {
			fmt.Fprintf(&b, ", such as %s", p.Example)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nExamples:\n")
	for _, ex := range e.Examples {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(e.Name+" "+ex))
	}
	switch e.Class {
	case Changes, Dangerous:
		fmt.Fprintf(&b, "\nThis operation is %s: it shows a plan first", e.Class)
		if e.Approval.Count > 0 {
			fmt.Fprintf(&b, " and waits for %d other person(s) to approve it", e.Approval.Count)
		}
		b.WriteString(".\n")
	}
	return b.String()
}
