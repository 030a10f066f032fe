package pictures

import (
	"cmp"
	"slices"

	"github.com/fabricbot/fabricbot/fabric"
)

// withLost returns now with what the diff says is gone put back from before,
// so that it can be drawn. A lost cable whose two ports are in use again is
// left out: there is no place for it.
func withLost(now, before *fabric.Topology, d *fabric.Diff) *fabric.Topology {
	twin := map[fabric.GUID]fabric.GUID{}
	type end struct{ here, peer fabric.PortRef }
	var ends []end
	gone := map[fabric.GUID]bool{}
	for _, ch := range d.Changes {
		switch ch.Kind {
		case fabric.NodeReplaced:
			twin[ch.Was] = ch.Nodes[0]
		case fabric.NodeLost:
			for _, g := range ch.Nodes {
				gone[g] = true
			}
		case fabric.CableLost:
			ends = append(ends, end{ch.A, ch.B}, end{ch.B, ch.A})
		}
	}
	nodes := slices.Clone(now.Nodes)
	for i := range before.Nodes {
		n := before.Nodes[i]
		if !gone[n.GUID] {
			continue
		}
		n.Ports = slices.Clone(n.Ports)
		for j := range n.Ports {
			p := &n.Ports[j]
			if g, ok := twin[p.Peer.Node]; ok {
				p.Peer.Node = g
			}
			if here := (fabric.PortRef{Node: n.GUID, Port: p.Num}); p.PeerKnown {
				ends = append(ends, end{p.Peer, here})
			}
		}
		nodes = append(nodes, n)
	}
	place := make(map[fabric.GUID]int, len(nodes))
	for i := range nodes {
		place[nodes[i].GUID] = i
	}
	for _, e := range ends {
		i, ok := place[e.here.Node]
		if !ok {
			continue
		}
		ports := slices.Clone(nodes[i].Ports)
		at, found := slices.BinarySearchFunc(ports, e.here.Port, func(p fabric.Port, num fabric.PortNum) int { return cmp.Compare(p.Num, num) })
		switch {
		case !found:
			ports = slices.Insert(ports, at, fabric.Port{Num: e.here.Port, Peer: e.peer, PeerKnown: true})
		case !ports[at].PeerKnown:
			ports[at].Peer, ports[at].PeerKnown = e.peer, true
		}
		nodes[i].Ports = ports
	}
	out := fabric.NewTopology(nodes)
	out.Generated = now.Generated
	return out
}
