package lab

import "encoding/binary"

// Sizes and offsets of the datagrams that libumad2sim and ibsim 0.10 exchange
// (Debian package ibsim-utils 0.10-2, amd64), measured with strace on both
// ends: one record per datagram, host byte order outside the MAD.
const (
	ctlBytes  = 80  // magic, client id, type, length: 4 x uint32, then 64 bytes of data
	reqBytes  = 288 // dlid, slid, dqp, sqp, status: 5 x uint32, pad, uint64 length, 256 bytes of MAD
	madOffset = 32

	ctlMagic = 0xdeadbeef

	// statusTimedOut is ETIMEDOUT in network order, what the kernel's MAD
	// layer reports for a request nobody answered.
	statusTimedOut = 110
)

// Control record types of the simulator's protocol.
const (
	ctlError      = 0
	ctlConnect    = 1
	ctlDisconnect = 2
	ctlSetIsSM    = 9
)

// Management classes a client that holds an SM may be asked in. Anything else
// would reach a queue nobody reads and take the client down.
const (
	classSMPRouted   = 0x01
	classSMPDirected = 0x81
	classSA          = 0x03
)

// ctlRecord is a control datagram: connect, disconnect, set IsSM, read-outs.
type ctlRecord []byte

func (c ctlRecord) valid() bool {
	return len(c) == ctlBytes && binary.NativeEndian.Uint32(c) == ctlMagic
}

func (c ctlRecord) kind() uint32      { return binary.NativeEndian.Uint32(c[8:]) }
func (c ctlRecord) setKind(k uint32)  { binary.NativeEndian.PutUint32(c[8:], k) }
func (c ctlRecord) clientID() uint32  { return binary.NativeEndian.Uint32(c[4:]) }
func (c ctlRecord) word(i int) uint32 { return binary.NativeEndian.Uint32(c[16+4*i:]) }
func (c ctlRecord) setWord(i int, v uint32) {
	binary.NativeEndian.PutUint32(c[16+4*i:], v)
}

// setNode names the node a connecting client is attached to. The record holds
// 31 bytes of name; longer names are cut, as the library does.
func (c ctlRecord) setNode(name string) {
	field := c[28:60]
	clear(field)
	copy(field[:31], name)
}

func newCtl(kind, clientID uint32) ctlRecord {
	c := make(ctlRecord, ctlBytes)
	binary.NativeEndian.PutUint32(c, ctlMagic)
	binary.NativeEndian.PutUint32(c[4:], clientID)
	c.setKind(kind)
	return c
}

// madRecord is a datagram with one MAD.
type madRecord []byte

func (m madRecord) valid() bool      { return len(m) == reqBytes }
func (m madRecord) mad() []byte      { return m[madOffset:] }
func (m madRecord) class() byte      { return m.mad()[1] }
func (m madRecord) method() byte     { return m.mad()[3] }
func (m madRecord) isResponse() bool { return m.method()&0x80 != 0 }
func (m madRecord) timedOut() bool   { return binary.BigEndian.Uint32(m[16:]) != 0 }

// setTimedOut turns a request into the notice that it was not answered.
func (m madRecord) setTimedOut() { binary.BigEndian.PutUint32(m[16:], statusTimedOut) }

// transaction is the part of the transaction id that survives the way through
// the simulator, which puts its client number into the top sixteen bits.
func (m madRecord) transaction() uint64 {
	return binary.BigEndian.Uint64(m.mad()[8:]) & 0x0000_ffff_ffff_ffff
}

// Methods of IBTA vol. 1, table "Common management methods".
const (
	methodGet         = 0x01
	methodSet         = 0x02
	methodTrap        = 0x05
	methodTrapRepress = 0x07
	methodGetTable    = 0x12
	methodGetMulti    = 0x14
	methodDelete      = 0x15
)

// wantsAnswer tells requests from notices. A Trap is answered by TrapRepress,
// and an SM that sent one waits for it.
func (m madRecord) wantsAnswer() bool {
	switch m.method() {
	case methodGet, methodSet, methodTrap, methodGetTable, methodGetMulti, methodDelete:
		return true
	}
	return false
}
