package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// packet is a management datagram on the wire, with the address of the local
// route header and the queue pairs of the datagram header.
type packet struct {
	mad        mad.MAD // at least one MAD's bytes
	length     int     // what counts of them: less or more in RMPP messages
	slid, dlid uint16
	sl         uint8
	srcQP      uint32
	dstQP      uint32
	qkey       uint32
	pkeyIndex  uint16
}

func (p *packet) clone() *packet {
	c := *p
	c.mad = append(mad.MAD(nil), p.mad...)
	return &c
}

// maxSwitches ends a packet that runs in circles; real ones end by their
// lifetime.
const maxSwitches = 64

// trip is the way of one packet.
type trip struct {
	packets uint64
	vl15    bool
	delay   time.Duration
}

// wordsPerMAD is what one MAD adds to the data counters: LRH 8, BTH 12, DETH
// 8, MAD 256, ICRC 4 bytes in words of four (IBTA 16.1.3.5, PortXmitData).
const wordsPerMAD = 72

// cross carries the packet over the cable in out and returns the port it
// arrives at; nil when it does not.
func (t *trip) cross(out *Port) *Port {
	in := out.peer()
	if in == nil || out.info.State < mad.PortInit || in.info.State < mad.PortInit {
		return nil
	}
	if !t.vl15 && (out.info.State != mad.PortActive || in.info.State < mad.PortArmed) {
		out.counters.add(mad.XmitDiscards, 1)
		return nil
	}
	out.counters.add(mad.XmitData, wordsPerMAD*t.packets)
	out.counters.add(mad.XmitPackets, t.packets)
	out.counters.add(mad.UnicastXmitPackets, t.packets)
	in.counters.add(mad.RcvData, wordsPerMAD*t.packets)
	in.counters.add(mad.RcvPackets, t.packets)
	in.counters.add(mad.UnicastRcvPackets, t.packets)
	return in
}

// owns reports whether the port answers to a LID.
func (p *Port) owns(lid uint16) bool {
	return p.info.LID != 0 && lid&^(1<<p.info.LMC-1) == p.info.LID
}

// byLID follows the forwarding tables from a port to the owner of a LID.
func (t *trip) byLID(from *Port, lid uint16) *Port {
	if lid == mad.LIDPermissive || from.owns(lid) {
		return from
	}
	out := from
	if from.node.isSwitch() {
		out = from.node.forward(lid)
	}
	for range maxSwitches {
		if out == nil || !out.external() {
			return nil
		}
		in := t.cross(out)
		if in == nil || in.node.off {
			return nil
		}
		if !in.node.isSwitch() {
			if in.owns(lid) {
				return in
			}
			return nil
		}
		if in.node.ports[0].owns(lid) {
			return in.node.ports[0]
		}
		if out = in.node.forward(lid); out == nil {
			in.counters.add(mad.RcvSwitchRelayErrors, 1)
		}
	}
	return nil
}

// forward is the output port of a switch for a unicast LID.
func (n *Node) forward(lid uint16) *Port {
	if int(lid) >= len(n.sw.lft) || n.sw.lft[lid] == mad.NoPort {
		return nil
	}
	return n.port(n.sw.lft[lid])
}

// directed follows a directed route (IBTA 14.2.2) and returns the port at
// which the SMP arrives; nil when it is lost. On the way out it writes the
// return path.
func (f *Fabric) directed(t *trip, from *Port, p *packet) *Port {
	m := p.mad
	hops := m.HopCount()
	if hops > mad.MaxHops {
		return nil
	}
	at := from
	first, last := m.DrSLID(), m.DrDLID()
	if m.Returning() {
		first, last = last, first
	}
	if first != mad.LIDPermissive {
		if at = t.byLID(from, p.dlid); at == nil {
			return nil
		}
	}
	for hop := 1; hop <= hops; hop++ {
		num := m.InitialPath(hop)
		if m.Returning() {
			num = m.ReturnPath(hops + 1 - hop)
		}
		out := at.node.port(num)
		if out == nil || !out.external() || !at.node.isSwitch() && (hop > 1 || out != at) {
			return nil
		}
		in := t.cross(out)
		if in == nil || f.deaf(in.node) {
			return nil
		}
		t.delay += in.node.delay
		if !m.Returning() {
			m.SetReturnPath(hop, in.num)
		}
		at = in
	}
	if last != mad.LIDPermissive {
		if at = t.byLID(at.node.manager(at), last); at == nil {
			return nil
		}
	}
	pointer := hops + 1
	if m.Returning() {
		pointer = 0
	}
	m.SetHops(hops, pointer)
	return at
}
