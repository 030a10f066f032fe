package layout

import "github.com/fabricbot/fabricbot/fabric"

// bundlesOf lists the bundles at a switch by index.
func (g *graph) bundlesOf(s fabric.GUID) []int {
	if g.bundleAt == nil {
		g.bundleAt = map[fabric.GUID][]int{}
		for i := range g.bundles {
			g.bundleAt[g.bundles[i].a] = append(g.bundleAt[g.bundles[i].a], i)
			g.bundleAt[g.bundles[i].b] = append(g.bundleAt[g.bundles[i].b], i)
		}
	}
	return g.bundleAt[s]
}

// hostsAt lists the hosts on any of the switches, by name.
func (g *graph) hostsAt(switches []fabric.GUID) []*host {
	if g.hostAt == nil {
		g.hostAt = map[fabric.GUID][]*host{}
		for _, h := range g.hosts {
			for _, s := range h.at {
				g.hostAt[s] = append(g.hostAt[s], h)
			}
		}
	}
	var out []*host
	seen := map[*host]bool{}
	for _, s := range switches {
		for _, h := range g.hostAt[s] {
			if !seen[h] {
				seen[h] = true
				out = append(out, h)
			}
		}
	}
	return out
}

// blockEdges joins the bundles between two boxes into one edge and leads them
// along shared lines: up from a box to the line over its row, along it to the
// trunk at the left of the block, and along that to the box of the tier above.
func (p *placer) blockEdges(root *block) {
	home := map[int]*block{}
	var visit func(*block)
	visit = func(b *block) {
		if b.box >= 0 {
			home[b.box] = b
		}
		for _, c := range b.children {
			visit(c)
		}
	}
	visit(root)
	index := map[[2]int]int{}
	for i := range p.bundles {
		b := &p.bundles[i]
		from, to := p.boxOf[b.a], p.boxOf[b.b]
		if from == to {
			continue
		}
		if p.Boxes[from].Tier > p.Boxes[to].Tier || p.Boxes[from].Tier == p.Boxes[to].Tier && from > to {
			from, to = to, from
		}
		key := [2]int{from, to}
		j, ok := index[key]
		if !ok {
			j = len(p.Edges)
			index[key] = j
			p.link(from, to, 0, nil)
		}
		e := &p.Edges[j]
		e.Cables += b.cables
		e.Notes = append(e.Notes, b.notes...)
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		silent := 0
		e.Mark = Plain
		for _, n := range e.Notes {
			if n.Text == "" {
				silent++
				continue
			}
			e.Mark = max(e.Mark, n.Mark)
		}
		if silent == e.Cables {
			e.Mark = worst(e.Notes)
		}
	}
	for i := range p.Edges {
		p.route(&p.Edges[i], home[p.Edges[i].From], home[p.Edges[i].To])
	}
}

func (p *placer) route(e *Edge, from, to *block) {
	a, b := &p.Boxes[e.From], &p.Boxes[e.To]
	start := Point{a.center(), a.Y}
	e.At = Point{start.X, start.Y - busGap/2}
	parent := from.parent
	switch {
	case parent != nil && parent == to:
		trunk := parent.x + trunkX
		e.Bus = true
		e.Path = []Point{start, {start.X, from.busY}, {trunk, from.busY}, {trunk, b.Y + b.H}}
	case parent != nil && parent == to.parent:
		trunk := parent.x + trunkX
		e.Bus = true
		e.Path = []Point{start, {start.X, from.busY}, {trunk, from.busY}, {trunk, to.busY}, {b.center(), to.busY}, {b.center(), b.Y}}
	default:
		e.Path = []Point{start, {b.center(), b.Y + b.H}}
	}
}
