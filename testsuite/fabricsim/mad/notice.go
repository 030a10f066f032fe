package mad

// Traps of the subnet management agent (IBTA 14.2.5.1).
const (
	TrapLinkState     uint16 = 128 // a port of the switch changed its state
	TrapIntegrity     uint16 = 129 // local link integrity threshold reached
	TrapOverrun       uint16 = 130
	TrapWatchdog      uint16 = 131
	TrapLocalChange   uint16 = 144 // capability mask or other local change
	NoticeUrgent      uint8  = 1
	NoticeInfo        uint8  = 4
	noticeDetailBytes        = 54
)

// Notice is IBTA 13.4.8.2, the generic form that SMPs carry.
type Notice struct {
	Type      uint8 // 7 bits: urgency
	Producer  uint32
	Trap      uint16
	IssuerLID uint16
	Toggle    bool
	Count     uint16 // 15 bits
	Details   [noticeDetailBytes]byte
}

// Encode implements Attribute.
func (a *Notice) Encode(b []byte) {
	b[0] = flag(true, 7) | field(a.Type, 7, 0)
	put24(b[1:], a.Producer)
	put16(b[4:], a.Trap)
	put16(b[6:], a.IssuerLID)
	put16(b[8:], a.Count&0x7fff|uint16(flag(a.Toggle, 7))<<8)
	copy(b[10:], a.Details[:])
}

// Decode implements Attribute.
func (a *Notice) Decode(data []byte) {
	b := cut(data, 64)
	*a = Notice{
		Type: unfield(b[0], 7, 0), Producer: get24(b[1:]), Trap: get16(b[4:]), IssuerLID: get16(b[6:]),
		Toggle: b[8]&0x80 != 0, Count: get16(b[8:]) & 0x7fff,
	}
	copy(a.Details[:], b[10:])
}

// NewLinkNotice is trap 128 of the switch with this LID (IBTA 14.2.5.1, table
// of trap 128: LIDADDR first).
func NewLinkNotice(lid uint16) Notice {
	n := Notice{Type: NoticeUrgent, Producer: uint32(NodeSwitch), Trap: TrapLinkState, IssuerLID: lid}
	put16(n.Details[:], lid)
	return n
}

// NewCapabilityNotice is trap 144 of a port whose capability mask changed
// (IBTA 14.2.5.1, table of trap 144: LIDADDR at byte 2, CAPABILITYMASK at 6).
func NewCapabilityNotice(producer uint8, lid uint16, mask uint32) Notice {
	n := Notice{Type: NoticeInfo, Producer: uint32(producer), Trap: TrapLocalChange, IssuerLID: lid}
	put16(n.Details[2:], lid)
	put32(n.Details[6:], mask)
	return n
}

// NewThresholdNotice is trap 129, 130 or 131 of a port (IBTA 14.2.5.1:
// LIDADDR at byte 2, PORTNO at 4).
func NewThresholdNotice(trap uint16, producer uint8, lid uint16, port uint8) Notice {
	n := Notice{Type: NoticeUrgent, Producer: uint32(producer), Trap: trap, IssuerLID: lid}
	put16(n.Details[2:], lid)
	n.Details[4] = port
	return n
}
