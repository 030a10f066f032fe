package fabricsim

import (
	"syscall"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// device is a port that programs can open: the kernel's umadN and issmN.
type device struct {
	plug   *Plug
	port   *Port
	agents []*agent
	sm     *client // who holds issmN open
}

// receive gives a packet that arrived at the port to the program it is for, as
// the kernel's MAD layer does: a response to the agent that asked and still
// waits, anything else to the agent that registered for class and method. It
// returns false if there is none and it was not a response.
func (d *device) receive(p *packet) bool {
	m := p.mad
	f := d.plug.fabric
	if m.IsResponse() {
		a := f.agents[uint32(m.TID()>>32)]
		if a == nil || a.device != d {
			return true
		}
		pend := a.pending[m.TID()]
		if pend == nil || pend.packet.mad.Class() != m.Class() {
			return true // late, or an answer to nothing
		}
		pend.done()
		a.deliver(p)
		return true
	}
	for _, a := range d.agents {
		if a.wants(m) {
			a.deliver(p)
			return true
		}
	}
	return false
}

// register makes an agent of a client. The number it gets is the smallest the
// client has not in use. It refuses what another agent of the port listens to.
func (d *device) register(c *client, r request) (uint32, syscall.Errno) {
	for _, a := range d.agents {
		if a.request.class == r.class && a.request.version == r.version && a.request.oui == r.oui &&
			(a.request.methods[0]&r.methods[0]|a.request.methods[1]&r.methods[1]) != 0 {
			return 0, syscall.EINVAL
		}
	}
	if r.qpn > 1 || r.qpn == 0 != (r.class == mad.ClassSubnLID || r.class == mad.ClassSubnDirect) {
		return 0, syscall.EINVAL
	}
	f := d.plug.fabric
	for id := range c.agents {
		if c.agents[id] != nil {
			continue
		}
		for f.nextTI++; f.nextTI == 0 || f.agents[f.nextTI] != nil; f.nextTI++ {
		}
		a := &agent{client: c, device: d, id: uint32(id), request: r, upper: f.nextTI, pending: map[uint64]*pending{}}
		c.agents[id] = a
		f.agents[a.upper] = a
		d.agents = append(d.agents, a)
		return a.id, 0
	}
	return 0, syscall.ENOMEM
}

// hold lets a client have issmN, of which there is one: the port then says of
// itself that it has a subnet manager.
func (d *device) hold(c *client) syscall.Errno {
	if d.sm != nil {
		return syscall.EAGAIN
	}
	d.sm = c
	d.setSM(true)
	return 0
}

// setSM changes the capability bit and tells the subnet manager in charge.
func (d *device) setSM(is bool) {
	i := &d.port.info
	i.CapabilityMask &^= mad.CapIsSM
	if is {
		i.CapabilityMask |= mad.CapIsSM
	}
	d.port.changed()
	d.plug.fabric.trap(d.port, mad.NewCapabilityNotice(d.port.node.info.Type, i.LID, i.CapabilityMask))
}

// forget removes everything of a client that has gone.
func (d *device) forget(c *client) {
	for _, a := range c.agents {
		if a != nil {
			d.unregister(a)
		}
	}
	if d.sm == c {
		d.sm = nil
		d.setSM(false)
	}
}

func (d *device) unregister(a *agent) {
	for _, p := range a.pending {
		p.done()
	}
	a.client.agents[a.id] = nil
	delete(d.plug.fabric.agents, a.upper)
	kept := d.agents[:0]
	for _, o := range d.agents {
		if o != a {
			kept = append(kept, o)
		}
	}
	clear(d.agents[len(kept):])
	d.agents = kept
}
