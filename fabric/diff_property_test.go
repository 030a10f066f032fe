package fabric

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// mirror names the kind that Compare finds when its arguments change places.
var mirror = map[ChangeKind]ChangeKind{NodeLost: NodeNew, NodeNew: NodeLost, CableLost: CableNew, CableNew: CableLost,
	LinkSlower: LinkFaster, LinkFaster: LinkSlower}

// essence is what a change says, without its words and seen from neither side.
func essence(ch *Change, mirrored bool) string {
	kind := ch.Kind
	nodes := slices.Clone(ch.Nodes)
	was, oldB, b, from, to := ch.Was, ch.OldB, ch.B, ch.From, ch.To
	if mirrored {
		if m, ok := mirror[kind]; ok {
			kind = m
		}
		if kind == NodeReplaced {
			nodes[0], was = was, nodes[0]
		}
		from, to = to, from
		if kind == NodeMoved || kind == CableMoved {
			oldB, b = b, oldB
		}
	}
	slices.Sort(nodes)
	if kind == NodeMoved || kind == CableMoved {
		// The ends carry a replaced node's GUID of one side or the other, and
		// words with them; the fixed end's port tells the cable.
		return fmt.Sprint(kind, ch.A.Port, oldB.Port, b.Port)
	}
	ports := []PortNum{ch.A.Port, ch.B.Port}
	slices.Sort(ports)
	return fmt.Sprint(kind, nodes, was, ports, from, to, ch.Cables, ch.Adapters, len(ch.Hosts), ch.Part)
}

func essences(d *Diff, mirrored bool) []string {
	out := make([]string, 0, len(d.Changes))
	for i := range d.Changes {
		out = append(out, essence(&d.Changes[i], mirrored))
	}
	slices.Sort(out)
	return out
}

// scramble changes a topology in any way at all.
func scramble(r *rapid.T, t *Topology) {
	fresh := GUID(0x90000)
	for range rapid.IntRange(0, 12).Draw(r, "changes") {
		if len(t.Nodes) == 0 {
			return
		}
		n := &t.Nodes[rapid.IntRange(0, len(t.Nodes)-1).Draw(r, "node")]
		end := PortRef{n.GUID, 0}
		if len(n.Ports) > 0 {
			end.Port = n.Ports[rapid.IntRange(0, len(n.Ports)-1).Draw(r, "port")].Num
		}
		switch act := rapid.IntRange(0, 6).Draw(r, "act"); {
		case act == 0:
			t.remove(n.GUID)
		case act == 1:
			fresh++
			t.swap(n.GUID, fresh-GUID(rapid.IntRange(0, 1).Draw(r, "low"))*0x8f000)
		case act == 2:
			n.Description = "other" + n.Description
		case end.Port == 0:
		case act == 3:
			t.unplug(end)
		case act == 4:
			t.setRate(end, 1, SDR)
		case act == 5:
			to := &t.Nodes[rapid.IntRange(0, len(t.Nodes)-1).Draw(r, "to")]
			free := PortRef{to.GUID, PortNum(rapid.IntRange(60, 63).Draw(r, "free"))}
			if t.Port(free) == nil {
				t.unplug(end)
				t.plug(end, free)
			}
		default:
			t.setState(end, PortInitializing)
		}
	}
}

func drawTree(r *rapid.T) *Topology {
	return tree(rapid.IntRange(1, 4).Draw(r, "leaves"), rapid.IntRange(1, 4).Draw(r, "perLeaf"), rapid.IntRange(0, 3).Draw(r, "spines"))
}

func TestCompareWithItselfIsEmpty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		top := drawTree(r)
		scramble(r, top)
		if d := Compare(top, top.clone(), DiffOptions{}); !d.Empty() || d.Suspicious != "" {
			r.Fatalf("got %q", d.Lines(0))
		}
	})
}

func TestCompareMirrors(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a := drawTree(r)
		b := a.clone()
		scramble(r, b)
		there, back := Compare(a, b, DiffOptions{}), Compare(b, a, DiffOptions{})
		if got, want := essences(back, true), essences(there, false); !slices.Equal(got, want) {
			r.Fatalf("there %q\nback %q\n%q\n%q", there.Lines(0), back.Lines(0), want, got)
		}
	})
}

// TestComparePlanted plants changes that do not touch each other and wants
// each of them, once, and nothing else.
func TestComparePlanted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const leaves, perLeaf, spines = 6, 6, 4
		old := tree(leaves, perLeaf, spines)
		now := old.clone()
		want := map[string]int{}
		for h := range leaves * perLeaf {
			host, end := hostGUID(h), PortRef{hostGUID(h), 1}
			name := fmt.Sprintf("node%03d", h+1)
			leaf, port := fmt.Sprintf("leaf%02d", h/perLeaf+1), h%perLeaf+1
			switch rapid.IntRange(0, 18).Draw(r, "act") {
			case 0:
				now.remove(host)
				want[fmt.Sprintf("%s lost (was at %s port %d)", name, leaf, port)]++
			case 1:
				now.unplug(end)
				want[fmt.Sprintf("cable lost: %s – %s port %d", name, leaf, port)]++
			case 2:
				now.setRate(end, 1, SDR)
				want[fmt.Sprintf("%s – %s port %d slower: 4X HDR → 1X SDR", name, leaf, port)]++
			case 3:
				to := (h/perLeaf + 1) % leaves
				now.unplug(end)
				now.plug(end, PortRef{leafGUID(to), PortNum(20 + port)})
				want[fmt.Sprintf("%s moved: %s port %d → leaf%02d port %d", name, leaf, port, to+1, 20+port)]++
			case 4:
				now.Node(host).Description = name + "x HCA-1"
				want[fmt.Sprintf("renamed: %s → %sx", name, name)]++
			case 5:
				now.Node(host).Ports[0].LID = LID(5000 + h)
				want[fmt.Sprintf("LID of %s changed: %d → %d", name, 1000+h, 5000+h)]++
			case 6:
				to := GUID(0x91000 - h*0x100*rapid.IntRange(0, 9).Draw(r, "where") + h)
				now.swap(host, to)
				want[fmt.Sprintf("%s: HCA replaced (%v → %v) at %s port %d", name, host, to, leaf, port)]++
			case 7:
				now.setState(end, PortInitializing)
				want[fmt.Sprintf("%s – %s port %d: Active → Initializing", name, leaf, port)]++
			case 8:
				fresh := Node{GUID: GUID(0x80000 + h), Type: NodeCA, NumPorts: 1, Description: fmt.Sprintf("new%03d HCA-1", h)}
				now = NewTopology(append(now.Nodes, fresh))
				now.plug(PortRef{fresh.GUID, 1}, PortRef{leafGUID(h / perLeaf), PortNum(30 + port)})
				want[fmt.Sprintf("new%03d new at %s port %d", h, leaf, 30+port)]++
			}
		}
		for l := range leaves {
			end := PortRef{leafGUID(l), PortNum(perLeaf + 1 + l%spines)}
			leaf, spine := fmt.Sprintf("leaf%02d port %d", l+1, end.Port), fmt.Sprintf("spine%02d", l%spines+1)
			switch rapid.IntRange(0, 5).Draw(r, "uplink") {
			case 0:
				now.unplug(end)
				want[fmt.Sprintf("cable lost: %s – %s port %d", leaf, spine, l+1)]++
			case 1:
				now.unplug(end)
				now.plug(end, PortRef{spineGUID(l % spines), PortNum(50 + l)})
				want[fmt.Sprintf("re-cabled: %s goes to %s port %d, was %s port %d", leaf, spine, 50+l, spine, l+1)]++
			case 2:
				now.plug(PortRef{leafGUID(l), 39}, PortRef{spineGUID(l % spines), PortNum(70 + l)})
				want[fmt.Sprintf("cable new: leaf%02d port 39 – %s port %d", l+1, spine, 70+l)]++
			}
		}
		got := map[string]int{}
		for _, line := range Compare(old, now, DiffOptions{MinNodesPercent: -1}).Lines(0) {
			got[line]++
		}
		if !maps.Equal(got, want) {
			r.Fatalf("got %v\nwant %v", got, want)
		}
	})
}
