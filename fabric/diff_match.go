package fabric

import (
	"cmp"
	"slices"
	"strings"
)

// matchNodes finds the nodes that only one side has, and among them the pairs
// that are one place with another GUID.
func (c *comparison) matchNodes() {
	c.old.single, c.now.single = missing(c.old.t, c.now.t), missing(c.now.t, c.old.t)
	c.old.twin, c.now.twin = map[GUID]GUID{}, map[GUID]GUID{}
	// A replaced leaf makes the places of its replaced hosts comparable, hence
	// the rounds: each pairs at least one node or is the last.
	for c.pairReplaced() {
	}
	c.old.back, c.now.back = back(c.old.twin), back(c.now.twin)
}

func missing(has, lacks *Topology) map[GUID]bool {
	out := map[GUID]bool{}
	for i := range has.Nodes {
		if g := has.Nodes[i].GUID; lacks.Node(g) == nil {
			out[g] = true
		}
	}
	return out
}

func back(twin map[GUID]GUID) map[GUID]GUID {
	out := make(map[GUID]GUID, len(twin))
	for own, other := range twin {
		out[min(own, other)] = own
	}
	return out
}

// twins is a candidate pair and how many cables support it.
type twins struct {
	old, now GUID
	places   int
}

func (c *comparison) pairReplaced() bool {
	if len(c.old.single) == 0 || len(c.now.single) == 0 {
		return false
	}
	was := map[PortRef]GUID{}
	c.old.eachPlace(func(n *Node, place PortRef) { was[place] = n.GUID })
	votes := map[twins]int{}
	c.now.eachPlace(func(n *Node, place PortRef) {
		if g, ok := was[place]; ok && alike(c.old.t.Node(g), n) {
			votes[twins{old: g, now: n.GUID}]++
		}
	})
	candidates := make([]twins, 0, len(votes))
	for pair, places := range votes {
		pair.places = places
		candidates = append(candidates, pair)
	}
	slices.SortFunc(candidates, func(a, b twins) int {
		return cmp.Or(cmp.Compare(b.places, a.places), cmp.Compare(min(a.old, a.now), min(b.old, b.now)),
			cmp.Compare(max(a.old, a.now), max(b.old, b.now)))
	})
	for _, pair := range candidates {
		if c.old.single[pair.old] && c.now.single[pair.now] {
			delete(c.old.single, pair.old)
			delete(c.now.single, pair.now)
			c.old.twin[pair.old], c.now.twin[pair.now] = pair.now, pair.old
		}
	}
	return len(candidates) > 0
}

// eachPlace visits the far ends of the cables of the nodes that only this side
// has, where the far end is on both sides.
func (s *side) eachPlace(visit func(*Node, PortRef)) {
	for i := range s.t.Nodes {
		n := &s.t.Nodes[i]
		if !s.single[n.GUID] {
			continue
		}
		for j := range n.Ports {
			if p := &n.Ports[j]; p.PeerKnown && s.both(p.Peer.Node) {
				visit(n, s.canonRef(p.Peer))
			}
		}
	}
}

// alike reports whether b may stand in for a: same type, and same name or no
// name yet, as a fresh adapter has until its host is up.
func alike(a, b *Node) bool {
	if a.Type != b.Type {
		return false
	}
	aName, aDevice := SplitDescription(a.Description)
	bName, bDevice := SplitDescription(b.Description)
	if aName == "" || bName == "" {
		return true
	}
	return strings.EqualFold(aName, bName) && (aDevice == bDevice || a.Type == NodeCA)
}
