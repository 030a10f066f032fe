package mad

// RMPP header: reliable multi-packet transactions (IBTA 13.6.2.1), in the
// bytes 24 to 35 of classes that have it.
const (
	rmppVersion = 24
	rmppType    = 25
	rmppFlags   = 26 // RRespTime 5 bits, flags 3 bits
	rmppStatus  = 27
	rmppSegment = 28
	rmppLength  = 32 // PayloadLength or NewWindowLast
)

// RMPP types and flags (IBTA 13.6.2.1).
const (
	RMPPData       uint8 = 1
	RMPPFlagActive uint8 = 1
	RMPPFlagFirst  uint8 = 2
	RMPPFlagLast   uint8 = 4
	rmppSegPayload       = 220 // data and class header of one segment, IBTA 13.6.2.1
)

// RMPPActive reports whether the MAD is part of a multi-packet transaction.
func (m MAD) RMPPActive() bool {
	return HasRMPP(m.Class()) && m[rmppFlags]&RMPPFlagActive != 0
}

// RMPPType is DATA, ACK, STOP or ABORT.
func (m MAD) RMPPType() uint8 { return m[rmppType] }

// HasRMPP tells the classes whose MADs have room for an RMPP header: SubnAdm
// and the vendor classes of the second range (IBTA 13.4.4); performance and
// the other classes have none.
func HasRMPP(class uint8) bool {
	return class == ClassSubnAdm || class >= 0x30 && class <= 0x4f
}

// rmppDataOffset is where the data of the class begins: everything before is
// repeated in every segment.
func rmppDataOffset(class uint8) int {
	if class == ClassSubnAdm {
		return saData
	}
	return 40 // vendor range 2: RMPP header, reserved byte, OUI (IBTA 16.5)
}

// RMPPSegments is the number of packets in which a message of length bytes
// travels whose beginning is m.
func (m MAD) RMPPSegments(length int) int {
	if !m.RMPPActive() {
		return 1
	}
	at := rmppDataOffset(m.Class())
	per := Bytes - at
	return max(1, (length-at+per-1)/per)
}

// SealRMPP fills the header of a message of length bytes that has been put
// together from its segments the way the receiver sees it: the first
// segment's, with the length of everything.
func (m MAD) SealRMPP(length int) {
	segments := m.RMPPSegments(length)
	at := rmppDataOffset(m.Class())
	pad := segments*(Bytes-at) - (length - at)
	flags := RMPPFlagActive | RMPPFlagFirst
	if segments == 1 {
		flags |= RMPPFlagLast
	}
	m[rmppVersion], m[rmppType], m[rmppStatus] = 1, RMPPData, 0
	m[rmppFlags] = m[rmppFlags]&0xf8 | flags
	put32(m[rmppSegment:], 1)
	put32(m[rmppLength:], uint32(segments*rmppSegPayload-pad))
}

// VendorOUI is the organization of a vendor class of the second range.
func (m MAD) VendorOUI() uint32 { return get24(m[37:]) }
