package hostexec

import "fmt"

// Outcome says how an attempt to run something on a host ended. The six are
// kept apart because each calls for another next step.
type Outcome uint8

const (
	// OK: the program ran and exited 0. Many fabric tools exit 0 without
	// having worked, so the caller still has to read the output.
	OK Outcome = iota + 1
	// Unreachable: no connection came about; nothing ran. Safe to retry.
	Unreachable
	// Refused: the host, or this program, said no (login, host key, sudo,
	// allow list, fencing token); nothing ran. A retry brings the same answer.
	Refused
	// Failed: the program ran and ended with a status other than 0, or was
	// killed by a signal or on the caller's request.
	Failed
	// TimedOut: a time-out named by Step ran out. If a program had started, its
	// process tree was killed unless Result.Remains says otherwise.
	TimedOut
	// Lost: the connection broke after the program may have started; nobody
	// knows whether it ran to its end. Never repeat a change after this
	// without looking first.
	Lost
)

var outcomeNames = [...]string{OK: "ok", Unreachable: "unreachable", Refused: "refused", Failed: "failed", TimedOut: "timed out", Lost: "lost"}

// String returns the words used in messages, for example "timed out".
func (o Outcome) String() string {
	if o >= OK && int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) {
	if o == 0 {
		return nil, nil
	}
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("outcome %d has no name", uint8(o))
	}
	return []byte(outcomeNames[o]), nil
}

// UnmarshalText reads the name.
func (o *Outcome) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*o = 0
		return nil
	}
	for i, n := range outcomeNames {
		if i > 0 && n == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", text)
}
