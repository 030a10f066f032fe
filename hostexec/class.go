package hostexec

import "fmt"

// Class says what a command does to the host it runs on.
type Class uint8

const (
	// Look reads and leaves the host as it was.
	Look Class = iota + 1
	// Change alters the host, its adapters or the fabric, or loads them so
	// that other users notice. It needs a Lease.
	Change
)

// String returns "look" or "change".
func (c Class) String() string {
	switch c {
	case Look:
		return "look"
	case Change:
		return "change"
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}
