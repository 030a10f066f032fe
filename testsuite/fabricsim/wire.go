package fabricsim

import (
	"encoding/binary"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// The protocol between the preloaded library (shim/src/device.c) and the fabric,
// over a stream socket. A connection begins with a request and a reply; that
// of an opened umad then carries frames. Numbers are in host order: both ends
// are on one machine.
const (
	wireMagic    = 0x31534246 // "FBS1"
	requestBytes = 56
	replyBytes   = 16

	opOpenUMAD   = 1
	opOpenISSM   = 2
	opRegister   = 3
	opUnregister = 4
)

// A frame is its MAD's length, the kernel's struct ib_user_mad_hdr
// (rdma/ib_user_mad.h, ABI 5 with pkey_index) and the MAD, whose first 256
// bytes are always there.
const (
	frameHeader = 8
	umadHeader  = 64
	frameHead   = frameHeader + umadHeader + mad.Bytes
	// maxMessage bounds one message of many RMPP segments, far above all
	// records of the largest fabric.
	maxMessage = 64 << 20
)

// request asks for a device or an agent.
type request struct {
	op         uint32
	token      uint64
	id, flags  uint32
	methods    [2]uint64
	oui        uint32
	qpn, class uint8
	version    uint8
	rmpp       uint8
}

func parseRequest(b []byte) (request, bool) {
	n := binary.NativeEndian
	if len(b) != requestBytes || n.Uint32(b) != wireMagic {
		return request{}, false
	}
	return request{
		op: n.Uint32(b[4:]), token: n.Uint64(b[8:]), id: n.Uint32(b[16:]), flags: n.Uint32(b[20:]),
		methods: [2]uint64{n.Uint64(b[24:]), n.Uint64(b[32:])}, oui: n.Uint32(b[40:]),
		qpn: b[44], class: b[45], version: b[46], rmpp: b[47],
	}, true
}

func newReply(errno int, value uint64) []byte {
	b := make([]byte, replyBytes)
	binary.NativeEndian.PutUint32(b, wireMagic)
	binary.NativeEndian.PutUint32(b[4:], uint32(errno))
	binary.NativeEndian.PutUint64(b[8:], value)
	return b
}

// Offsets in struct ib_user_mad_hdr. Addresses are in network order.
const (
	uID, uStatus, uTimeout, uRetries, uLength = 0, 4, 8, 12, 16
	uQPN, uQKey, uLID, uSL, uPathBits         = 20, 24, 28, 30, 31
	uPKeyIndex                                = 56
)

// userMAD is a datagram between a program and the fabric.
type userMAD struct {
	id        uint32
	status    uint32
	timeoutMS uint32
	retries   uint32
	qpn, qkey uint32
	lid       uint16
	sl        uint8
	pathBits  uint8
	pkeyIndex uint16
	mad       mad.MAD
	length    int // bytes of the message, in mad or of it
}

// parseUser reads the header; the MAD is separate.
func parseUser(h []byte) userMAD {
	n, be := binary.NativeEndian, binary.BigEndian
	return userMAD{
		id: n.Uint32(h[uID:]), status: n.Uint32(h[uStatus:]), timeoutMS: n.Uint32(h[uTimeout:]), retries: n.Uint32(h[uRetries:]),
		qpn: be.Uint32(h[uQPN:]), qkey: be.Uint32(h[uQKey:]), lid: be.Uint16(h[uLID:]),
		sl: h[uSL], pathBits: h[uPathBits], pkeyIndex: n.Uint16(h[uPKeyIndex:]),
	}
}

// frame writes the datagram as a program will read it.
func (u *userMAD) frame() []byte {
	n, be := binary.NativeEndian, binary.BigEndian
	b := make([]byte, frameHeader+umadHeader+max(mad.Bytes, u.length))
	n.PutUint32(b, uint32(u.length))
	h := b[frameHeader:]
	n.PutUint32(h[uID:], u.id)
	n.PutUint32(h[uStatus:], u.status)
	n.PutUint32(h[uTimeout:], u.timeoutMS)
	n.PutUint32(h[uRetries:], u.retries)
	n.PutUint32(h[uLength:], uint32(umadHeader+u.length))
	be.PutUint32(h[uQPN:], u.qpn)
	be.PutUint32(h[uQKey:], u.qkey)
	be.PutUint16(h[uLID:], u.lid)
	h[uSL], h[uPathBits] = u.sl, u.pathBits
	n.PutUint16(h[uPKeyIndex:], u.pkeyIndex)
	copy(h[umadHeader:], u.mad[:u.length])
	return b
}
