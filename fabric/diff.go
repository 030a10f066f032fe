package fabric

import (
	"cmp"
	"fmt"
	"slices"
)

// ChangeKind classifies one difference between two topologies.
type ChangeKind string

// The kinds of changes, the most important first. Lines and JSON keep this
// order.
const (
	NodeLost         ChangeKind = "node-lost"
	CableLost        ChangeKind = "cable-lost"
	LinkSlower       ChangeKind = "link-slower"
	PortStateChanged ChangeKind = "port-state-changed"
	// NodeMoved is an adapter that is now cabled to another switch or port.
	NodeMoved ChangeKind = "node-moved"
	// CableMoved has one end where it was and the other at another peer.
	CableMoved ChangeKind = "cable-moved"
	// NodeReplaced is a node with another GUID where one of its name was.
	NodeReplaced ChangeKind = "node-replaced"
	NodeNew      ChangeKind = "node-new"
	CableNew     ChangeKind = "cable-new"
	LinkFaster   ChangeKind = "link-faster"
	NodeRenamed  ChangeKind = "node-renamed"
	LIDChanged   ChangeKind = "lid-changed"
)

var changeOrder = [...]ChangeKind{NodeLost, CableLost, LinkSlower, PortStateChanged, NodeMoved, CableMoved,
	NodeReplaced, NodeNew, CableNew, LinkFaster, NodeRenamed, LIDChanged}

func (k ChangeKind) rank() int { return slices.Index(changeOrder[:], k) }

// Change is one difference, told once. Text is a whole sentence with names.
type Change struct {
	Kind ChangeKind `json:"kind"`
	Text string     `json:"text"`
	// Name is the subject's name, by which changes of one kind are sorted.
	Name string   `json:"name"`
	Type NodeType `json:"type,omitzero"`
	// Nodes are the nodes lost, new, moved, replaced (new GUID) or renamed; a
	// host with several adapters has them all here.
	Nodes []GUID `json:"nodes,omitempty"`
	// Was is the GUID before a replacement.
	Was GUID `json:"was,omitzero"`
	// A and B are the ends of the cable: as it is now, or as it was if it is lost.
	A PortRef `json:"a,omitzero"`
	B PortRef `json:"b,omitzero"`
	// OldB is where the cable at A went before it moved.
	OldB PortRef `json:"old_b,omitzero"`
	// From and To are the old and new rate, state, name or LID in words.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Cables counts the cables that came or went with a node.
	Cables int `json:"cables,omitzero"`
	// Hosts are those that came or went with a switch, since they hang on it alone.
	Hosts []string `json:"hosts,omitempty"`
	// Adapters counts adapters that came or went with a switch and whose hosts
	// have others.
	Adapters int `json:"adapters,omitzero"`
	// Part is set when a host lost or got some of its adapters but not all.
	Part bool `json:"part,omitempty"`

	hosts []string
	rank  int
}

// DiffOptions steers Compare. The zero value compares everything.
type DiffOptions struct {
	// InMaintenance reports whether changes at this host are expected; they are
	// counted but not listed. Nil means no host is.
	InMaintenance func(host string) bool
	// MinNodesPercent is the least share of the old nodes that a believable new
	// discovery has. 0 means DefaultMinNodesPercent, a negative value any share.
	MinNodesPercent int
	// IgnoreLIDs leaves out changed LIDs, which a restarted subnet manager without
	// its old table may cause by the thousand.
	IgnoreLIDs bool
}

// DefaultMinNodesPercent is a matter of judgement: one lost leaf of five is
// still believed, half a fabric is not.
const DefaultMinNodesPercent = 75

// Diff is what Compare found.
type Diff struct {
	Changes []Change   `json:"changes"`
	Counts  DiffCounts `json:"counts"`
	// Suspicious is a sentence that says why the new topology must not become a
	// baseline; empty if it may.
	Suspicious string `json:"suspicious,omitempty"`
	// Maintenance lists the hosts whose changes were expected and are not listed.
	Maintenance []string `json:"maintenance,omitempty"`
}

// DiffCounts counts changes. Lost and new hosts include those that went with
// their switch; cables that went with their node are not counted.
type DiffCounts struct {
	SwitchesLost int `json:"switches_lost"`
	SwitchesNew  int `json:"switches_new"`
	HostsLost    int `json:"hosts_lost"`
	HostsNew     int `json:"hosts_new"`
	// AdaptersLost and AdaptersNew are those of hosts that have others.
	AdaptersLost int `json:"adapters_lost"`
	AdaptersNew  int `json:"adapters_new"`
	OthersLost   int `json:"others_lost"`
	OthersNew    int `json:"others_new"`
	CablesLost   int `json:"cables_lost"`
	CablesNew    int `json:"cables_new"`
	Slower       int `json:"slower"`
	Faster       int `json:"faster"`
	States       int `json:"states"`
	HostsMoved   int `json:"hosts_moved"`
	CablesMoved  int `json:"cables_moved"`
	Replaced     int `json:"replaced"`
	Renamed      int `json:"renamed"`
	LIDs         int `json:"lids"`
	// InMaintenance counts the changes that were expected.
	InMaintenance int `json:"in_maintenance"`
}

// Empty reports whether nothing differs, not even at hosts in maintenance.
func (d *Diff) Empty() bool { return len(d.Changes) == 0 && d.Counts.InMaintenance == 0 }

// Compare says how the fabric changed from before to after, or how after differs from a
// plan given as before. Nodes are matched by GUID, ports by number.
func Compare(before, after *Topology, o DiffOptions) *Diff {
	c := &comparison{old: side{t: before}, now: side{t: after}, options: o}
	c.matchNodes()
	c.names = namesOf(c.namedNodes())
	c.matchCables()
	c.unchangedCables()
	c.movedCables()
	c.nodes(NodeLost, &c.old, &c.now)
	c.nodes(NodeNew, &c.now, &c.old)
	c.replacements()
	c.properties()
	return c.finish()
}

// comparison is the work of one Compare.
type comparison struct {
	old, now side
	options  DiffOptions
	names    *Names
	changes  []Change
	same     []cablePair
	// cabled holds the ports of same, once somebody has asked.
	cabled map[*Port]bool
}

// side is what belongs to one of the two topologies.
type side struct {
	t *Topology
	// single holds the nodes that the other side lacks.
	single map[GUID]bool
	// twin holds the GUID on the other side of replaced nodes.
	twin map[GUID]GUID
	// back leads from the canonical GUID of a replaced node to this side's.
	back map[GUID]GUID
	// cables are those without an equal on the other side.
	cables []diffCable
}

// canon gives a replaced node one GUID on both sides, the smaller of the two.
func (s *side) canon(g GUID) GUID {
	if other, ok := s.twin[g]; ok {
		return min(g, other)
	}
	return g
}

func (s *side) canonRef(r PortRef) PortRef { return PortRef{s.canon(r.Node), r.Port} }

// own is the reverse of canon.
func (s *side) own(g GUID) GUID {
	if own, ok := s.back[g]; ok {
		return own
	}
	return g
}

// both reports whether the node is on both sides.
func (s *side) both(g GUID) bool { return !s.single[g] && s.t.Node(g) != nil }

// namedNodes are all nodes now and those that are gone.
func (c *comparison) namedNodes() []*Node {
	nodes := make([]*Node, 0, len(c.now.t.Nodes)+len(c.old.single))
	for i := range c.now.t.Nodes {
		nodes = append(nodes, &c.now.t.Nodes[i])
	}
	for i := range c.old.t.Nodes {
		if n := &c.old.t.Nodes[i]; c.old.single[n.GUID] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (c *comparison) add(ch Change) {
	ch.rank = ch.Kind.rank() * 2
	if ch.Type == NodeCA {
		ch.rank++
	}
	c.changes = append(c.changes, ch)
}

func (c *comparison) finish() *Diff {
	d := &Diff{Changes: []Change{}, Suspicious: c.suspicious()}
	maintained := map[string]bool{}
	for _, ch := range c.changes {
		expected := false
		for _, h := range ch.hosts {
			if h != "" && c.options.InMaintenance != nil && c.options.InMaintenance(h) {
				expected, maintained[h] = true, true
			}
		}
		if expected {
			d.Counts.InMaintenance++
			continue
		}
		d.Counts.count(&ch)
		d.Changes = append(d.Changes, ch)
	}
	for h := range maintained {
		d.Maintenance = append(d.Maintenance, h)
	}
	slices.SortFunc(d.Maintenance, CompareHostNames)
	slices.SortStableFunc(d.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), CompareHostNames(a.Name, b.Name), a.A.Compare(b.A), a.B.Compare(b.B))
	})
	return d
}

func (c *comparison) suspicious() string {
	if c.now.t.Incomplete {
		return "The new discovery ended early or reported errors: what is missing may only be unseen, and it is not fit as a baseline."
	}
	least := cmp.Or(c.options.MinNodesPercent, DefaultMinNodesPercent)
	had, has := len(c.old.t.Nodes), len(c.now.t.Nodes)
	if least > 0 && has*100 < had*least {
		return fmt.Sprintf("The new discovery found %d of %d nodes, less than %d %%: it was probably cut short, and it is not fit as a baseline.",
			has, had, least)
	}
	return ""
}

func (n *DiffCounts) count(ch *Change) {
	hosts := len(ch.Hosts)
	switch ch.Kind {
	case NodeLost:
		n.HostsLost += hosts
		n.AdaptersLost += ch.Adapters
		*n.nodes(ch, &n.SwitchesLost, &n.HostsLost, &n.AdaptersLost, &n.OthersLost) += ch.units()
	case NodeNew:
		n.HostsNew += hosts
		n.AdaptersNew += ch.Adapters
		*n.nodes(ch, &n.SwitchesNew, &n.HostsNew, &n.AdaptersNew, &n.OthersNew) += ch.units()
	case CableLost:
		n.CablesLost++
	case CableNew:
		n.CablesNew++
	case LinkSlower:
		n.Slower++
	case LinkFaster:
		n.Faster++
	case PortStateChanged:
		n.States++
	case NodeMoved:
		n.HostsMoved++
	case CableMoved:
		n.CablesMoved++
	case NodeReplaced:
		n.Replaced++
	case NodeRenamed:
		n.Renamed++
	case LIDChanged:
		n.LIDs++
	}
}

func (n *DiffCounts) nodes(ch *Change, switches, hosts, adapters, others *int) *int {
	switch {
	case ch.Type == NodeSwitch:
		return switches
	case ch.Type == NodeCA && len(ch.hosts) == 0:
		return others
	case ch.Type == NodeCA && ch.Part:
		return adapters
	case ch.Type == NodeCA:
		return hosts
	}
	return others
}

// units is one, but the number of adapters where a host keeps others.
func (ch *Change) units() int {
	if ch.Part {
		return len(ch.Nodes)
	}
	return 1
}
