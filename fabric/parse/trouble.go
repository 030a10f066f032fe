package parse

import (
	"fmt"
	"strings"
)

// Trouble is what a tool said about its own failure. Every report embeds it.
type Trouble struct {
	// Error is the reason the tool gave for having failed, in its own words.
	Error string `json:"error,omitempty"`
	// Messages are the whole lines in which the tool complained.
	Messages []string `json:"messages,omitempty"`
	// Warnings is how many of them were warnings only.
	Warnings int `json:"warnings,omitempty"`
	// Incomplete says that the text ended or broke in the middle, so that what
	// is missing from the report may still exist.
	Incomplete bool `json:"incomplete,omitempty"`
}

// ToolError is a failure that the tool itself reported, in its own words:
// text of a host, which is not safe to show unescaped.
type ToolError struct{ Reason string }

// Error says so.
func (e *ToolError) Error() string { return "the tool reported: " + e.Reason }

// Failed returns a *ToolError when the tool reported one, else nil.
func (t Trouble) Failed() error {
	if t.Error == "" {
		return nil
	}
	return &ToolError{t.Error}
}

// mostMessages bounds how many complaints a report keeps: a fabric that times
// out everywhere must not turn into a report as large as the text.
const mostMessages = 1000

// complained looks for the ways in which the infiniband-diags, libibverbs and
// the shell report failure, and takes the line if it is one.
func (t *Trouble) complained(line string) bool {
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "ibwarn:"):
		if strings.Contains(trimmed, "sim_connect: attached") {
			return true // the simulator's greeting, printed by every client
		}
		t.Warnings++
	case strings.HasPrefix(trimmed, "ibpanic:"):
		t.Error = lastReason(trimmed)
	case strings.Contains(trimmed, "iberror: "):
		_, why, _ := strings.Cut(trimmed, "iberror: ")
		if _, after, ok := strings.Cut(why, "failed: "); ok {
			why = after
		}
		t.Error = why
	case strings.Contains(trimmed, "Query SA failed"), strings.HasPrefix(trimmed, "Failed to "),
		strings.HasPrefix(trimmed, "failed to "), strings.HasPrefix(trimmed, "Fatal error:"),
		strings.HasPrefix(trimmed, "No IB devices found"), strings.HasPrefix(trimmed, "discover failed"),
		strings.HasPrefix(trimmed, "sa_get_handle:"), strings.HasPrefix(trimmed, "Couldn't "),
		strings.HasPrefix(trimmed, "can't "):
		t.Error = strings.TrimSpace(strings.TrimPrefix(trimmed, "Fatal error:"))
	case strings.HasSuffix(trimmed, "command not found"), strings.HasSuffix(trimmed, ": not found"),
		strings.HasSuffix(trimmed, ": Permission denied"), strings.HasSuffix(trimmed, ": No such file or directory"):
		t.Error = lastReason(trimmed)
	case strings.Contains(trimmed, "; Connection timed out"):
		// umad's own timeout line: SRC:LINE; umad (…) bad status 110; …
	default:
		return false
	}
	if len(t.Messages) < mostMessages {
		t.Messages = append(t.Messages, trimmed)
	}
	return true
}

// lastReason takes the strerror text from the end of "a: b: reason".
func lastReason(line string) string {
	if i := strings.LastIndex(line, ": "); i >= 0 {
		line = line[i+2:]
	}
	return strings.Trim(line, "()")
}

// ended closes a report: it says whether the text was understood, and carries
// over what the scanner noticed. known is whether anything was recognised.
func (t *Trouble) ended(s *lines, known bool) error {
	if s.err != nil {
		return fmt.Errorf("line %d: %w", s.n, s.err)
	}
	if s.cut {
		t.Incomplete = true
	}
	if known || t.Error != "" || len(t.Messages) > 0 {
		return nil
	}
	if s.n == 0 {
		return fmt.Errorf("%w: the text is empty", ErrNotUnderstood)
	}
	return fmt.Errorf("%w in %d lines", ErrNotUnderstood, s.n)
}
