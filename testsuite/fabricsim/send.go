package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// send puts a packet on the wire at a port. The fabric is held; the packet
// belongs to it from here on.
func (f *Fabric) send(from *Port, p *packet) {
	if f.closed || from.node.off || len(p.mad) < mad.Bytes {
		return
	}
	t := &trip{packets: uint64(p.mad.RMPPSegments(p.length)), vl15: p.mad.IsSMP()}
	var at *Port
	if p.mad.IsDirected() {
		at = f.directed(t, from, p)
	} else {
		at = t.byLID(from, p.dlid)
	}
	if at == nil || f.deaf(at.node) {
		return
	}
	if !p.mad.IsDirected() {
		t.delay += at.node.delay
	}
	if t.delay == 0 {
		f.arrive(at, p)
		return
	}
	time.AfterFunc(t.delay, func() {
		f.locked(func() {
			if !f.closed {
				f.arrive(at, p)
			}
		})
	})
}

// arrive hands a packet to whom it is for at a port: the node's own agents
// first, as an adapter's firmware does, then the programs of the host.
func (f *Fabric) arrive(at *Port, p *packet) {
	m := p.mad
	request := m.Method() == mad.MethodGet || m.Method() == mad.MethodSet
	switch {
	case m.Method() == mad.MethodTrapRepress && m.IsSMP():
		if at.node.repressed(m.TID()) {
			return
		}
	case request && m.IsSMP() && m.Attr() != mad.AttrSMInfo:
		if f.answerSMP(at, m) {
			f.reply(at, p)
		}
		return
	case request && m.Class() == mad.ClassPerf:
		f.answerPerf(at, m)
		f.reply(at, p)
		return
	}
	if at.device != nil && at.device.receive(p) {
		return
	}
	if request {
		// What the kernel answers for a class nobody listens to.
		m.SetStatus(mad.StatusUnsupportedAttr)
		m.SetMethod(mad.MethodGetResp)
		f.reply(at, p)
	}
}

// reply sends the packet, whose MAD has become a response, back.
func (f *Fabric) reply(at *Port, p *packet) {
	if p.mad.IsDirected() {
		p.mad.SetReturning()
	}
	r := &packet{mad: p.mad, length: mad.Bytes, slid: p.dlid, dlid: p.slid, sl: p.sl, srcQP: p.dstQP, dstQP: p.srcQP, qkey: p.qkey, pkeyIndex: p.pkeyIndex}
	if p.slid == 0 && !p.mad.IsDirected() {
		r.dlid = mad.LIDPermissive // from the port itself, before it had a LID
	}
	f.send(at.node.manager(at), r)
}
