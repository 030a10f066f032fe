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
	// Param is the parameter at fault, empty when none is; Shown is how it
	// stands in the form: "-hosts", or "RUN" where it is given by place.
	Param, Shown string
	// Reason says what is wrong.
	Reason string
	// Form is the accepted form, Example one line to copy; both without the
	// leading command word.
	Form, Example string
}

// Error is one line: reason and example.
func (e *UsageError) Error() string {
	s := e.What()
	if e.Example != "" {
		s += "; for example: " + e.Example
	}
	return s
}

// What says what is wrong and where, without form and example: "RUN is
// missing", `-most: "x" is not a whole number`.
func (e *UsageError) What() string {
	shown := e.Shown
	if shown == "" && e.Param != "" {
		shown = "-" + e.Param
	}
	switch {
	case shown == "":
		return e.Reason
	case strings.HasPrefix(e.Reason, "is "), strings.HasPrefix(e.Reason, "needs "):
		return shown + " " + e.Reason
	}
	return shown + ": " + e.Reason
}

func (e Entry) usageError(param, reason string) *UsageError {
	u := &UsageError{Op: e.Name, Param: param, Reason: reason, Form: e.Form()}
	for _, p := range e.Params {
		if p.Name == param {
			u.Shown = p.shown()
		}
	}
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

// shown is the parameter's name in forms and help.
func (p Param) shown() string {
	if p.Positional {
		return strings.ToUpper(p.Name)
	}
	return "-" + p.Name
}

// lineWidth is how long lines of help become, in characters.
const lineWidth = 90

// Usage is the full help text in plain words, lines of at most about 100
// characters.
func (e Entry) Usage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s — %s\n\n  %s\n", e.Name, e.Summary, e.Form())
	if e.Detail != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(strings.TrimSpace(e.Detail), lineWidth))
	}
	if len(e.Params) > 0 {
		fmt.Fprintf(&b, "\nParameters:\n%s", e.ParamHelp())
	}
	b.WriteString("\nExamples:\n")
	for _, ex := range e.Examples {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(e.Name+" "+ex))
	}
	if c := e.Consequence(); c != "" {
		fmt.Fprintf(&b, "\n%s\n", wrap(c, lineWidth))
	}
	return b.String()
}

// ParamHelp is one line per parameter, each indented by two blanks.
func (e Entry) ParamHelp() string {
	var b strings.Builder
	for _, p := range e.Params {
		fmt.Fprintf(&b, "  %-14s %s", p.shown(), p.Doc)
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
	return b.String()
}

// Consequence is a sentence about plan and approval, empty where neither is
// asked for.
func (e Entry) Consequence() string {
	if e.Class != Changes && e.Class != Dangerous {
		return ""
	}
	s := fmt.Sprintf("This operation is %s: it shows a plan first", e.Class)
	switch n := e.Approval.Count; {
	case n == 1:
		s += " and waits for another person to approve it"
	case n > 1:
		s += fmt.Sprintf(" and waits for %d other people to approve it", n)
	}
	return s + "."
}

// wrap breaks paragraphs at blanks so that lines fit where one word does.
func wrap(text string, width int) string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
				lines, line = append(lines, line), word
				continue
			}
			line = strings.TrimSpace(line + " " + word)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
