package hostexec

import (
	"errors"
	"fmt"
	"strings"
)

// Error says what could not be done on which host, at which step, what came
// back, and what to do next.
type Error struct {
	Host    string
	Act     string // the command or act, for people
	Step    string // see Result.Step
	Outcome Outcome
	Detail  string // what came back
	Next    string // what a person does now; empty when Detail says it
	Err     error  // cause, if any
}

// Error renders one lower-case sentence.
func (e *Error) Error() string {
	var b strings.Builder
	act := e.Act
	if act == "" {
		act = "command"
	}
	fmt.Fprintf(&b, "%s on %s: %s", act, e.Host, e.Outcome)
	if e.Step != "" {
		fmt.Fprintf(&b, " at %s", e.Step)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Next != "" {
		b.WriteString("; " + e.Next)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// OutcomeOf returns the outcome carried by an error of this package, else 0.
func OutcomeOf(err error) Outcome {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return 0
}

// ErrNotAllowed is wrapped by every refusal of the allow list.
var ErrNotAllowed = errors.New("not on the allow list")

// ErrNeedsLease is wrapped when a Change was asked for without a lease.
var ErrNeedsLease = errors.New("a change needs a lease on the host")

// ErrFenced is wrapped when the host has already seen a newer lease.
var ErrFenced = errors.New("a newer lease has taken over this host")

// ErrQuarantined is wrapped when the host's key changed and no person has
// released the host yet.
var ErrQuarantined = errors.New("host is quarantined because its key changed")
