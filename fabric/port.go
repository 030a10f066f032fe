package fabric

import (
	"fmt"
	"strconv"
	"strings"
)

// PortNum numbers the ports of a node. Port 0 is the management port inside a
// switch; the cabled ports begin at 1.
type PortNum uint8

// NodeType says what a node is. The zero value means unknown.
type NodeType uint8

// The node types carry the numbers of the NodeInfo attribute (IBTA
// specification volume 1, section 14.2.5.3).
const (
	NodeUnknown NodeType = iota
	NodeCA
	NodeSwitch
	NodeRouter
)

var nodeTypeNames = [...]string{"unknown", "ca", "switch", "router"}

// ParseNodeType accepts the words of the tools: CA, Ca, HCA, "Channel
// Adapter"; SW, Switch; RT, Rt, Router; and the numbers 1, 2 and 3.
func ParseNodeType(s string) (NodeType, error) {
	switch squeeze(s) {
	case "ca", "hca", "channeladapter", "1":
		return NodeCA, nil
	case "sw", "switch", "2":
		return NodeSwitch, nil
	case "rt", "router", "3":
		return NodeRouter, nil
	case "unknown":
		return NodeUnknown, nil
	}
	return NodeUnknown, fmt.Errorf("node type %q: want ca, switch or router", s)
}

// String returns ca, switch, router or unknown.
func (t NodeType) String() string { return nameOf(nodeTypeNames[:], int(t)) }

// MarshalText returns the String.
func (t NodeType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText accepts what ParseNodeType accepts.
func (t *NodeType) UnmarshalText(b []byte) error { return unmarshal(t, b, ParseNodeType) }

// PortState is the logical state of a port. The zero value means unknown.
type PortState uint8

// The states carry the numbers of the PortInfo attribute (IBTA specification
// volume 1, section 14.2.5.6); 5 is the kernel's IB_PORT_ACTIVE_DEFER.
const (
	PortStateUnknown PortState = iota
	PortDown
	PortInitializing
	PortArmed
	PortActive
	PortActiveDefer
)

var portStateNames = [...]string{"Unknown", "Down", "Initializing", "Armed", "Active", "ActiveDefer"}

// ParsePortState accepts every spelling the tools have for a logical state:
// "Active" (ibstat), "Initialize" (iblinkinfo, smpquery), "4: ACTIVE" (sysfs,
// ibstatus), "PORT_ACTIVE (4)" (ibv_devinfo), "ACTIVE" (rdma link).
func ParsePortState(s string) (PortState, error) {
	word := stateWord(s)
	switch strings.TrimPrefix(word, "port") {
	case "down", "1":
		return PortDown, nil
	case "init", "initialize", "initializing", "2":
		return PortInitializing, nil
	case "armed", "arm", "3":
		return PortArmed, nil
	case "active", "4":
		return PortActive, nil
	case "activedefer", "actdefer", "5":
		return PortActiveDefer, nil
	case "unknown", "nop", "nostatechange", "0":
		return PortStateUnknown, nil
	}
	return PortStateUnknown, fmt.Errorf("port state %q: want Down, Initializing, Armed or Active", s)
}

// String returns the word that ibstat prints.
func (s PortState) String() string { return nameOf(portStateNames[:], int(s)) }

// MarshalText returns the String.
func (s PortState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what ParsePortState accepts.
func (s *PortState) UnmarshalText(b []byte) error { return unmarshal(s, b, ParsePortState) }

// PhysState is the state of a port's training machine. The zero value means
// unknown.
type PhysState uint8

// The states carry the numbers of the PortInfo attribute (IBTA specification
// volume 1, section 14.2.5.6).
const (
	PhysUnknown PhysState = iota
	PhysSleep
	PhysPolling
	PhysDisabled
	PhysTraining
	PhysLinkUp
	PhysLinkErrorRecovery
	PhysPhyTest
)

var physStateNames = [...]string{"Unknown", "Sleep", "Polling", "Disabled",
	"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest"}

// ParsePhysState accepts every spelling the tools have for a physical state:
// "LinkUp" (ibstat, iblinkinfo), "5: LinkUp" and "7: Phy Test" (sysfs),
// "LINK_UP (5)" (ibv_devinfo -v), "LINK_ERROR_RECOVER" (rdma link).
func ParsePhysState(s string) (PhysState, error) {
	switch stateWord(s) {
	case "sleep", "1":
		return PhysSleep, nil
	case "polling", "2":
		return PhysPolling, nil
	case "disabled", "3":
		return PhysDisabled, nil
	case "portconfigurationtraining", "training", "4":
		return PhysTraining, nil
	case "linkup", "5":
		return PhysLinkUp, nil
	case "linkerrorrecovery", "linkerrorrecover", "6":
		return PhysLinkErrorRecovery, nil
	case "phytest", "7":
		return PhysPhyTest, nil
	case "unknown", "nop", "nostatechange", "0":
		return PhysUnknown, nil
	}
	return PhysUnknown, fmt.Errorf("physical port state %q: want one of %s", s, strings.Join(physStateNames[1:], ", "))
}

// String returns the word that ibstat prints.
func (s PhysState) String() string { return nameOf(physStateNames[:], int(s)) }

// MarshalText returns the String.
func (s PhysState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what ParsePhysState accepts.
func (s *PhysState) UnmarshalText(b []byte) error { return unmarshal(s, b, ParsePhysState) }

// stateWord takes the word out of "4: ACTIVE" and "PORT_ACTIVE (4)" and
// squeezes it.
func stateWord(s string) string {
	if i := strings.IndexByte(s, ':'); i >= 0 && i+1 < len(s) {
		s = s[i+1:]
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
	}
	return squeeze(s)
}

// squeeze lowers a word and drops all but letters and digits, so that
// "Phy Test", "PHY_TEST" and "PhyTest" become one.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, s)
}

// nameOf is a bounds-checked look-up, since states come from foreign numbers.
func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return names[0] + "(" + strconv.Itoa(i) + ")"
	}
	return names[i]
}

func unmarshal[T any](to *T, b []byte, parse func(string) (T, error)) error {
	v, err := parse(string(b))
	if err != nil {
		return err
	}
	*to = v
	return nil
}
