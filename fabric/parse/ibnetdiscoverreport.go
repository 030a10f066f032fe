package parse

import (
	"fmt"
	"io"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBNetDiscoverReport is what fabricctl prints for ibnetdiscover: counts that
// can be held against other sources, and the topology itself.
type IBNetDiscoverReport struct {
	Trouble
	Switches         int            `json:"switches"`
	CAs              int            `json:"cas"`
	Routers          int            `json:"routers"`
	AggregationNodes int            `json:"aggregation_nodes"`
	PortLines        int            `json:"port_lines"`
	UniqueLinks      int            `json:"unique_links"`
	OneEndedLinks    int            `json:"links_seen_from_one_end_only"`
	WidthSpeed       map[string]int `json:"width_speed_port_lines"`
	LMC1CALines      int            `json:"lmc1_ca_lines,omitempty"`
	DegradedLinks    []DegradedLink `json:"degraded_links,omitempty"`
	Generated        string         `json:"generated,omitempty"`
	InitiatedFrom    *InitiatedFrom `json:"initiated_from,omitempty"`
	Nodes            []fabric.Node  `json:"nodes"`
}

// InitiatedFrom holds the GUIDs of the node and port where the discovery
// began, as the tool prints them: sixteen digits without 0x.
type InitiatedFrom struct {
	Node string `json:"node"`
	Port string `json:"port"`
}

// DegradedLink is a switch port whose link to another switch is slower than
// most links between that switch and others.
type DegradedLink struct {
	Node       fabric.GUID    `json:"node"`
	LocalPort  fabric.PortNum `json:"local_port"`
	Peer       fabric.GUID    `json:"peer"`
	PeerPort   fabric.PortNum `json:"peer_port"`
	WidthSpeed string         `json:"width_speed"`
}

func ibnetdiscover(r io.Reader) (*IBNetDiscoverReport, error) {
	top, trouble, err := discover(r)
	if err != nil {
		return nil, err
	}
	c := top.Counts()
	rep := &IBNetDiscoverReport{
		Trouble: trouble, Switches: c.Switches, CAs: c.CAs, Routers: c.Routers,
		AggregationNodes: c.Aggregation, UniqueLinks: c.Links,
		WidthSpeed: map[string]int{}, Generated: top.Generated, Nodes: top.Nodes,
	}
	if !top.FromNode.IsZero() || !top.FromPort.IsZero() {
		rep.InitiatedFrom = &InitiatedFrom{fmt.Sprintf("%016x", uint64(top.FromNode)), fmt.Sprintf("%016x", uint64(top.FromPort))}
	}
	for _, l := range top.Links() {
		if !seenFrom(top, l.A, l.B) || !seenFrom(top, l.B, l.A) {
			rep.OneEndedLinks++
		}
	}
	for i := range top.Nodes {
		n := &top.Nodes[i]
		for j := range n.Ports {
			rep.PortLines++
			rep.WidthSpeed[widthSpeed(n.Ports[j])]++
			if n.Type == fabric.NodeCA && n.Ports[j].LMC == 1 {
				rep.LMC1CALines++
			}
		}
		rep.DegradedLinks = append(rep.DegradedLinks, degraded(n)...)
	}
	return rep, nil
}

var _ = tool(ibnetdiscover, "ibnetdiscover")

// widthSpeed spells a link's rate as ibnetdiscover does.
func widthSpeed(p fabric.Port) string {
	if p.Speed == fabric.SpeedUnknown {
		return fmt.Sprintf("%dx???", p.Width)
	}
	return fmt.Sprintf("%dx%v", p.Width, p.Speed)
}

func seenFrom(t *fabric.Topology, here, there fabric.PortRef) bool {
	p := t.Port(here)
	return p != nil && p.PeerKnown && p.Peer == there
}

// degraded compares the data rates of a switch's links to other switches with
// the most frequent one among them. Links to hosts are left out: different
// hosts rightly have different adapters.
func degraded(n *fabric.Node) []DegradedLink {
	if n.Type != fabric.NodeSwitch {
		return nil
	}
	toSwitch := func(p *fabric.Port) bool {
		return p.PeerType == fabric.NodeSwitch && p.Peer.Node != n.GUID
	}
	seen := map[fabric.GbitPerSec]int{}
	for i := range n.Ports {
		if p := &n.Ports[i]; p.PeerKnown && toSwitch(p) {
			seen[p.Speed.Data(p.Width)]++
		}
	}
	var usual fabric.GbitPerSec
	for rate, count := range seen {
		if count > seen[usual] || count == seen[usual] && rate > usual {
			usual = rate
		}
	}
	var slow []DegradedLink
	for i := range n.Ports {
		p := &n.Ports[i]
		if p.PeerKnown && toSwitch(p) && p.Speed != fabric.SpeedUnknown && p.Speed.Data(p.Width) < usual {
			slow = append(slow, DegradedLink{n.GUID, p.Num, p.Peer.Node, p.Peer.Port, widthSpeed(*p)})
		}
	}
	return slow
}
