package mad

import "encoding/binary"

// Bytes is the size of a MAD on the wire (IBTA 13.4.2). A message of several
// RMPP segments is handled whole and is longer.
const Bytes = 256

// Offsets of the parts of a MAD.
const (
	HeaderBytes = 24 // IBTA 13.4.2, common MAD header
	smpData     = 64 // IBTA 14.2.1.1 and 14.2.1.2
	smpDataLen  = 64
	pmaData     = 64 // IBTA 16.1.2
	saData      = 56 // IBTA 15.2.1.1
)

// Management classes (IBTA 13.4.4, table of management class values).
const (
	ClassSubnLID    uint8 = 0x01
	ClassSubnAdm    uint8 = 0x03
	ClassPerf       uint8 = 0x04
	ClassSubnDirect uint8 = 0x81
)

// Methods (IBTA 13.4.5, common management methods; 15.2.2 for SA).
const (
	MethodGet         uint8 = 0x01
	MethodSet         uint8 = 0x02
	MethodSend        uint8 = 0x03
	MethodTrap        uint8 = 0x05
	MethodReport      uint8 = 0x06
	MethodTrapRepress uint8 = 0x07
	MethodResponse    uint8 = 0x80 // the R bit
	MethodGetResp     uint8 = 0x81
)

// Status values of the common header (IBTA 13.4.7, MAD common status field).
const (
	StatusOK                uint16 = 0
	StatusBadVersion        uint16 = 1 << 2
	StatusUnsupportedMethod uint16 = 2 << 2
	StatusUnsupportedAttr   uint16 = 3 << 2 // method and attribute combination
	StatusInvalidValue      uint16 = 7 << 2
	statusDirection         uint16 = 0x8000 // D bit of directed route SMPs, IBTA 14.2.1.2
)

// LIDPermissive addresses the port itself and marks the ends of a directed
// route (IBTA 4.1.3).
const LIDPermissive uint16 = 0xffff

// MAD is a management datagram in its wire form. All methods need at least
// [Bytes] bytes.
type MAD []byte

// New returns an empty MAD with base version 1 and class version 1, which all
// classes but SubnAdm (2) use.
func New(class, method uint8, attr uint16, mod uint32) MAD {
	m := make(MAD, Bytes)
	m[0], m[1], m[2], m[3] = 1, class, 1, method
	binary.BigEndian.PutUint16(m[16:], attr)
	binary.BigEndian.PutUint32(m[20:], mod)
	return m
}

// Class is the management class.
func (m MAD) Class() uint8 { return m[1] }

// ClassVersion is the version of the class.
func (m MAD) ClassVersion() uint8 { return m[2] }

// Method is the method with its R bit.
func (m MAD) Method() uint8 { return m[3] }

// SetMethod sets the method with its R bit.
func (m MAD) SetMethod(v uint8) { m[3] = v }

// IsResponse tells answers from requests. TrapRepress answers a Trap although
// its R bit is clear (IBTA 13.4.5).
func (m MAD) IsResponse() bool { return m[3]&MethodResponse != 0 || m[3] == MethodTrapRepress }

// TID is the transaction id.
func (m MAD) TID() uint64 { return binary.BigEndian.Uint64(m[8:]) }

// SetTID sets the transaction id.
func (m MAD) SetTID(v uint64) { binary.BigEndian.PutUint64(m[8:], v) }

// Attr is the attribute id.
func (m MAD) Attr() uint16 { return binary.BigEndian.Uint16(m[16:]) }

// Mod is the attribute modifier.
func (m MAD) Mod() uint32 { return binary.BigEndian.Uint32(m[20:]) }

// Status is the status without the direction bit.
func (m MAD) Status() uint16 {
	s := binary.BigEndian.Uint16(m[4:])
	if m.IsDirected() {
		s &^= statusDirection
	}
	return s
}

// SetStatus sets the status and leaves a directed SMP's direction bit alone.
func (m MAD) SetStatus(v uint16) {
	if m.IsDirected() {
		v = v&^statusDirection | binary.BigEndian.Uint16(m[4:])&statusDirection
	}
	binary.BigEndian.PutUint16(m[4:], v)
}

// IsSMP tells subnet management packets, which travel on QP 0.
func (m MAD) IsSMP() bool { return m[1] == ClassSubnLID || m[1] == ClassSubnDirect }

// IsDirected tells directed route SMPs.
func (m MAD) IsDirected() bool { return m[1] == ClassSubnDirect }

// SMPData is the attribute of an SMP.
func (m MAD) SMPData() []byte { return m[smpData : smpData+smpDataLen] }

// PerfData is the attribute of a performance management datagram.
func (m MAD) PerfData() []byte { return m[pmaData:Bytes] }

// MKey is the management key of an SMP (IBTA 14.2.1.1).
func (m MAD) MKey() uint64 { return binary.BigEndian.Uint64(m[24:]) }

// SetMKey sets the management key of an SMP.
func (m MAD) SetMKey(v uint64) { binary.BigEndian.PutUint64(m[24:], v) }

// The fields of a directed route SMP (IBTA 14.2.1.2).
const (
	drHopPointer  = 6
	drHopCount    = 7
	drSLID        = 32
	drDLID        = 34
	drInitialPath = 128
	drReturnPath  = 192
)

// MaxHops is the longest directed route (IBTA 14.2.2).
const MaxHops = 63

// Returning is the direction bit: set on the way back.
func (m MAD) Returning() bool { return binary.BigEndian.Uint16(m[4:])&statusDirection != 0 }

// SetReturning sets the direction bit.
func (m MAD) SetReturning() {
	binary.BigEndian.PutUint16(m[4:], binary.BigEndian.Uint16(m[4:])|statusDirection)
}

// HopCount is the number of hops of the directed part.
func (m MAD) HopCount() int { return int(m[drHopCount]) }

// SetHops sets hop count and hop pointer.
func (m MAD) SetHops(count, pointer int) { m[drHopCount], m[drHopPointer] = byte(count), byte(pointer) }

// DrSLID and DrDLID are the LID-routed ends of a combined route.
func (m MAD) DrSLID() uint16 { return binary.BigEndian.Uint16(m[drSLID:]) }

// DrDLID is the destination behind the directed part, or permissive.
func (m MAD) DrDLID() uint16 { return binary.BigEndian.Uint16(m[drDLID:]) }

// SetDrLIDs sets both LID-routed ends.
func (m MAD) SetDrLIDs(slid, dlid uint16) {
	binary.BigEndian.PutUint16(m[drSLID:], slid)
	binary.BigEndian.PutUint16(m[drDLID:], dlid)
}

// InitialPath is the output port of hop i, 1 to 63.
func (m MAD) InitialPath(i int) uint8 { return m[drInitialPath+i] }

// SetInitialPath sets the output port of hop i.
func (m MAD) SetInitialPath(i int, port uint8) { m[drInitialPath+i] = port }

// ReturnPath is the port through which hop i entered.
func (m MAD) ReturnPath(i int) uint8 { return m[drReturnPath+i] }

// SetReturnPath sets the port through which hop i entered.
func (m MAD) SetReturnPath(i int, port uint8) { m[drReturnPath+i] = port }
