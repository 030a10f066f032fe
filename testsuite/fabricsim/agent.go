package fabricsim

import (
	"syscall"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// agent is one registration of a program: a class it sends and receives in.
type agent struct {
	client  *client
	device  *device
	id      uint32
	request request
	upper   uint32 // upper half of its transaction ids, as the kernel gives one
	pending map[uint64]*pending
}

// pending is a request that waits for its response.
type pending struct {
	agent   *agent
	packet  *packet // as it was sent, to be sent again
	user    userMAD
	timer   *time.Timer
	retries uint32
}

func (p *pending) done() {
	if p.timer != nil {
		p.timer.Stop()
	}
	delete(p.agent.pending, p.packet.mad.TID())
}

// wants reports whether the agent registered for an unsolicited datagram.
func (a *agent) wants(m mad.MAD) bool {
	r := &a.request
	if m.Class() != r.class || m.ClassVersion() != r.version {
		return false
	}
	if r.class >= 0x30 && r.class <= 0x4f && m.VendorOUI() != r.oui {
		return false
	}
	method := m.Method() & 0x7f
	return r.methods[method/64]>>(method%64)&1 != 0
}

// send takes a datagram from the program and puts it on the wire. The fabric
// is held.
func (a *agent) send(u userMAD) {
	f, port := a.device.plug.fabric, a.device.port
	m, length := u.mad, mad.Bytes
	if !m.IsResponse() {
		m.SetTID(uint64(a.upper)<<32 | m.TID()&0xffffffff)
	}
	if m.RMPPActive() && a.request.rmpp != 0 {
		if m.RMPPType() > mad.RMPPData {
			return // the kernel keeps the transfer's own datagrams to itself
		}
		length = u.length
		m.SealRMPP(length)
	}
	p := &packet{
		mad: m, length: length, slid: port.info.LID | uint16(u.pathBits), dlid: u.lid, sl: u.sl,
		srcQP: uint32(a.request.qpn), dstQP: u.qpn, qkey: u.qkey, pkeyIndex: u.pkeyIndex,
	}
	if u.timeoutMS == 0 || m.IsResponse() {
		f.send(port, p)
		return
	}
	pend := &pending{agent: a, packet: p, user: u, retries: u.retries}
	a.pending[m.TID()] = pend
	f.send(port, p.clone())
	if a.pending[m.TID()] == pend { // not answered at once
		pend.timer = time.AfterFunc(pend.patience(), pend.expire)
	}
}

func (p *pending) patience() time.Duration { return time.Duration(p.user.timeoutMS) * time.Millisecond }

// expire sends again, or tells the program that nobody answered: the header of
// its request with ETIMEDOUT, as the kernel's send handler returns it.
func (p *pending) expire() {
	a := p.agent
	f := a.device.plug.fabric
	f.locked(func() {
		if f.closed || a.pending[p.packet.mad.TID()] != p {
			return
		}
		if p.retries > 0 {
			p.retries--
			f.send(a.device.port, p.packet.clone())
			if a.pending[p.packet.mad.TID()] == p {
				p.timer.Reset(p.patience())
			}
			return
		}
		p.done()
		u := p.user
		u.status = uint32(syscall.ETIMEDOUT)
		u.mad, u.length = p.packet.mad, mad.HeaderBytes
		f.out = append(f.out, delivery{a.client, u.frame()})
	})
}

// deliver hands a received packet to the program.
func (a *agent) deliver(p *packet) {
	u := userMAD{id: a.id, qpn: p.srcQP, lid: p.slid, sl: p.sl, pkeyIndex: p.pkeyIndex, mad: p.mad, length: p.length}
	if a.request.rmpp == 0 {
		u.length = mad.Bytes // it sees the first segment
	}
	if lmc := a.device.port.info.LMC; lmc > 0 {
		u.pathBits = uint8(p.dlid & (1<<lmc - 1))
	}
	f := a.device.plug.fabric
	f.out = append(f.out, delivery{a.client, u.frame()})
}
