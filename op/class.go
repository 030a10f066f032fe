package op

import "fmt"

// Class says what an operation may do to a site. It decides whether a plan, an
// approval and a lease stand between the words and the act.
type Class uint8

const (
	// Control operations steer runs and the bot itself (runs, approve, freeze,
	// help). They start no workflow of their own.
	Control Class = iota
	// ReadOnly operations look and never alter a host or the fabric.
	ReadOnly
	// Changes marks operations that alter or load hosts: plan, gate, lease.
	Changes
	// Dangerous is Changes plus a typed confirmation above the site's threshold
	// and always a second person.
	Dangerous
)

var classNames = [...]string{"control", "read-only", "changes", "dangerous"}

// String gives the word used in help, docs and the catalog.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", c)
}

// MarshalText writes the word of String.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the word of String.
func (c *Class) UnmarshalText(b []byte) error {
	for i, n := range classNames {
		if n == string(b) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("unknown operation class %q", b)
}

// NeedsPlan reports whether runs of the class are planned, gated and leased.
func (c Class) NeedsPlan() bool { return c >= Changes }
