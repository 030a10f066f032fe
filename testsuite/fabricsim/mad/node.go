package mad

import "bytes"

// Node types (IBTA 14.2.5.3).
const (
	NodeCA     uint8 = 1
	NodeSwitch uint8 = 2
	NodeRouter uint8 = 3
)

// NodeInfo is IBTA 14.2.5.3.
type NodeInfo struct {
	BaseVersion, ClassVersion uint8
	Type                      uint8
	NumPorts                  uint8
	SystemGUID                uint64
	NodeGUID                  uint64
	PortGUID                  uint64
	PartitionCap              uint16
	DeviceID                  uint16
	Revision                  uint32
	LocalPort                 uint8  // the port the question came in by
	VendorID                  uint32 // 24 bits
}

const nodeInfoBytes = 40

// Encode implements Attribute.
func (a *NodeInfo) Encode(b []byte) {
	b[0], b[1], b[2], b[3] = a.BaseVersion, a.ClassVersion, a.Type, a.NumPorts
	put64(b[4:], a.SystemGUID)
	put64(b[12:], a.NodeGUID)
	put64(b[20:], a.PortGUID)
	put16(b[28:], a.PartitionCap)
	put16(b[30:], a.DeviceID)
	put32(b[32:], a.Revision)
	b[36] = a.LocalPort
	put24(b[37:], a.VendorID)
}

// Decode implements Attribute.
func (a *NodeInfo) Decode(data []byte) {
	b := cut(data, nodeInfoBytes)
	*a = NodeInfo{
		BaseVersion: b[0], ClassVersion: b[1], Type: b[2], NumPorts: b[3],
		SystemGUID: get64(b[4:]), NodeGUID: get64(b[12:]), PortGUID: get64(b[20:]),
		PartitionCap: get16(b[28:]), DeviceID: get16(b[30:]), Revision: get32(b[32:]),
		LocalPort: b[36], VendorID: get24(b[37:]),
	}
}

// NodeDescription is IBTA 14.2.5.2: 64 bytes of UTF-8.
type NodeDescription struct{ Text string }

const descriptionBytes = 64

// Encode implements Attribute. A longer text is cut.
func (a *NodeDescription) Encode(b []byte) {
	clear(b[:descriptionBytes])
	copy(b[:descriptionBytes], a.Text)
}

// Decode implements Attribute.
func (a *NodeDescription) Decode(data []byte) {
	b := cut(data, descriptionBytes)
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	a.Text = string(b)
}

// SwitchInfo is IBTA 14.2.5.4.
type SwitchInfo struct {
	LinearFDBCap, RandomFDBCap, MulticastFDBCap uint16
	LinearFDBTop                                uint16
	DefaultPort                                 uint8
	DefaultMulticastPrimary                     uint8
	DefaultMulticastNotPrimary                  uint8
	LifeTime                                    uint8 // 5 bits
	PortStateChange                             bool
	OptimizedSLToVL                             uint8 // 2 bits
	LIDsPerPort                                 uint16
	PartitionEnforcementCap                     uint16
	InboundEnforcement, OutboundEnforcement     bool
	FilterRawInbound, FilterRawOutbound         bool
	EnhancedPort0                               bool
	MulticastFDBTop                             uint16
}

const switchInfoBytes = 20

// Encode implements Attribute.
func (a *SwitchInfo) Encode(b []byte) {
	put16(b, a.LinearFDBCap)
	put16(b[2:], a.RandomFDBCap)
	put16(b[4:], a.MulticastFDBCap)
	put16(b[6:], a.LinearFDBTop)
	b[8], b[9], b[10] = a.DefaultPort, a.DefaultMulticastPrimary, a.DefaultMulticastNotPrimary
	b[11] = field(a.LifeTime, 5, 3) | flag(a.PortStateChange, 2) | field(a.OptimizedSLToVL, 2, 0)
	put16(b[12:], a.LIDsPerPort)
	put16(b[14:], a.PartitionEnforcementCap)
	b[16] = flag(a.InboundEnforcement, 7) | flag(a.OutboundEnforcement, 6) |
		flag(a.FilterRawInbound, 5) | flag(a.FilterRawOutbound, 4) | flag(a.EnhancedPort0, 3)
	b[17] = 0
	put16(b[18:], a.MulticastFDBTop)
}

// Decode implements Attribute.
func (a *SwitchInfo) Decode(data []byte) {
	b := cut(data, switchInfoBytes)
	has := func(shift int) bool { return b[16]>>shift&1 != 0 }
	*a = SwitchInfo{
		LinearFDBCap: get16(b), RandomFDBCap: get16(b[2:]), MulticastFDBCap: get16(b[4:]), LinearFDBTop: get16(b[6:]),
		DefaultPort: b[8], DefaultMulticastPrimary: b[9], DefaultMulticastNotPrimary: b[10],
		LifeTime: unfield(b[11], 5, 3), PortStateChange: b[11]&4 != 0, OptimizedSLToVL: unfield(b[11], 2, 0),
		LIDsPerPort: get16(b[12:]), PartitionEnforcementCap: get16(b[14:]),
		InboundEnforcement: has(7), OutboundEnforcement: has(6), FilterRawInbound: has(5), FilterRawOutbound: has(4), EnhancedPort0: has(3),
		MulticastFDBTop: get16(b[18:]),
	}
}

// SM states (IBTA 14.4.1).
const (
	SMNotActive uint8 = iota
	SMDiscovering
	SMStandby
	SMMaster
)

// SMInfo is IBTA 14.2.5.13.
type SMInfo struct {
	GUID     uint64
	Key      uint64
	Activity uint32
	Priority uint8 // 4 bits
	State    uint8 // 4 bits
}

const smInfoBytes = 21

// Encode implements Attribute.
func (a *SMInfo) Encode(b []byte) {
	put64(b, a.GUID)
	put64(b[8:], a.Key)
	put32(b[16:], a.Activity)
	b[20] = field(a.Priority, 4, 4) | field(a.State, 4, 0)
}

// Decode implements Attribute.
func (a *SMInfo) Decode(data []byte) {
	b := cut(data, smInfoBytes)
	*a = SMInfo{GUID: get64(b), Key: get64(b[8:]), Activity: get32(b[16:]), Priority: unfield(b[20], 4, 4), State: unfield(b[20], 4, 0)}
}
