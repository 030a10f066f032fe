package pictures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/layout"
)

// cableKey names a cable from its smaller end.
type cableKey [2]fabric.PortRef

func keyOf(a, b fabric.PortRef) cableKey {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return cableKey{a, b}
}

// findings are the exceptions of a fabric by place, and in sentences.
type findings struct {
	nodes    map[fabric.GUID][]layout.Note
	cables   map[cableKey][]layout.Note
	slow     []string
	down     []string
	marks    map[layout.Mark]bool
	lostNode map[fabric.GUID]bool
	rate     string // of all cables that are not named slow, if it is one
}

func (f *findings) node(g fabric.GUID, m layout.Mark, text string) {
	f.nodes[g] = append(f.nodes[g], layout.Note{Text: text, Mark: m})
	f.marks[m] = true
}

func (f *findings) cable(a, b fabric.PortRef, m layout.Mark, text string) {
	k := keyOf(a, b)
	f.cables[k] = append(f.cables[k], layout.Note{Text: text, Mark: m})
	f.marks[m] = true
}

// find collects what d tells and what the topology itself shows.
func find(t *fabric.Topology, d *fabric.Diff) *findings {
	f := &findings{nodes: map[fabric.GUID][]layout.Note{}, cables: map[cableKey][]layout.Note{}, marks: map[layout.Mark]bool{}, lostNode: map[fabric.GUID]bool{}}
	if d != nil {
		for i := range d.Changes {
			f.change(&d.Changes[i])
		}
	}
	f.health(t)
	return f
}

func (f *findings) change(ch *fabric.Change) {
	each := func(m layout.Mark, text string) {
		for _, g := range ch.Nodes {
			f.node(g, m, text)
		}
	}
	switch ch.Kind {
	case fabric.NodeLost:
		each(layout.Lost, "lost")
		for _, g := range ch.Nodes {
			f.lostNode[g] = true
		}
	case fabric.NodeNew:
		each(layout.New, "new")
	case fabric.NodeMoved:
		f.cable(ch.A, ch.B, layout.Changed, "moved from "+switchOf(ch.From))
	case fabric.CableMoved:
		f.cable(ch.A, ch.B, layout.Changed, "re-cabled")
	case fabric.NodeReplaced:
		each(layout.Changed, "replaced")
	case fabric.NodeRenamed:
		each(layout.Changed, "was "+ch.From)
	case fabric.CableLost:
		f.cable(ch.A, ch.B, layout.Lost, "cable lost")
	case fabric.CableNew:
		f.cable(ch.A, ch.B, layout.New, "cable new")
	case fabric.LinkSlower:
		f.cable(ch.A, ch.B, layout.Slow, shortRates(ch.From, ch.To))
	case fabric.LinkFaster:
		f.cable(ch.A, ch.B, layout.Changed, "faster, "+shortRates(ch.From, ch.To))
	case fabric.PortStateChanged:
		m := layout.Down
		if ch.To == fabric.PortActive.String() {
			m = layout.Changed
		}
		if ch.B.Node == 0 {
			f.node(ch.A.Node, m, fmt.Sprintf("port %d %s → %s", ch.A.Port, ch.From, ch.To))
		} else {
			f.cable(ch.A, ch.B, m, ch.From+" → "+ch.To)
		}
	}
}

// switchOf leaves out the port of an end.
func switchOf(end string) string {
	name, _, _ := strings.Cut(end, " port ")
	return name
}

// shortRates leaves out the speed where only the width differs.
func shortRates(from, to string) string {
	w1, s1, _ := strings.Cut(from, " ")
	w2, s2, _ := strings.Cut(to, " ")
	if s1 == s2 {
		return w1 + " → " + w2
	}
	return from + " → " + to
}

// rate is a width and a speed, of hosts' cables or of those between switches.
type rate struct {
	width  fabric.Width
	speed  fabric.Speed
	toHost bool
}

func (r rate) String() string { return r.width.String() + " " + r.speed.String() }

// health finds cables that are slower than their siblings or not active. A
// rate that more than a quarter of the siblings have is a choice and not a fault.
func (f *findings) health(t *fabric.Topology) {
	links := t.Links()
	rates := make([]rate, len(links))
	count := map[rate]int{}
	for i, l := range links {
		r := rate{l.Width, l.Speed, false}
		for _, end := range [...]fabric.PortRef{l.A, l.B} {
			n := t.Node(end.Node)
			r.toHost = r.toHost || n != nil && n.Type == fabric.NodeCA && !n.IsAggregation()
			// The slower end that says a rate is the truth about the cable.
			if p := t.Port(end); p != nil && p.Width != 0 && p.Speed != 0 && (r.width == 0 || r.speed == 0 || p.Speed.Data(p.Width) < r.speed.Data(r.width)) {
				r.width, r.speed = p.Width, p.Speed
			}
		}
		rates[i] = r
		if r.width != 0 && r.speed != 0 && !f.isLost(l) {
			count[r]++
		}
	}
	usual := map[bool]rate{}
	for r, n := range count {
		if best, ok := usual[r.toHost]; !ok || n > count[best] || n == count[best] && r.speed.Data(r.width) > best.speed.Data(best.width) {
			usual[r.toHost] = r
		}
	}
	names := fabric.NewNames(t)
	normal := map[string]bool{}
	for i, l := range links {
		r := rates[i]
		best := usual[r.toHost]
		told := slices.ContainsFunc(f.cables[keyOf(l.A, l.B)], func(n layout.Note) bool { return n.Mark == layout.Slow || n.Mark == layout.Down })
		if state := worstState(t, l); state != 0 {
			f.down = append(f.down, cableName(t, names, l)+" "+state.String())
			if !told {
				f.cable(l.A, l.B, layout.Down, state.String())
			}
			continue
		}
		if r.width == 0 || r.speed == 0 || f.isLost(l) {
			continue
		}
		if count[r]*4 > count[best] || r.speed.Data(r.width) >= best.speed.Data(best.width) {
			normal[rate{r.width, r.speed, false}.String()] = true
			continue
		}
		f.slow = append(f.slow, cableName(t, names, l)+" "+fromTo(best, r))
		if !told {
			f.cable(l.A, l.B, layout.Slow, fromTo(best, r))
		}
	}
	if len(normal) == 1 {
		for r := range normal {
			f.rate = r
		}
	}
}

func (f *findings) isLost(l fabric.Link) bool {
	return f.lostNode[l.A.Node] || f.lostNode[l.B.Node] ||
		slices.ContainsFunc(f.cables[keyOf(l.A, l.B)], func(n layout.Note) bool { return n.Mark == layout.Lost })
}

// fromTo leaves out the speed where only the width is wrong.
func fromTo(from, to rate) string {
	return shortRates(from.String(), to.String())
}

// worstState is the lower state of the two ends if it is known and not Active.
func worstState(t *fabric.Topology, l fabric.Link) fabric.PortState {
	var worst fabric.PortState
	for _, end := range [...]fabric.PortRef{l.A, l.B} {
		if p := t.Port(end); p != nil && p.State != 0 && p.State < fabric.PortActive && (worst == 0 || p.State < worst) {
			worst = p.State
		}
	}
	return worst
}

// cableName names both ends, the host first.
func cableName(t *fabric.Topology, names *fabric.Names, l fabric.Link) string {
	a, b := l.A.Node, l.B.Node
	na, nb := t.Node(a), t.Node(b)
	aHost, bHost := na != nil && na.Type == fabric.NodeCA, nb != nil && nb.Type == fabric.NodeCA
	if bHost && !aHost || aHost == bHost && fabric.CompareHostNames(names.Of(a), names.Of(b)) > 0 {
		a, b = b, a
	}
	return names.Of(a) + "–" + names.Of(b)
}

// sentence lists the first few and counts all.
func sentence(list []string, noun, what string) string {
	const shown = 3
	text := layout.Count(len(list), noun) + " " + what + ": " + strings.Join(list[:min(shown, len(list))], ", ")
	if len(list) > shown {
		text += fmt.Sprintf(" and %d more", len(list)-shown)
	}
	return text
}
