package mad

import "encoding/binary"

// Attribute is a management attribute with a fixed layout.
type Attribute interface {
	// Encode writes the attribute over the beginning of data, which has at
	// least the attribute's size.
	Encode(data []byte)
	// Decode reads the attribute from data.
	Decode(data []byte)
}

// Subnet management attributes (IBTA 14.2.5, table of attributes).
const (
	AttrClassPortInfo   uint16 = 0x0001
	AttrNotice          uint16 = 0x0002
	AttrNodeDescription uint16 = 0x0010
	AttrNodeInfo        uint16 = 0x0011
	AttrSwitchInfo      uint16 = 0x0012
	AttrGUIDInfo        uint16 = 0x0014
	AttrPortInfo        uint16 = 0x0015
	AttrPKeyTable       uint16 = 0x0016
	AttrSLToVL          uint16 = 0x0017
	AttrVLArbitration   uint16 = 0x0018
	AttrLinearFDB       uint16 = 0x0019
	AttrMulticastFDB    uint16 = 0x001b
	AttrSMInfo          uint16 = 0x0020
	// AttrMlnxExtPortInfo is the vendor's, named in libibmad's mad.h.
	AttrMlnxExtPortInfo uint16 = 0xff90
)

// Performance management attributes (IBTA 16.1.3 and 16.1.4).
const (
	AttrPortSamplesControl     uint16 = 0x0010
	AttrPortCounters           uint16 = 0x0012
	AttrPortRcvErrorDetails    uint16 = 0x0015
	AttrPortXmitDiscardDetails uint16 = 0x0016
	AttrPortCountersExtended   uint16 = 0x001d
)

// cut returns the first n bytes of data, with zeros for what is missing.
func cut(data []byte, n int) []byte {
	if len(data) >= n {
		return data[:n]
	}
	b := make([]byte, n)
	copy(b, data)
	return b
}

func put16(b []byte, v uint16) { binary.BigEndian.PutUint16(b, v) }
func put32(b []byte, v uint32) { binary.BigEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.BigEndian.PutUint64(b, v) }
func get16(b []byte) uint16    { return binary.BigEndian.Uint16(b) }
func get32(b []byte) uint32    { return binary.BigEndian.Uint32(b) }
func get64(b []byte) uint64    { return binary.BigEndian.Uint64(b) }

func put24(b []byte, v uint32) { b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v) }
func get24(b []byte) uint32    { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// field packs value into the low n bits above shift of a byte.
func field(v uint8, n, shift int) uint8   { return v & (1<<n - 1) << shift }
func unfield(b uint8, n, shift int) uint8 { return b >> shift & (1<<n - 1) }

func flag(set bool, shift int) uint8 {
	if set {
		return 1 << shift
	}
	return 0
}
