package layout

import (
	"cmp"
	"slices"

	"github.com/fabricbot/fabricbot/fabric"
)

// rowEdges makes the bundles of a drawing in rows: between tiers straight,
// fanned out along the rims of the boxes; within a row straight to a neighbour
// and as an arc beyond.
func (p *placer) rowEdges(under map[fabric.GUID]*group, above, below []*group) {
	for _, b := range p.bundles {
		p.link(p.boxOf[b.a], p.boxOf[b.b], b.cables, b.notes)
	}
	hang := func(gr *group) {
		for _, s := range gr.at {
			cables := 0
			var lost []Note
			for _, h := range gr.hosts {
				n := p.perHost[[2]fabric.GUID{h.nodes[0], s}]
				if !h.lost {
					cables += n
					continue
				}
				for range n {
					lost = append(lost, Note{Mark: Lost})
				}
			}
			// What is wrong with a host's cable is written at the host; only where
			// all are lost the line says so too.
			if cables > 0 {
				lost = nil
			}
			p.link(p.boxOf[gr.hosts[0].nodes[0]], p.boxOf[s], cables+len(lost), lost)
		}
	}
	for _, s := range p.switches {
		if gr := under[s]; gr != nil {
			hang(gr)
		}
	}
	for _, gr := range append(slices.Clone(above), below...) {
		hang(gr)
	}
	p.direct()
	p.anchor()
}

// direct adds the cables from host to host.
func (p *placer) direct() {
	index := map[[2]int]int{}
	for _, h := range p.hosts {
		for _, l := range h.toOthers {
			a, b := p.boxOf[l.A.Node], p.boxOf[l.B.Node]
			if a == b {
				continue
			}
			key := [2]int{min(a, b), max(a, b)}
			if i, ok := index[key]; ok {
				p.Edges[i].Cables++
				continue
			}
			index[key] = len(p.Edges)
			p.link(a, b, 1, nil)
		}
	}
}

func (p *placer) link(from, to, cables int, notes []Note) {
	p.Edges = append(p.Edges, Edge{From: from, To: to, Cables: cables, Notes: notes, Mark: worst(notes)})
}

// rim is one end of an edge on the upper or lower side of a box.
type rim struct {
	edge  int
	first bool
	other float64
}

// anchor gives each edge its path.
func (p *placer) anchor() {
	upper, lower := map[int][]rim{}, map[int][]rim{}
	for i := range p.Edges {
		e := &p.Edges[i]
		a, b := &p.Boxes[e.From], &p.Boxes[e.To]
		e.Path = []Point{{}, {}}
		if p.beside(e) {
			continue
		}
		switch {
		case overlapY(a, b): // same row, not neighbours
			upper[e.From] = append(upper[e.From], rim{i, true, b.center()})
			upper[e.To] = append(upper[e.To], rim{i, false, a.center()})
		case a.Y < b.Y:
			lower[e.From] = append(lower[e.From], rim{i, true, b.center()})
			upper[e.To] = append(upper[e.To], rim{i, false, a.center()})
		default:
			upper[e.From] = append(upper[e.From], rim{i, true, b.center()})
			lower[e.To] = append(lower[e.To], rim{i, false, a.center()})
		}
	}
	p.fan(upper, func(b *Box) float64 { return b.Y })
	p.fan(lower, func(b *Box) float64 { return b.Y + b.H })
	for i := range p.Edges {
		e := &p.Edges[i]
		a, b := e.Path[0], e.Path[1]
		if overlapY(&p.Boxes[e.From], &p.Boxes[e.To]) && !p.beside(e) {
			rise := 24 + 0.13*max(a.X-b.X, b.X-a.X)
			e.Path = []Point{a, {a.X, a.Y - rise}, {b.X, b.Y - rise}, b}
			e.Curved = true
			e.At = Point{(a.X + b.X) / 2, min(a.Y, b.Y) - 0.75*rise}
			continue
		}
		e.At = Point{(a.X + b.X) / 2, (a.Y + b.Y) / 2}
	}
}

func overlapY(a, b *Box) bool { return a.Y < b.Y+b.H && b.Y < a.Y+a.H }

// beside draws an edge between neighbours of one row straight across.
func (p *placer) beside(e *Edge) bool {
	a, b := &p.Boxes[e.From], &p.Boxes[e.To]
	if !overlapY(a, b) {
		return false
	}
	if a.X > b.X {
		a, b = b, a
	}
	for i := range p.Boxes {
		c := &p.Boxes[i]
		if c != a && c != b && overlapY(c, a) && c.X > a.X && c.X < b.X {
			return false
		}
	}
	y := (max(a.Y, b.Y) + min(a.Y+a.H, b.Y+b.H)) / 2
	left, right := Point{a.X + a.W, y}, Point{b.X, y}
	e.Path = []Point{left, right}
	if &p.Boxes[e.From] == b {
		e.Path = []Point{right, left}
	}
	return true
}

// fan divides a rim among its edges in the order of their other ends, so that
// they do not cross at the box.
func (p *placer) fan(rims map[int][]rim, y func(*Box) float64) {
	for box, ends := range rims {
		slices.SortStableFunc(ends, func(a, b rim) int { return cmp.Or(cmp.Compare(a.other, b.other), cmp.Compare(a.edge, b.edge)) })
		b := &p.Boxes[box]
		used := min(b.W-2*Pad, 16*float64(len(ends)))
		for k, end := range ends {
			at := Point{b.center() - used/2 + used*(float64(k)+0.5)/float64(len(ends)), y(b)}
			if end.first {
				p.Edges[end.edge].Path[0] = at
			} else {
				p.Edges[end.edge].Path[1] = at
			}
		}
	}
}
