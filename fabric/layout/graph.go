package layout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// host is all adapters of one machine.
type host struct {
	name     string
	nodes    []fabric.GUID
	at       []fabric.GUID // switches, sorted, each once
	cables   int
	notes    []Note
	lost     bool          // gone and drawn all the same
	toOthers []fabric.Link // cables that lead straight to another host
}

// bundle is all cables between two switches.
type bundle struct {
	a, b   fabric.GUID
	cables int
	notes  []Note
}

// graph is a topology reduced to hosts, switches and bundles.
type graph struct {
	names    *fabric.Names
	switches []fabric.GUID // by name
	tier     map[fabric.GUID]int
	inside   map[fabric.GUID][]fabric.GUID // aggregation nodes by switch
	hosts    []*host                       // by name
	hostOf   map[fabric.GUID]*host
	bundles  []bundle
	next     map[fabric.GUID][]fabric.GUID
	notes    map[fabric.GUID][]Note
	attached map[fabric.GUID]int
	perHost  map[[2]fabric.GUID]int // cables by first adapter of host and switch
	// mates are the leaves that carry the same hosts as a leaf.
	mates    map[fabric.GUID][]fabric.GUID
	bundleAt map[fabric.GUID][]int
	hostAt   map[fabric.GUID][]*host
}

func newGraph(t *fabric.Topology, o Options) *graph {
	g := &graph{names: fabric.NewNames(t), tier: map[fabric.GUID]int{}, inside: map[fabric.GUID][]fabric.GUID{},
		hostOf: map[fabric.GUID]*host{}, next: map[fabric.GUID][]fabric.GUID{}, notes: map[fabric.GUID][]Note{},
		attached: map[fabric.GUID]int{}, perHost: map[[2]fabric.GUID]int{}}
	isSwitch := map[fabric.GUID]bool{}
	byName := map[string]*host{}
	var aggregation []*fabric.Node
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if o.Node != nil {
			if notes := o.Node(n.GUID); len(notes) > 0 {
				g.notes[n.GUID] = notes
			}
		}
		switch {
		case n.Type == fabric.NodeSwitch:
			isSwitch[n.GUID] = true
			g.switches = append(g.switches, n.GUID)
		case n.IsAggregation():
			aggregation = append(aggregation, n)
		default:
			g.addHost(n, byName)
		}
	}
	for _, n := range aggregation {
		if i := slices.IndexFunc(n.Ports, func(p fabric.Port) bool { return p.PeerKnown && isSwitch[p.Peer.Node] }); i >= 0 {
			sw := n.Ports[i].Peer.Node
			g.inside[sw] = append(g.inside[sw], n.GUID)
		} else {
			g.addHost(n, byName)
		}
	}
	g.cable(t, o, isSwitch)
	byNames := func(a, b fabric.GUID) int {
		return cmp.Or(fabric.CompareHostNames(g.names.Of(a), g.names.Of(b)), cmp.Compare(a, b))
	}
	slices.SortFunc(g.switches, byNames)
	slices.SortFunc(g.hosts, func(a, b *host) int {
		return cmp.Or(fabric.CompareHostNames(a.name, b.name), cmp.Compare(a.nodes[0], b.nodes[0]))
	})
	for _, h := range g.hosts {
		slices.SortFunc(h.at, byNames)
	}
	g.rank()
	return g
}

// addHost puts adapters of one host together, which share its name and differ
// by device.
func (g *graph) addHost(n *fabric.Node, byName map[string]*host) {
	name, label := g.names.Host(n.GUID), g.names.Of(n.GUID)
	if name == "" || len(label) > 0 && label[len(label)-1] == ']' {
		name = label
	}
	h := byName[name]
	if h == nil {
		h = &host{name: name}
		byName[name] = h
		g.hosts = append(g.hosts, h)
	}
	h.nodes = append(h.nodes, n.GUID)
	h.notes = append(h.notes, g.notes[n.GUID]...)
	h.lost = worst(g.notes[n.GUID]) == Lost && (len(h.nodes) == 1 || h.lost)
	g.hostOf[n.GUID] = h
}

func (g *graph) cable(t *fabric.Topology, o Options, isSwitch map[fabric.GUID]bool) {
	index := map[[2]fabric.GUID]int{}
	for _, l := range t.Links() {
		var notes []Note
		if o.Cable != nil {
			notes = o.Cable(l)
		}
		a, b := l.A.Node, l.B.Node
		if isSwitch[b] && !isSwitch[a] {
			a, b = b, a
		}
		ha, hb := g.hostOf[a], g.hostOf[b]
		switch {
		case isSwitch[a] && isSwitch[b]:
			if a == b {
				continue
			}
			key := [2]fabric.GUID{min(a, b), max(a, b)}
			i, ok := index[key]
			if !ok {
				i = len(g.bundles)
				index[key] = i
				g.bundles = append(g.bundles, bundle{a: key[0], b: key[1]})
				g.next[a] = append(g.next[a], b)
				g.next[b] = append(g.next[b], a)
			}
			g.bundles[i].cables++
			g.bundles[i].notes = append(g.bundles[i].notes, notes...)
		case isSwitch[a] && hb != nil:
			hb.cables++
			hb.notes = append(hb.notes, notes...)
			if !slices.Contains(hb.at, a) {
				hb.at = append(hb.at, a)
				g.attached[a]++
			}
			g.perHost[[2]fabric.GUID{hb.nodes[0], a}]++
		case ha != nil && hb != nil && ha != hb:
			ha.cables++
			hb.cables++
			ha.notes = append(ha.notes, notes...)
			ha.toOthers = append(ha.toOthers, l)
		}
	}
}

// rank gives every switch its distance from the leaves. A leaf is what hosts
// hang on; a spine with only a management host on it is still a spine.
func (g *graph) rank() {
	defer g.emptyLeaves()
	for _, part := range g.components(g.switches, func(fabric.GUID) bool { return true }) {
		most := 0
		for _, s := range part {
			most = max(most, g.attached[s])
		}
		var queue, doubtful []fabric.GUID
		for _, s := range part {
			switch n := g.attached[s]; {
			case n == 0 && most > 0:
			case n*8 >= most:
				g.tier[s] = 0
				queue = append(queue, s)
			default:
				doubtful = append(doubtful, s)
			}
		}
		busy := map[fabric.GUID]bool{}
		for _, s := range queue {
			busy[s] = true
		}
		for _, s := range doubtful {
			if !slices.ContainsFunc(g.next[s], func(n fabric.GUID) bool { return busy[n] }) {
				g.tier[s] = 0
				queue = append(queue, s)
			}
		}
		for len(queue) > 0 {
			s := queue[0]
			queue = queue[1:]
			for _, n := range g.next[s] {
				if _, done := g.tier[n]; !done {
					g.tier[n] = g.tier[s] + 1
					queue = append(queue, n)
				}
			}
		}
	}
}

// components divides those of the switches that keep admits into connected
// pieces, each in the order of the list.
func (g *graph) components(list []fabric.GUID, keep func(fabric.GUID) bool) [][]fabric.GUID {
	piece := map[fabric.GUID]int{}
	var out [][]fabric.GUID
	for _, start := range list {
		if _, seen := piece[start]; seen || !keep(start) {
			continue
		}
		id := len(out)
		out = append(out, nil)
		piece[start] = id
		for queue := []fabric.GUID{start}; len(queue) > 0; queue = queue[1:] {
			for _, near := range [...][]fabric.GUID{g.next[queue[0]], g.mates[queue[0]]} {
				for _, n := range near {
					if _, seen := piece[n]; !seen && keep(n) {
						piece[n] = id
						queue = append(queue, n)
					}
				}
			}
		}
	}
	for _, s := range list {
		if id, ok := piece[s]; ok {
			out[id] = append(out[id], s)
		}
	}
	return out
}

// emptyLeaves lowers the switches that stand above spines but have the names of
// leaves: leaves that wait for their hosts look like cores by their cables.
func (g *graph) emptyLeaves() {
	stems := map[string][3]bool{}
	for _, s := range g.switches {
		seen := stems[stem(g.names.Of(s))]
		seen[min(g.tier[s], 2)] = true
		stems[stem(g.names.Of(s))] = seen
	}
	for _, s := range g.switches {
		if seen := stems[stem(g.names.Of(s))]; g.tier[s] > 1 && g.attached[s] == 0 && seen[0] && !seen[1] {
			g.tier[s] = 0
		}
	}
}

// stem is a name up to its first digit.
func stem(name string) string {
	if i := strings.IndexAny(name, "0123456789"); i >= 0 {
		return name[:i]
	}
	return name
}

func (g *graph) tierCounts() []int {
	var counts []int
	for _, s := range g.switches {
		for len(counts) <= g.tier[s] {
			counts = append(counts, 0)
		}
		counts[g.tier[s]]++
	}
	return counts
}

// Limits of the drawing in rows, by looking: beyond them lines become a haze and
// the picture is too wide to read without zooming.
const (
	maxRowSwitches = 12
	maxRowBundles  = 100
)

func (g *graph) fitsRows() bool {
	for _, n := range g.tierCounts() {
		if n > maxRowSwitches {
			return false
		}
	}
	return len(g.bundles) <= maxRowBundles && len(g.groups()) <= 2*maxRowSwitches
}

// group is the hosts that hang on the same switches.
type group struct {
	at    []fabric.GUID
	hosts []*host
}

// groups are sorted by the first switch's place in the list of switches; the
// hosts without a switch are one each if cabled, else together.
func (g *graph) groups() []*group {
	var out []*group
	index := map[string]*group{}
	for _, h := range g.hosts {
		key := ""
		for _, s := range h.at {
			key += s.String()
		}
		if len(h.at) == 0 && h.cables > 0 {
			key = h.name
		}
		gr := index[key]
		if gr == nil {
			gr = &group{at: h.at}
			index[key] = gr
			out = append(out, gr)
		}
		gr.hosts = append(gr.hosts, h)
	}
	return out
}
