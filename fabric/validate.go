package fabric

import (
	"cmp"
	"fmt"
	"slices"
)

// ProblemKind classifies what Validate finds.
type ProblemKind string

// The kinds of problems, worst first.
const (
	// DuplicateLID: two ports answer to one LID.
	DuplicateLID ProblemKind = "duplicate-lid"
	// AsymmetricLink: the other end names another peer.
	AsymmetricLink ProblemKind = "asymmetric-link"
	// OneSidedLink: the other end is known but names no peer.
	OneSidedLink ProblemKind = "one-sided-link"
	// MissingPeer: the other end is a node that the source does not describe.
	MissingPeer ProblemKind = "missing-peer"
	// UnequalLink: both ends report the cable but not the same width or speed.
	UnequalLink ProblemKind = "unequal-link"
	// PortOutOfRange: a port number above the node's number of ports.
	PortOutOfRange ProblemKind = "port-out-of-range"
	// UnknownType: a node that is neither adapter, switch nor router.
	UnknownType ProblemKind = "unknown-type"
)

// Problem is one contradiction inside a topology.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	At   PortRef     `json:"at"`
	Text string      `json:"text"`
}

// Validate lists the contradictions of a topology, sorted by place. An empty
// list does not mean that the fabric is healthy, only that the picture agrees
// with itself.
func (t *Topology) Validate() []Problem {
	var found []Problem
	add := func(k ProblemKind, at PortRef, format string, args ...any) {
		found = append(found, Problem{k, at, fmt.Sprintf(format, args...)})
	}
	lids := make(map[LID]PortRef, len(t.Nodes))
	claim := func(lid LID, at PortRef) {
		if lid == 0 {
			return
		}
		if other, taken := lids[lid]; taken && other != at {
			add(DuplicateLID, at, "lid %d is also that of %v", lid, other)
			return
		}
		lids[lid] = at
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Type == NodeUnknown {
			add(UnknownType, PortRef{n.GUID, 0}, "node %q has no known type", n.Description)
		}
		if n.Type == NodeSwitch {
			claim(n.LID, PortRef{n.GUID, 0})
		}
		for j := range n.Ports {
			p := &n.Ports[j]
			at := PortRef{n.GUID, p.Num}
			if n.Type != NodeSwitch {
				claim(p.LID, at)
			}
			if n.NumPorts > 0 && int(p.Num) > int(n.NumPorts) {
				add(PortOutOfRange, at, "port %d of a node with %d ports", p.Num, n.NumPorts)
			}
			if p.PeerKnown {
				t.validateEnd(at, p, add)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	return found
}

func (t *Topology) validateEnd(at PortRef, p *Port, add func(ProblemKind, PortRef, string, ...any)) {
	other := t.Node(p.Peer.Node)
	if other == nil {
		add(MissingPeer, at, "peer %v is not described", p.Peer)
		return
	}
	q := other.Port(p.Peer.Port)
	switch {
	case q == nil || !q.PeerKnown:
		add(OneSidedLink, at, "peer %v does not name a peer", p.Peer)
	case q.Peer != at:
		add(AsymmetricLink, at, "peer %v names %v as its peer", p.Peer, q.Peer)
	case at.Compare(p.Peer) < 0 && (q.Width != p.Width || q.Speed != p.Speed):
		add(UnequalLink, at, "%v %v here, %v %v at %v", p.Width, p.Speed, q.Width, q.Speed, p.Peer)
	}
}
