package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
	"pgregory.net/rapid"
)

// net builds topologies cable by cable.
type net struct {
	nodes []fabric.Node
	used  map[fabric.GUID]int
}

func (n *net) add(kind fabric.NodeType, name string) fabric.GUID {
	g := fabric.GUID(len(n.nodes) + 1)
	n.nodes = append(n.nodes, fabric.Node{GUID: g, Type: kind, Description: name, NumPorts: 64})
	return g
}

func (n *net) host(name string, at ...fabric.GUID) {
	for i, s := range at {
		device := fmt.Sprintf("%s mlx5_%d", name, i)
		n.cable(n.add(fabric.NodeCA, device), s)
	}
}

func (n *net) cable(a, b fabric.GUID) {
	if n.used == nil {
		n.used = map[fabric.GUID]int{}
	}
	n.used[a]++
	pa := fabric.PortRef{Node: a, Port: fabric.PortNum(n.used[a])}
	n.used[b]++
	pb := fabric.PortRef{Node: b, Port: fabric.PortNum(n.used[b])}
	n.nodes[a-1].Ports = append(n.nodes[a-1].Ports, fabric.Port{Num: pa.Port, Peer: pb, PeerKnown: true, Width: 4, Speed: fabric.HDR})
	n.nodes[b-1].Ports = append(n.nodes[b-1].Ports, fabric.Port{Num: pb.Port, Peer: pa, PeerKnown: true, Width: 4, Speed: fabric.HDR})
}

func (n *net) topology() *fabric.Topology { return fabric.NewTopology(n.nodes) }

func (n *net) switches(count int, name string) []fabric.GUID {
	out := make([]fabric.GUID, count)
	for i := range out {
		out[i] = n.add(fabric.NodeSwitch, fmt.Sprintf("MF0;%s%02d:MQM8700/U1", name, i+1))
	}
	return out
}

// tree is a two-level fat tree with parallel cables between its switches.
func tree(leaves, perLeaf, spines, parallel int) *fabric.Topology {
	n := &net{}
	top, low := n.switches(spines, "spine"), n.switches(leaves, "leaf")
	for i, leaf := range low {
		for h := range perLeaf {
			n.host(fmt.Sprintf("node%03d", i*perLeaf+h+1), leaf)
		}
		for _, s := range top {
			for range parallel {
				n.cable(leaf, s)
			}
		}
	}
	return n.topology()
}

// rails has hosts with one adapter on each leaf.
func rails(units, perUnit, rails int) *fabric.Topology {
	n := &net{}
	spine := n.switches(2, "spine")
	for u := range units {
		leaves := n.switches(rails, fmt.Sprintf("leaf-u%d-", u+1))
		for h := range perUnit {
			n.host(fmt.Sprintf("gpu%03d", u*perUnit+h+1), leaves...)
		}
		for _, l := range leaves {
			n.cable(l, spine[0])
			n.cable(l, spine[1])
		}
	}
	return n.topology()
}

func dragonfly(switches int) *fabric.Topology {
	n := &net{}
	all := n.switches(switches, "df")
	for i, s := range all {
		for h := range 4 {
			n.host(fmt.Sprintf("node%03d", i*4+h+1), s)
		}
		for _, o := range all[:i] {
			n.cable(s, o)
		}
	}
	return n.topology()
}

func backToBack() *fabric.Topology {
	n := &net{}
	n.cable(n.add(fabric.NodeCA, "node001 HCA-1"), n.add(fabric.NodeCA, "node002 HCA-1"))
	return n.topology()
}

func pieces() *fabric.Topology {
	n := &net{}
	for _, island := range []string{"a", "b"} {
		spine, leaves := n.switches(1, island+"spine"), n.switches(2, island+"leaf")
		for i, l := range leaves {
			n.cable(l, spine[0])
			n.host(fmt.Sprintf("%snode%d", island, i+1), l)
		}
	}
	n.host("ufm", 1)
	n.add(fabric.NodeCA, "stray HCA-1")
	n.switches(1, "lonely")
	n.cable(n.add(fabric.NodeCA, "pair1 HCA-1"), n.add(fabric.NodeCA, "pair2 HCA-1"))
	return n.topology()
}

// check fails unless every node is placed once, no two boxes meet, and every
// edge ends at the rims of its boxes.
func check(t rapid.TB, top *fabric.Topology, l *Layout) {
	t.Helper()
	placed := map[fabric.GUID]int{}
	for i, b := range l.Boxes {
		for _, g := range b.Nodes {
			placed[g]++
		}
		if b.W <= 0 || b.H <= 0 || b.X < 0 || b.Y < 0 || b.X+b.W > l.W+0.01 || b.Y+b.H > l.H+0.01 {
			t.Fatalf("box %q at %v,%v size %v,%v lies outside of %v,%v", b.Title, b.X, b.Y, b.W, b.H, l.W, l.H)
		}
		for _, r := range b.Rows {
			if r.X < b.X || r.Y < b.Y || r.Y > b.Y+b.H {
				t.Fatalf("row %q lies outside of its box %q", r.Text, b.Title)
			}
		}
		for _, o := range l.Boxes[:i] {
			if b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H {
				t.Fatalf("boxes %q %v and %q %v overlap", b.Title, b.Rows, o.Title, o.Rows)
			}
		}
	}
	for i := range top.Nodes {
		if g := top.Nodes[i].GUID; placed[g] != 1 {
			t.Fatalf("node %q is placed %d times", top.Nodes[i].Description, placed[g])
		}
	}
	for _, e := range l.Edges {
		if e.From == e.To || e.Cables < 1 || len(e.Path) < 2 {
			t.Fatalf("edge %+v", e)
		}
		if from, to := &l.Boxes[e.From], &l.Boxes[e.To]; !onRim(from, e.Path[0]) || !onRim(to, e.Path[len(e.Path)-1]) {
			t.Fatalf("edge %v does not end at the boxes %q and %q", e.Path, from.Title, to.Title)
		}
	}
}

func onRim(b *Box, p Point) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 0.01 }
	inX, inY := p.X > b.X-0.01 && p.X < b.X+b.W+0.01, p.Y > b.Y-0.01 && p.Y < b.Y+b.H+0.01
	return inX && (near(p.Y, b.Y) || near(p.Y, b.Y+b.H)) || inY && (near(p.X, b.X) || near(p.X, b.X+b.W))
}

func TestLayoutHolds(t *testing.T) {
	for name, top := range map[string]*fabric.Topology{
		"empty": {}, "one_host": tree(1, 1, 0, 0), "single_switch": tree(1, 30, 0, 0), "two_level": tree(4, 4, 2, 2), "64": tree(8, 8, 4, 2),
		"324": tree(18, 18, 9, 2), "1000": fabrictest.FatTree(1000), "5000": fabrictest.FatTree(5000), "dragonfly_small": dragonfly(5),
		"dragonfly": dragonfly(20), "back_to_back": backToBack(), "pieces": pieces(), "rails": rails(1, 8, 8), "rail_units": rails(6, 16, 8),
	} {
		t.Run(name, func(t *testing.T) { check(t, top, Of(top, Options{})) })
	}
}

func TestLayoutHoldsForAnything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := &net{}
		sw := n.switches(rapid.IntRange(0, 16).Draw(r, "switches"), "sw")
		for i := range rapid.IntRange(0, 30).Draw(r, "hosts") {
			name := fmt.Sprintf("node%02d", i)
			if len(sw) == 0 || rapid.IntRange(0, 9).Draw(r, "alone") == 0 {
				n.add(fabric.NodeCA, name)
				continue
			}
			n.host(name, rapid.SliceOfN(rapid.SampledFrom(sw), 1, 3).Draw(r, "at")...)
		}
		if len(n.nodes) > 1 {
			for range rapid.IntRange(0, 40).Draw(r, "cables") {
				a, b := rapid.IntRange(1, len(n.nodes)).Draw(r, "a"), rapid.IntRange(1, len(n.nodes)).Draw(r, "b")
				if a != b {
					n.cable(fabric.GUID(a), fabric.GUID(b))
				}
			}
		}
		top := n.topology()
		check(r, top, Of(top, Options{NamedHosts: rapid.IntRange(1, 40).Draw(r, "named")}))
	})
}

func titles(l *Layout, tier int) []string {
	var out []string
	for _, b := range l.Boxes {
		if b.Tier == tier {
			out = append(out, b.Title)
		}
	}
	return out
}

func TestTiers(t *testing.T) {
	l := Of(tree(4, 4, 2, 1), Options{})
	if got := fmt.Sprint(titles(l, 1), titles(l, 2), l.Hosts, l.Tiers); got != "[leaf01 leaf02 leaf03 leaf04] [spine01 spine02] 16 [4 2]" {
		t.Error(got)
	}
	// A management host on a spine does not make it a leaf.
	n := &net{}
	spine, leaves := n.switches(2, "spine"), n.switches(3, "leaf")
	for i, leaf := range leaves {
		n.cable(leaf, spine[0])
		n.cable(leaf, spine[1])
		for h := range 10 {
			n.host(fmt.Sprintf("node%d", i*10+h), leaf)
		}
	}
	n.host("ufm", spine[0])
	if hosts, tiers := Tally(n.topology()); hosts != 31 || !slices.Equal(tiers, []int{3, 2}) {
		t.Errorf("got %d hosts, tiers %v", hosts, tiers)
	}
	if hosts, tiers := Tally(fabrictest.FatTree(1000)); hosts != 1000 || len(tiers) != 3 || tiers[0] != 50 {
		t.Errorf("got %d hosts, tiers %v", hosts, tiers)
	}
}

func TestSmallFabricNamesEveryHost(t *testing.T) {
	l := Of(tree(4, 4, 2, 2), Options{})
	var names []string
	for _, b := range l.Boxes {
		for _, r := range b.Rows {
			names = append(names, r.Text)
		}
	}
	if len(names) != 16 || !slices.Contains(names, "node011") || l.Compact {
		t.Errorf("got %v, compact %v", names, l.Compact)
	}
	for _, e := range l.Edges {
		want := 2
		if l.Boxes[e.From].Kind == Hosts {
			want = 4
		}
		if e.Cables != want {
			t.Errorf("edge from %q to %q holds %d cables, want %d", l.Boxes[e.From].Title, l.Boxes[e.To].Title, e.Cables, want)
		}
	}
}

func TestLargeFabricNamesOnlyExceptions(t *testing.T) {
	top := tree(18, 18, 9, 2)
	names := fabric.NewNames(top)
	l := Of(top, Options{Cable: func(c fabric.Link) []Note {
		for _, g := range [...]fabric.GUID{c.A.Node, c.B.Node} {
			if name := names.Of(g); name == "node163" {
				return []Note{{"4X → 1X", Slow}}
			}
		}
		return nil
	}})
	var rows []string
	for _, b := range l.Boxes {
		if b.Kind == Leaf && !strings.HasPrefix(b.Sub, "18 hosts") {
			t.Errorf("%q says %q", b.Title, b.Sub)
		}
		for _, r := range b.Rows {
			rows = append(rows, b.Title+" "+r.Text)
		}
	}
	if !slices.Equal(rows, []string{"leaf10 node163: 4X → 1X"}) {
		t.Errorf("got %q", rows)
	}
}

func TestRailsShareABox(t *testing.T) {
	l := Of(rails(16, 16, 8), Options{})
	leaves := 0
	for _, b := range l.Boxes {
		if b.Kind == Leaf {
			leaves++
			if b.Sub != "16 hosts, 128 adapters" || !strings.Contains(b.Title, "[01-08]") {
				t.Errorf("%q says %q", b.Title, b.Sub)
			}
		}
	}
	if leaves != 16 {
		t.Errorf("got %d boxes of leaves, want one per unit", leaves)
	}
}

func BenchmarkLayout10000(b *testing.B) {
	top := fabrictest.FatTree(10000)
	b.ReportAllocs()
	for b.Loop() {
		if l := Of(top, Options{}); l.Hosts != 10000 {
			b.Fatal(l.Hosts)
		}
	}
}
