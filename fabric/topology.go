package fabric

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// PortRef names a port by its node's GUID and its number, which is the only
// name that survives a new LID and a renamed host.
type PortRef struct {
	Node GUID    `json:"node"`
	Port PortNum `json:"port"`
}

// String returns for example 0x0002c90300c0667c/1.
func (r PortRef) String() string { return fmt.Sprintf("%v/%d", r.Node, r.Port) }

// Compare orders by node GUID, then port number.
func (r PortRef) Compare(o PortRef) int {
	if c := cmp.Compare(r.Node, o.Node); c != 0 {
		return c
	}
	return cmp.Compare(r.Port, o.Port)
}

// Port is one port of a node. A zero GUID, LID, state, width or speed means
// that the source did not say. Peer counts only when PeerKnown is set: a port
// without is not cabled, or the source stopped before naming the other end.
// PeerType is what this end was told, for peers that the source does not
// describe.
type Port struct {
	GUID      GUID      `json:"guid,omitzero"`
	Peer      PortRef   `json:"peer,omitzero"`
	LID       LID       `json:"lid,omitzero"`
	Num       PortNum   `json:"num"`
	LMC       uint8     `json:"lmc,omitzero"`
	State     PortState `json:"state,omitzero"`
	Phys      PhysState `json:"phys,omitzero"`
	Width     Width     `json:"width,omitzero"`
	Speed     Speed     `json:"speed,omitzero"`
	PeerKnown bool      `json:"peer_known,omitzero"`
	PeerType  NodeType  `json:"peer_type,omitzero"`
}

// Node is a channel adapter, switch or router. LID and LMC are those of
// switch port 0; adapters and routers have them per port. Ports holds the
// ports the source named, sorted by number; NumPorts is how many the device
// has.
type Node struct {
	GUID        GUID     `json:"guid"`
	SystemGUID  GUID     `json:"system_guid,omitzero"`
	Description string   `json:"description"`
	Ports       []Port   `json:"ports"`
	VendorID    uint32   `json:"vendor_id,omitzero"`
	DeviceID    uint32   `json:"device_id,omitzero"`
	LID         LID      `json:"lid,omitzero"`
	LMC         uint8    `json:"lmc,omitzero"`
	NumPorts    uint8    `json:"num_ports"`
	Type        NodeType `json:"type"`
}

// Port returns the port with number n, or nil.
func (n *Node) Port(num PortNum) *Port {
	i, ok := slices.BinarySearchFunc(n.Ports, num, func(p Port, num PortNum) int { return cmp.Compare(p.Num, num) })
	if !ok {
		return nil
	}
	return &n.Ports[i]
}

// aggregationNode marks the channel adapter inside a switch that reduces
// messages (SHARP): its node description contains these words.
const aggregationNode = "Aggregation Node"

// IsAggregation reports whether the node is the reduction engine inside a
// switch, which is a channel adapter on the wire but not a host.
func (n *Node) IsAggregation() bool {
	return n.Type == NodeCA && strings.Contains(n.Description, aggregationNode)
}

// Topology is a picture of one fabric. Build it with NewTopology; Nodes is
// then sorted by GUID and every Ports by number, and must stay so. The zero
// value is an empty fabric.
type Topology struct {
	Nodes []Node `json:"nodes"`
	// Generated is the date line of the tool as it was printed, in the
	// collecting host's time zone; empty if there was none.
	Generated string `json:"generated,omitempty"`
	// FromNode and FromPort are the GUIDs of the port the discovery started at.
	FromNode GUID `json:"from_node,omitzero"`
	FromPort GUID `json:"from_port,omitzero"`
	// Incomplete is set when the source ended in the middle or the tool
	// reported errors. Such a picture is no base for "this node is gone".
	Incomplete bool `json:"incomplete,omitempty"`
}

// NewTopology takes over nodes, sorts them and their ports, and merges nodes
// that have the same GUID: sources that print one record per port repeat a
// node, and the first mention of each port wins.
func NewTopology(nodes []Node) *Topology {
	slices.SortStableFunc(nodes, func(a, b Node) int { return cmp.Compare(a.GUID, b.GUID) })
	out := nodes[:0]
	for _, n := range nodes {
		if last := len(out) - 1; last >= 0 && out[last].GUID == n.GUID {
			merge(&out[last], n)
			continue
		}
		out = append(out, n)
	}
	for i := range out {
		ports := out[i].Ports
		byNum := func(a, b Port) int { return cmp.Compare(a.Num, b.Num) }
		if !slices.IsSortedFunc(ports, byNum) {
			slices.SortStableFunc(ports, byNum)
		}
		out[i].Ports = slices.CompactFunc(ports, func(a, b Port) bool { return a.Num == b.Num })
	}
	return &Topology{Nodes: out}
}

func merge(into *Node, n Node) {
	into.Ports = append(into.Ports, n.Ports...)
	into.Type = cmp.Or(into.Type, n.Type)
	into.SystemGUID = cmp.Or(into.SystemGUID, n.SystemGUID)
	into.Description = cmp.Or(into.Description, n.Description)
	into.VendorID = cmp.Or(into.VendorID, n.VendorID)
	into.DeviceID = cmp.Or(into.DeviceID, n.DeviceID)
	into.LID = cmp.Or(into.LID, n.LID)
	into.LMC = cmp.Or(into.LMC, n.LMC)
	into.NumPorts = max(into.NumPorts, n.NumPorts)
}

// Node returns the node with this GUID, or nil.
func (t *Topology) Node(g GUID) *Node {
	i, ok := slices.BinarySearchFunc(t.Nodes, g, func(n Node, g GUID) int { return cmp.Compare(n.GUID, g) })
	if !ok {
		return nil
	}
	return &t.Nodes[i]
}

// Port returns the port that r names, or nil.
func (t *Topology) Port(r PortRef) *Port {
	if n := t.Node(r.Node); n != nil {
		return n.Port(r.Port)
	}
	return nil
}

// Link is one cable. A is the smaller end; Width and Speed are those that end
// A reports, or end B where A is not known.
type Link struct {
	A     PortRef `json:"a"`
	B     PortRef `json:"b"`
	Width Width   `json:"width,omitzero"`
	Speed Speed   `json:"speed,omitzero"`
}

// Links returns every cable once, sorted by end A, also those that only one
// end reports.
func (t *Topology) Links() []Link {
	links := make([]Link, 0, t.countLinks())
	t.eachLink(func(l Link) { links = append(links, l) })
	slices.SortFunc(links, func(a, b Link) int {
		if c := a.A.Compare(b.A); c != 0 {
			return c
		}
		return a.B.Compare(b.B)
	})
	return links
}

// eachLink visits every cable once: from its smaller end, or from the larger
// one when the smaller does not name it as its peer.
func (t *Topology) eachLink(visit func(Link)) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for j := range n.Ports {
			p := &n.Ports[j]
			if !p.PeerKnown {
				continue
			}
			here := PortRef{n.GUID, p.Num}
			if here.Compare(p.Peer) <= 0 {
				visit(Link{here, p.Peer, p.Width, p.Speed})
				continue
			}
			if q := t.Port(p.Peer); q == nil || !q.PeerKnown || q.Peer != here {
				visit(Link{p.Peer, here, p.Width, p.Speed})
			}
		}
	}
}

func (t *Topology) countLinks() int {
	n := 0
	t.eachLink(func(Link) { n++ })
	return n
}

// Counts says how much of everything a topology holds. CAs include the
// Aggregation nodes inside switches, which are also counted apart.
type Counts struct {
	CAs         int `json:"cas"`
	Switches    int `json:"switches"`
	Routers     int `json:"routers"`
	Aggregation int `json:"aggregation_nodes"`
	Links       int `json:"links"`
}

// Counts counts nodes by type, and cables once each.
func (t *Topology) Counts() Counts {
	c := Counts{Links: t.countLinks()}
	for i := range t.Nodes {
		switch t.Nodes[i].Type {
		case NodeCA:
			c.CAs++
			if t.Nodes[i].IsAggregation() {
				c.Aggregation++
			}
		case NodeSwitch:
			c.Switches++
		case NodeRouter:
			c.Routers++
		}
	}
	return c
}
