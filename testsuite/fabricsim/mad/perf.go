package mad

import "math"

// ClassPortInfo is IBTA 13.4.8.1, without the redirection and trap addresses,
// which stay zero.
type ClassPortInfo struct {
	BaseVersion, ClassVersion uint8
	CapMask                   uint16
	CapMask2                  uint32 // 27 bits
	RespTime                  uint8  // 5 bits
}

// Capabilities of the performance management class (IBTA 16.1.3.1).
const (
	PerfCapAllPorts      uint16 = 1 << 8
	PerfCapExtendedWidth uint16 = 1 << 9
	PerfCapXmitWait      uint16 = 1 << 12
	PerfCap2MoreExtended uint32 = 1 << 1 // error counters in PortCountersExtended
	classPortInfoBytes          = 72
)

// Encode implements Attribute.
func (a *ClassPortInfo) Encode(b []byte) {
	clear(b[:classPortInfoBytes])
	b[0], b[1] = a.BaseVersion, a.ClassVersion
	put16(b[2:], a.CapMask)
	put32(b[4:], a.CapMask2<<5|uint32(field(a.RespTime, 5, 0)))
}

// Decode implements Attribute.
func (a *ClassPortInfo) Decode(data []byte) {
	b := cut(data, classPortInfoBytes)
	*a = ClassPortInfo{b[0], b[1], get16(b[2:]), get32(b[4:]) >> 5, b[7] & 31}
}

// Counter names one counter of a port, classic and extended.
type Counter uint8

// The counters. The first sixteen are in the order of the CounterSelect bits
// of PortCounters (IBTA 16.1.3.5), so that the number is the bit.
const (
	SymbolErrors Counter = iota
	LinkErrorRecovery
	LinkDowned
	RcvErrors
	RcvRemotePhysicalErrors
	RcvSwitchRelayErrors
	XmitDiscards
	XmitConstraintErrors
	RcvConstraintErrors
	LocalLinkIntegrityErrors
	ExcessiveBufferOverrunErrors
	VL15Dropped
	XmitData // in words of four bytes
	RcvData
	XmitPackets
	RcvPackets
	XmitWait // bit 0 of CounterSelect2
	QP1Dropped
	UnicastXmitPackets // extended only
	UnicastRcvPackets
	MulticastXmitPackets
	MulticastRcvPackets
	NumCounters
)

// counterLayout says where each counter is: byte and width in bits in
// PortCounters (IBTA 16.1.3.5; width 0: not there), byte in
// PortCountersExtended (IBTA 16.1.4.11), where all have 64 bits.
var counterLayout = [NumCounters]struct {
	name     string
	at, bits uint8
	extended uint8
}{
	SymbolErrors:                 {"SymbolErrorCounter", 4, 16, 72},
	LinkErrorRecovery:            {"LinkErrorRecoveryCounter", 6, 8, 80},
	LinkDowned:                   {"LinkDownedCounter", 7, 8, 88},
	RcvErrors:                    {"PortRcvErrors", 8, 16, 96},
	RcvRemotePhysicalErrors:      {"PortRcvRemotePhysicalErrors", 10, 16, 104},
	RcvSwitchRelayErrors:         {"PortRcvSwitchRelayErrors", 12, 16, 112},
	XmitDiscards:                 {"PortXmitDiscards", 14, 16, 120},
	XmitConstraintErrors:         {"PortXmitConstraintErrors", 16, 8, 128},
	RcvConstraintErrors:          {"PortRcvConstraintErrors", 17, 8, 136},
	LocalLinkIntegrityErrors:     {"LocalLinkIntegrityErrors", 19, 4, 144},
	ExcessiveBufferOverrunErrors: {"ExcessiveBufferOverrunErrors", 19, 4, 152},
	VL15Dropped:                  {"VL15Dropped", 22, 16, 160},
	XmitData:                     {"PortXmitData", 24, 32, 8},
	RcvData:                      {"PortRcvData", 28, 32, 16},
	XmitPackets:                  {"PortXmitPkts", 32, 32, 24},
	RcvPackets:                   {"PortRcvPkts", 36, 32, 32},
	XmitWait:                     {"PortXmitWait", 40, 32, 168},
	QP1Dropped:                   {"QP1Dropped", 20, 16, 176},
	UnicastXmitPackets:           {"PortUnicastXmitPkts", 0, 0, 40},
	UnicastRcvPackets:            {"PortUnicastRcvPkts", 0, 0, 48},
	MulticastXmitPackets:         {"PortMulticastXmitPkts", 0, 0, 56},
	MulticastRcvPackets:          {"PortMulticastRcvPkts", 0, 0, 64},
}

// String is the specification's name of the counter.
func (c Counter) String() string {
	if c >= NumCounters {
		return "unknown counter"
	}
	return counterLayout[c].name
}

// ParseCounter finds a counter by the specification's name.
func ParseCounter(name string) (Counter, bool) {
	for c := range NumCounters {
		if counterLayout[c].name == name {
			return c, true
		}
	}
	return 0, false
}

// Limit is the value at which the counter stops in PortCounters; 0 if it is
// not there.
func (c Counter) Limit() uint64 { return 1<<counterLayout[c].bits - 1 }

// Counters holds one value per counter.
type Counters [NumCounters]uint64

// PortCounters is IBTA 16.1.3.5. Larger values are written as the limit.
type PortCounters struct {
	Port    uint8
	Select  uint16 // which to write, a bit per Counter
	Select2 uint8  // bit 0 XmitWait, bit 1 QP1Dropped
	Values  Counters
}

const portCountersBytes = 44

// Encode implements Attribute.
func (a *PortCounters) Encode(b []byte) {
	clear(b[:portCountersBytes])
	b[1] = a.Port
	put16(b[2:], a.Select)
	b[18] = a.Select2
	for c, l := range counterLayout {
		v := min(a.Values[c], Counter(c).Limit())
		switch l.bits {
		case 8:
			b[l.at] = byte(v)
		case 16:
			put16(b[l.at:], uint16(v))
		case 32:
			put32(b[l.at:], uint32(v))
		}
	}
	b[19] = byte(min(a.Values[LocalLinkIntegrityErrors], 15)<<4 | min(a.Values[ExcessiveBufferOverrunErrors], 15))
}

// Decode implements Attribute.
func (a *PortCounters) Decode(data []byte) {
	b := cut(data, portCountersBytes)
	*a = PortCounters{Port: b[1], Select: get16(b[2:]), Select2: b[18]}
	for c, l := range counterLayout {
		switch l.bits {
		case 8:
			a.Values[c] = uint64(b[l.at])
		case 16:
			a.Values[c] = uint64(get16(b[l.at:]))
		case 32:
			a.Values[c] = uint64(get32(b[l.at:]))
		}
	}
	a.Values[LocalLinkIntegrityErrors], a.Values[ExcessiveBufferOverrunErrors] = uint64(b[19]>>4), uint64(b[19]&15)
}

// Selects reports whether a Set of the attribute writes the counter.
func (a *PortCounters) Selects(c Counter) bool {
	switch {
	case c < XmitWait:
		return a.Select>>c&1 != 0
	case c <= QP1Dropped:
		return a.Select2>>(c-XmitWait)&1 != 0
	}
	return false
}

// PortCountersExtended is IBTA 16.1.4.11 with the error counters of its
// second half.
type PortCountersExtended struct {
	Port    uint8
	Select  uint16
	Select2 uint32
	Values  Counters
}

const portCountersExtendedBytes = 184

// Encode implements Attribute.
func (a *PortCountersExtended) Encode(b []byte) {
	clear(b[:portCountersExtendedBytes])
	b[1] = a.Port
	put16(b[2:], a.Select)
	put32(b[4:], a.Select2)
	for c, l := range counterLayout {
		put64(b[l.extended:], a.Values[c])
	}
}

// Decode implements Attribute.
func (a *PortCountersExtended) Decode(data []byte) {
	b := cut(data, portCountersExtendedBytes)
	*a = PortCountersExtended{Port: b[1], Select: get16(b[2:]), Select2: get32(b[4:])}
	for c, l := range counterLayout {
		a.Values[c] = get64(b[l.extended:])
	}
}

// Selects reports whether a Set of the attribute writes the counter.
// CounterSelect has the data and packet counters, CounterSelect2 the errors.
func (a *PortCountersExtended) Selects(c Counter) bool {
	switch {
	case c >= XmitData && c <= RcvPackets:
		return a.Select>>(c-XmitData)&1 != 0
	case c >= UnicastXmitPackets:
		return a.Select>>(4+c-UnicastXmitPackets)&1 != 0
	case c <= VL15Dropped:
		return a.Select2>>c&1 != 0
	}
	return a.Select2>>(12+c-XmitWait)&1 != 0
}

// AllPorts in PortSelect asks for the sum over all ports (IBTA 16.1.3.5).
const AllPorts uint8 = 0xff

// Add adds with saturation.
func Add(v, n uint64) uint64 {
	if n > math.MaxUint64-v {
		return math.MaxUint64
	}
	return v + n
}
