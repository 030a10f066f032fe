package fabric

import "fmt"

// SMState is the state of a subnet manager.
type SMState uint8

// The states carry the numbers of the SMInfo attribute (IBTA specification
// volume 1, section 14.2.5.13), which sminfo prints.
const (
	SMNotActive SMState = iota
	SMDiscovering
	SMStandby
	SMMaster
)

var smStateNames = [...]string{"NOTACTIVE", "DISCOVERING", "STANDBY", "MASTER"}

// ParseSMState accepts "SMINFO_MASTER", "MASTER", "Master" (smpquery,
// saquery) and the numbers 0 to 3.
func ParseSMState(s string) (SMState, error) {
	word := squeeze(s)
	if len(word) > 6 && word[:6] == "sminfo" {
		word = word[6:]
	}
	switch word {
	case "notactive", "0":
		return SMNotActive, nil
	case "discovering", "discover", "1":
		return SMDiscovering, nil
	case "standby", "2":
		return SMStandby, nil
	case "master", "3":
		return SMMaster, nil
	}
	return SMNotActive, fmt.Errorf("subnet manager state %q: want NOTACTIVE, DISCOVERING, STANDBY or MASTER", s)
}

// String returns NOTACTIVE, DISCOVERING, STANDBY or MASTER.
func (s SMState) String() string {
	if int(s) >= len(smStateNames) {
		return fmt.Sprintf("SMState(%d)", uint8(s))
	}
	return smStateNames[s]
}

// MarshalText returns the String.
func (s SMState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what ParseSMState accepts.
func (s *SMState) UnmarshalText(b []byte) error { return unmarshal(s, b, ParseSMState) }

// SM is a subnet manager as it introduces itself. ActivityCount grows while
// the manager lives: two equal readings apart by its polling time mean that it
// hangs. NodeDescription is empty when the tool does not print it.
type SM struct {
	GUID            GUID    `json:"guid"`
	LID             LID     `json:"lid"`
	Priority        uint8   `json:"priority"`
	ActivityCount   uint64  `json:"activity_count"`
	State           SMState `json:"state"`
	NodeDescription string  `json:"node_description,omitempty"`
}
