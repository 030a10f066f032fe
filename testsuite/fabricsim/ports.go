package fabricsim

import (
	"fmt"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// PortStatus is what a port's own registers say.
type PortStatus struct {
	Node   string
	Port   int
	GUID   uint64 // port GUID
	LID    int    // 0 before a subnet manager gave one
	LMC    int
	SMLID  int
	Cabled bool
	Peer   string // "leaf01[3]"; empty without a cable
	State  string // "Down", "Init", "Armed", "Active"
	Phys   string // "LinkUp", "Polling", "Disabled", …
	Width  mad.Width
	Speed  mad.Speed
}

// Ports lists every external port of the fabric, nodes in the order of the
// topology. LID, LMC and SMLID of a switch are those of its port 0.
func (f *Fabric) Ports() []PortStatus {
	f.lock()
	defer f.unlock()
	var all []PortStatus
	for _, n := range f.nodes {
		for _, p := range n.ports[1:] {
			all = append(all, p.status())
		}
	}
	return all
}

func (p *Port) status() PortStatus {
	states := [...]string{"NoChange", "Down", "Init", "Armed", "Active"}
	phys := [...]string{"NoChange", "Sleep", "Polling", "Disabled", "Training", "LinkUp", "Recovery"}
	at := &p.node.manager(p).info
	s := PortStatus{
		Node: p.node.Name, Port: int(p.num), GUID: p.guid, LID: int(at.LID), LMC: int(at.LMC), SMLID: int(at.MasterSMLID),
		Cabled: p.cable != nil && !p.cable.pulled, State: states[p.info.State], Phys: phys[p.info.Phys],
	}
	if q := p.peer(); q != nil {
		s.Peer = fmt.Sprint(q)
	}
	s.Width, s.Speed = p.rate()
	return s
}

// NotActive counts the cabled ports that are not in state Active: zero when a
// subnet manager has brought up everything.
func (f *Fabric) NotActive() int {
	f.lock()
	defer f.unlock()
	count := 0
	for _, n := range f.nodes {
		for _, p := range n.ports[1:] {
			if p.cable != nil && !p.cable.pulled && p.info.State != mad.PortActive {
				count++
			}
		}
	}
	return count
}
