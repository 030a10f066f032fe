package fabric

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// tree builds a two-level fat tree: leaves with perLeaf hosts each, and one
// cable from every leaf to every spine. GUIDs: hosts 0x1nnnn, leaves 0x2nnnn,
// spines 0x3nnnn.
func tree(leaves, perLeaf, spines int) *Topology {
	var nodes []Node
	cable := func(peer PortRef, num int) Port {
		return Port{Num: PortNum(num), Peer: peer, PeerKnown: true, Width: 4, Speed: HDR, State: PortActive}
	}
	for l := range leaves {
		leaf := Node{GUID: leafGUID(l), Type: NodeSwitch, NumPorts: 40, LID: LID(l + 1),
			Description: fmt.Sprintf("MF0;leaf%02d:MQM8700/U1", l+1)}
		for h := range perLeaf {
			at := l*perLeaf + h
			leaf.Ports = append(leaf.Ports, cable(PortRef{hostGUID(at), 1}, h+1))
			p := cable(PortRef{leaf.GUID, PortNum(h + 1)}, 1)
			p.LID = LID(1000 + at)
			nodes = append(nodes, Node{GUID: hostGUID(at), Type: NodeCA, NumPorts: 1,
				Description: fmt.Sprintf("node%03d HCA-1", at+1), Ports: []Port{p}})
		}
		for s := range spines {
			leaf.Ports = append(leaf.Ports, cable(PortRef{spineGUID(s), PortNum(l + 1)}, perLeaf+s+1))
		}
		nodes = append(nodes, leaf)
	}
	for s := range spines {
		spine := Node{GUID: spineGUID(s), Type: NodeSwitch, NumPorts: 200, LID: LID(500 + s),
			Description: fmt.Sprintf("MF0;spine%02d:MQM8700/U1", s+1)}
		for l := range leaves {
			spine.Ports = append(spine.Ports, cable(PortRef{leafGUID(l), PortNum(perLeaf + s + 1)}, l+1))
		}
		nodes = append(nodes, spine)
	}
	return NewTopology(nodes)
}

func hostGUID(i int) GUID  { return GUID(0x10001 + i) }
func leafGUID(i int) GUID  { return GUID(0x20001 + i) }
func spineGUID(i int) GUID { return GUID(0x30001 + i) }

func (t *Topology) clone() *Topology {
	nodes := make([]Node, len(t.Nodes))
	for i, n := range t.Nodes {
		n.Ports = append([]Port(nil), n.Ports...)
		nodes[i] = n
	}
	return NewTopology(nodes)
}

// unplug removes the cable at an end.
func (t *Topology) unplug(end PortRef) PortRef {
	p := t.Port(end)
	if p == nil || !p.PeerKnown {
		return PortRef{}
	}
	other := p.Peer
	t.drop(end)
	t.drop(other)
	return other
}

func (t *Topology) drop(end PortRef) {
	n := t.Node(end.Node)
	for i := range n.Ports {
		if n.Ports[i].Num == end.Port {
			n.Ports = append(n.Ports[:i], n.Ports[i+1:]...)
			return
		}
	}
}

func (t *Topology) plug(a, b PortRef) {
	for _, e := range [][2]PortRef{{a, b}, {b, a}} {
		n := t.Node(e[0].Node)
		n.Ports = append(n.Ports, Port{Num: e[0].Port, Peer: e[1], PeerKnown: true, Width: 4, Speed: HDR, State: PortActive})
		*n = NewTopology([]Node{*n}).Nodes[0]
	}
}

// remove takes a node and its cables away.
func (t *Topology) remove(g GUID) {
	n := t.Node(g)
	for len(n.Ports) > 0 {
		t.unplug(PortRef{g, n.Ports[0].Num})
	}
	for i := range t.Nodes {
		if t.Nodes[i].GUID == g {
			t.Nodes = append(t.Nodes[:i], t.Nodes[i+1:]...)
			return
		}
	}
}

// swap gives a node another GUID, as a swapped card has.
func (t *Topology) swap(g, to GUID) {
	for i := range t.Nodes {
		for j := range t.Nodes[i].Ports {
			if p := &t.Nodes[i].Ports[j]; p.Peer.Node == g {
				p.Peer.Node = to
			}
		}
	}
	t.Node(g).GUID = to
	*t = *NewTopology(t.Nodes)
}

func (t *Topology) setRate(end PortRef, w Width, s Speed) {
	p := t.Port(end)
	q := t.Port(p.Peer)
	p.Width, p.Speed, q.Width, q.Speed = w, s, w, s
}

func (t *Topology) setState(end PortRef, s PortState) {
	p := t.Port(end)
	p.State, t.Port(p.Peer).State = s, s
}

func TestCompareSentences(t *testing.T) {
	h := func(i int) PortRef { return PortRef{hostGUID(i), 1} }
	for _, c := range []struct {
		name   string
		change func(*Topology)
		want   []string
	}{
		{"nothing", func(*Topology) {}, nil},
		{"host_lost", func(t *Topology) { t.remove(hostGUID(4)) }, []string{"node005 lost (was at leaf02 port 1)"}},
		{"switch_lost_with_its_hosts", func(t *Topology) {
			for i := 4; i < 8; i++ {
				t.remove(hostGUID(i))
			}
			t.remove(leafGUID(1))
		}, []string{"leaf02 lost with 6 cables, 4 hosts behind it: node[005-008]"}},
		{"spine_lost", func(t *Topology) { t.remove(spineGUID(1)) }, []string{"spine02 lost with 4 cables"}},
		{"spine_cable_lost", func(t *Topology) { t.unplug(PortRef{spineGUID(1), 3}) }, []string{"cable lost: leaf03 port 6 – spine02 port 3"}},
		{"host_cable_lost", func(t *Topology) { t.unplug(h(0)) }, []string{"cable lost: node001 – leaf01 port 1"}},
		{"slower", func(t *Topology) { t.setRate(h(6), 1, SDR) }, []string{"node007 – leaf02 port 3 slower: 4X HDR → 1X SDR"}},
		{"faster", func(t *Topology) { t.setRate(PortRef{leafGUID(0), 5}, 4, NDR) }, []string{"leaf01 port 5 – spine01 port 1 faster: 4X HDR → 4X NDR"}},
		{"moved", func(t *Topology) { t.unplug(h(6)); t.plug(h(6), PortRef{leafGUID(2), 20}) }, []string{"node007 moved: leaf02 port 3 → leaf03 port 20"}},
		{"two_hosts_swapped", func(t *Topology) {
			a, b := t.unplug(h(0)), t.unplug(h(5))
			t.plug(h(0), b)
			t.plug(h(5), a)
		}, []string{"node001 moved: leaf01 port 1 → leaf02 port 2", "node006 moved: leaf02 port 2 → leaf01 port 1"}},
		{"recabled", func(t *Topology) {
			t.unplug(PortRef{leafGUID(0), 6})
			t.plug(PortRef{leafGUID(0), 6}, PortRef{spineGUID(0), 30})
		}, []string{"re-cabled: leaf01 port 6 goes to spine01 port 30, was spine02 port 1"}},
		{"renamed", func(t *Topology) { t.Node(hostGUID(2)).Description = "node003b HCA-1" }, []string{"renamed: node003 → node003b"}},
		{"renamed_adapter_only", func(t *Topology) { t.Node(hostGUID(2)).Description = "node003 mlx5_0" }, []string{"renamed: node003 HCA-1 → node003 mlx5_0"}},
		{"lid", func(t *Topology) { t.Node(hostGUID(2)).Ports[0].LID = 9 }, []string{"LID of node003 changed: 1002 → 9"}},
		{"switch_lid", func(t *Topology) { t.Node(leafGUID(2)).LID = 9 }, []string{"LID of leaf03 changed: 3 → 9"}},
		{"adapter_replaced", func(t *Topology) { t.swap(hostGUID(2), 0x99) },
			[]string{"node003: HCA replaced (0x0000000000010003 → 0x0000000000000099) at leaf01 port 3"}},
		{"adapter_replaced_without_name", func(t *Topology) {
			t.Node(hostGUID(2)).Description = "MT4123 ConnectX6   Mellanox Technologies"
			t.swap(hostGUID(2), 0x99)
		}, []string{"node003: HCA replaced (0x0000000000010003 → 0x0000000000000099) at leaf01 port 3"}},
		{"switch_replaced", func(t *Topology) { t.swap(leafGUID(2), 0x99) },
			[]string{"leaf03: switch replaced (0x0000000000020003 → 0x0000000000000099)"}},
		{"leaf_and_one_host_replaced", func(t *Topology) { t.swap(leafGUID(2), 0x98); t.swap(hostGUID(8), 0x99) },
			[]string{"leaf03: switch replaced (0x0000000000020003 → 0x0000000000000098)",
				"node009: HCA replaced (0x0000000000010009 → 0x0000000000000099) at leaf03 port 1"}},
		{"state", func(t *Topology) { t.setState(h(6), PortInitializing) }, []string{"node007 – leaf02 port 3: Active → Initializing"}},
		{"state_down_hides_the_junk_rate", func(t *Topology) { t.setState(h(6), PortDown); t.setRate(h(6), 4, SDR) }, []string{"node007 – leaf02 port 3: Active → Down"}},
		{"state_at_one_end", func(t *Topology) { t.Node(hostGUID(6)).Ports[0].State = PortArmed }, []string{"node007 – leaf02 port 3: Active → Armed at node007"}},
		{"host_moved_off_a_lost_leaf", func(t *Topology) {
			for i := 5; i < 8; i++ {
				t.remove(hostGUID(i))
			}
			t.unplug(h(4))
			t.plug(h(4), PortRef{leafGUID(0), 30})
			t.remove(leafGUID(1))
		}, []string{"leaf02 lost with 6 cables, 3 hosts behind it: node[006-008]", "node005 moved: leaf02 port 1 → leaf01 port 30"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := tree(4, 4, 2)
			now := old.clone()
			c.change(now)
			got := Compare(old, now, DiffOptions{MinNodesPercent: -1})
			if lines := got.Lines(0); !reflect.DeepEqual(lines, c.want) && len(lines)+len(c.want) > 0 {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(lines, "\n  "), strings.Join(c.want, "\n  "))
			}
			if got.Empty() != (len(c.want) == 0) {
				t.Errorf("Empty() = %v", got.Empty())
			}
		})
	}
}

func TestCompareHostsWithSeveralAdapters(t *testing.T) {
	old := tree(4, 4, 2)
	for i := range 4 {
		// One adapter of gpu1 on every leaf.
		old.Node(hostGUID(4 * i)).Description = fmt.Sprintf("gpu1 mlx5_%d", i)
	}
	now := old.clone()
	now.remove(hostGUID(0))
	now.remove(hostGUID(4))
	d := Compare(old, now, DiffOptions{})
	if got, want := d.Lines(0), []string{"gpu1 lost 2 of 4 adapters: mlx5_0, mlx5_1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	now.remove(hostGUID(8))
	now.remove(hostGUID(12))
	if got, want := Compare(old, now, DiffOptions{}).Summary(), "1 host lost"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	now = old.clone()
	for i := range 4 {
		now.remove(hostGUID(i))
	}
	now.remove(leafGUID(0))
	if got, want := Compare(old, now, DiffOptions{MinNodesPercent: -1}).Lines(0),
		[]string{"leaf01 lost with 6 cables, 3 hosts behind it: node[002-004] and 1 adapter behind it of hosts that have others"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCompareFoldsMaintenance(t *testing.T) {
	old := tree(4, 4, 2)
	now := old.clone()
	now.remove(hostGUID(4))
	now.setRate(PortRef{hostGUID(5), 1}, 1, HDR)
	now.unplug(PortRef{hostGUID(0), 1})
	d := Compare(old, now, DiffOptions{InMaintenance: func(h string) bool { return h == "node005" || h == "node006" }})
	want := []string{"cable lost: node001 – leaf01 port 1", "2 changes at 2 hosts in maintenance not listed: node[005-006]"}
	if got := d.Lines(0); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := d.Summary(), "1 cable lost, and changes at 2 hosts in maintenance"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesCutOff(t *testing.T) {
	old := tree(4, 4, 2)
	now := old.clone()
	for i := range 12 {
		now.Node(hostGUID(i)).Ports[0].LID += 100
	}
	now.unplug(PortRef{hostGUID(15), 1})
	d := Compare(old, now, DiffOptions{})
	want := []string{"cable lost: node016 – leaf04 port 4", "LID of node001 changed: 1000 → 1100", "… and 11 more: 11 LIDs changed"}
	if got := d.Lines(3); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := len(d.Lines(13)); got != 13 {
		t.Errorf("13 lines fit, got %d", got)
	}
	if d := Compare(old, now, DiffOptions{IgnoreLIDs: true}); d.Summary() != "1 cable lost" {
		t.Errorf("got %q", d.Summary())
	}
}

func TestSuspicious(t *testing.T) {
	old := tree(4, 4, 2)
	for name, now := range map[string]*Topology{
		"empty": {}, "cut_short": NewTopology(append([]Node(nil), old.clone().Nodes[:5]...)), "incomplete": {Nodes: old.Nodes, Incomplete: true},
	} {
		d := Compare(old, now, DiffOptions{})
		if d.Suspicious == "" || d.Lines(1)[0] != d.Suspicious || !strings.HasPrefix(d.Summary(), "suspicious discovery: ") {
			t.Errorf("%s: %q, %q", name, d.Suspicious, d.Summary())
		}
	}
	if d := Compare(&Topology{}, old, DiffOptions{}); d.Suspicious != "" {
		t.Errorf("a first discovery is not suspicious: %q", d.Suspicious)
	}
}

func TestAggregationNodesGoWithTheirSwitch(t *testing.T) {
	old := tree(4, 4, 2)
	const agg = GUID(0x40001)
	old = NewTopology(append(old.Nodes, Node{GUID: agg, Type: NodeCA, NumPorts: 1, Description: "Mellanox Technologies Aggregation Node"}))
	old.plug(PortRef{agg, 1}, PortRef{spineGUID(0), 41})
	now := old.clone()
	now.remove(agg)
	if got := Compare(old, now, DiffOptions{}).Lines(0); len(got) != 1 || got[0] != "aggregation node of spine01 lost" {
		t.Errorf("got %q", got)
	}
	now.remove(spineGUID(0))
	if got := Compare(old, now, DiffOptions{}).Lines(0); len(got) != 1 || got[0] != "spine01 lost with 5 cables" {
		t.Errorf("got %q", got)
	}
	now = old.clone()
	now.swap(agg, 0x77)
	now.swap(spineGUID(0), 0x78)
	if got := Compare(old, now, DiffOptions{}).Counts; got != (DiffCounts{Replaced: 1}) {
		t.Errorf("got %+v", got)
	}
}

func TestDiffJSONIsStable(t *testing.T) {
	old := tree(2, 2, 1)
	now := old.clone()
	now.remove(hostGUID(1))
	now.setRate(PortRef{hostGUID(0), 1}, 1, HDR)
	d := Compare(old, now, DiffOptions{})
	first, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, _ := json.Marshal(Compare(old, now, DiffOptions{})); string(again) != string(first) {
			t.Fatalf("got\n%s\nthen\n%s", first, again)
		}
	}
	var back Diff
	if err := json.Unmarshal(first, &back); err != nil || back.Summary() != d.Summary() || !reflect.DeepEqual(back.Lines(0), d.Lines(0)) {
		t.Errorf("round trip: %v, %q", err, back.Summary())
	}
	if want := `"text":"node002 lost (was at leaf01 port 2)","name":"node002","type":"ca","nodes":["0x0000000000010002"]`; !strings.Contains(string(first), want) {
		t.Errorf("%s\nlacks %s", first, want)
	}
}

func TestNames(t *testing.T) {
	nodes := []Node{
		{GUID: 1, Type: NodeCA, Description: "node001 HCA-1"},
		{GUID: 2, Type: NodeCA, Description: "gpu1 mlx5_0"}, {GUID: 3, Type: NodeCA, Description: "gpu1 mlx5_1"},
		{GUID: 4, Type: NodeCA, Description: "localhost HCA-1"}, {GUID: 5, Type: NodeCA, Description: "localhost HCA-1"},
		{GUID: 6, Type: NodeSwitch, Description: "MF0;leaf-a:MQM9701/U1"},
		{GUID: 7, Type: NodeSwitch, Description: "MF0;core:CS7520/L01/U1"}, {GUID: 8, Type: NodeSwitch, Description: "MF0;core:CS7520/L02/U1"},
		{GUID: 9, Type: NodeCA, Description: "MT4129 ConnectX7   Mellanox Technologies"}, {GUID: 10, Type: NodeCA},
	}
	want := []string{"node001", "gpu1 mlx5_0", "gpu1 mlx5_1", "localhost [0x0000000000000004]", "localhost [0x0000000000000005]",
		"leaf-a", "core L01/U1", "core L02/U1", "MT4129 ConnectX7 [0x0000000000000009]", "unnamed HCA [0x000000000000000a]"}
	names := NewNames(NewTopology(nodes))
	for i, w := range want {
		if got := names.Of(GUID(i + 1)); got != w {
			t.Errorf("got %q, want %q", got, w)
		}
	}
	if names.Host(3) != "gpu1" || names.Host(6) != "" {
		t.Errorf("hosts: %q, %q", names.Host(3), names.Host(6))
	}
}

func BenchmarkCompare10000(b *testing.B) {
	old := tree(200, 50, 36)
	now := old.clone()
	for i := range 500 {
		now.remove(hostGUID(i * 20))
		now.setRate(PortRef{hostGUID(i*20 + 1), 1}, 1, SDR)
	}
	b.ReportAllocs()
	for b.Loop() {
		if d := Compare(old, now, DiffOptions{}); len(d.Changes) != 1000 {
			b.Fatal(len(d.Changes))
		}
	}
}
