package fabricsim

import (
	"fmt"
	"time"
)

func (f *Fabric) onNode(node string, fn func(n *Node) error) error {
	f.lock()
	defer f.unlock()
	n, err := f.find(node)
	if err != nil {
		return err
	}
	return fn(n)
}

// Delay makes a node's management agent answer later; 0 heals.
func (f *Fabric) Delay(node string, by time.Duration) error {
	return f.onNode(node, func(n *Node) error { n.delay = by; return nil })
}

// Drop makes a node's management agent miss a share of the datagrams, 0 to 1;
// 0 heals.
func (f *Fabric) Drop(node string, share float64) error {
	if share < 0 || share > 1 {
		return fmt.Errorf("dropping %v of %s's datagrams: want a share from 0 to 1", share, node)
	}
	return f.onNode(node, func(n *Node) error { n.dropRate = share; return nil })
}

// Hang makes a node's management agent deaf and dumb while its links stay up
// and go on carrying, as firmware that hangs does.
func (f *Fabric) Hang(node string, hung bool) error {
	return f.onNode(node, func(n *Node) error { n.hung = hung; return nil })
}

// PowerOff takes a node's power: all its links go down.
func (f *Fabric) PowerOff(node string) error {
	return f.onNode(node, func(n *Node) error { f.powerOff(n); return nil })
}

func (f *Fabric) powerOff(n *Node) {
	n.off = true
	for _, p := range n.ports {
		if p != nil && p.external() {
			f.linkDown(p, p.info.LinkDownDefault)
		}
	}
}

// PowerOn gives a node its power back. It has forgotten what a subnet manager
// told it: LIDs, tables, counters.
func (f *Fabric) PowerOn(node string) error {
	return f.onNode(node, func(n *Node) error { f.powerOn(n); return nil })
}

func (f *Fabric) powerOn(n *Node) {
	if !n.off {
		return
	}
	n.off = false
	n.hung = false
	if n.isSwitch() {
		n.sw = newSwitching()
	}
	for _, p := range n.ports {
		if p == nil {
			continue
		}
		p.counters.reset()
		p.reset()
		p.changed()
	}
	for _, p := range n.ports {
		if p != nil {
			f.train(p.cable)
		}
	}
}

// Reboot takes a node's power and gives it back after a time.
func (f *Fabric) Reboot(node string, away time.Duration) error {
	return f.onNode(node, func(n *Node) error {
		f.powerOff(n)
		time.AfterFunc(away, func() {
			f.locked(func() {
				if !f.closed {
					f.powerOn(n)
				}
			})
		})
		return nil
	})
}

// SetLID writes a port's LID behind the subnet manager's back; 0 is a LID
// lost. For a switch the port is 0.
func (f *Fabric) SetLID(node string, port int, lid uint16) error {
	return f.onNode(node, func(n *Node) error {
		p := n.port(uint8(port))
		if p == nil || port > 255 || p.external() == n.isSwitch() {
			return fmt.Errorf("port %d of %s has no LID", port, n.Name)
		}
		p.info.LID = lid
		p.changed()
		return nil
	})
}

// CloneGUID gives a node the GUIDs of another, as a wrongly burnt card has;
// the same name twice gives it back its own.
func (f *Fabric) CloneGUID(node, of string) error {
	return f.onNode(node, func(n *Node) error {
		o, err := f.find(of)
		if err != nil {
			return err
		}
		if n.info.Type != o.info.Type {
			return fmt.Errorf("%s and %s are different kinds of nodes", n.Name, o.Name)
		}
		if n.burnt == nil {
			n.burnt = n.guids()
		}
		if n == o {
			n.setGUIDs(n.burnt)
			return nil
		}
		n.setGUIDs(o.guids())
		return nil
	})
}

// guids lists a node's GUIDs: node, system, then those of its ports.
func (n *Node) guids() []uint64 {
	all := []uint64{n.info.NodeGUID, n.info.SystemGUID, n.info.PortGUID}
	for _, p := range n.ports {
		if p != nil {
			all = append(all, p.guid)
		}
	}
	return all
}

func (n *Node) setGUIDs(all []uint64) {
	n.info.NodeGUID, n.info.SystemGUID, n.info.PortGUID = all[0], all[1], all[2]
	i := 3
	for _, p := range n.ports {
		if p != nil && i < len(all) {
			p.guid = all[i]
			p.changed()
			i++
		}
	}
}

// Swap exchanges the cables in two ports, the mistake of someone who worked
// behind the rack; again, it puts them right.
func (f *Fabric) Swap(nodeA string, portA int, nodeB string, portB int) error {
	f.lock()
	defer f.unlock()
	a, err := f.findPort(nodeA, portA)
	if err != nil {
		return err
	}
	b, err := f.findPort(nodeB, portB)
	if err != nil {
		return err
	}
	if a.cable == nil || b.cable == nil || a.cable == b.cable {
		return fmt.Errorf("swapping the cables in %v and %v: it takes two cables", a, b)
	}
	f.linkDown(a, a.info.LinkDownDefault)
	f.linkDown(b, b.info.LinkDownDefault)
	ca, cb := a.cable, b.cable
	ca.move(a, b)
	cb.move(b, a)
	a.cable, b.cable = cb, ca
	f.train(ca)
	f.train(cb)
	return nil
}

// move puts the end of a cable that is in one port into another.
func (c *cable) move(from, to *Port) {
	if c.a == from {
		c.a = to
	} else {
		c.b = to
	}
}

// Nodes lists the names of all nodes of a kind, in the order of the topology;
// kind 0 means all.
func (f *Fabric) Nodes(kind uint8) []string {
	f.lock()
	defer f.unlock()
	var names []string
	for _, n := range f.nodes {
		if kind == 0 || n.info.Type == kind {
			names = append(names, n.Name)
		}
	}
	return names
}
