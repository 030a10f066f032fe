package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// block is a part of a large fabric: the switches of its highest tier in one
// box, and below them, in a grid, the parts that fall apart without them.
type block struct {
	box      int // -1 where there is no box of its own
	children []*block
	w, h     float64
	x, y     float64
	columns  int
	rowH     []float64
	busY     float64 // of the row it stands in, in its parent
	parent   *block
	cellW    float64
}

const (
	trunkX   = 10.0 // from the left side of a block to its trunk line
	indentX  = 24.0 // and to its children
	busGap   = 22.0 // between a bus line and the boxes under it
	frameGap = 10.0
)

func (p *placer) blocks() {
	units := p.leafUnits()
	p.mates = map[fabric.GUID][]fabric.GUID{}
	for s, u := range units {
		if len(*u) > 1 {
			p.mates[s] = *u
		}
	}
	root := &block{box: -1}
	placed := map[*host]bool{}
	for _, part := range p.components(p.switches, func(fabric.GUID) bool { return true }) {
		root.children = append(root.children, p.block(part, units, placed))
	}
	var alone []*host
	for _, h := range p.hosts {
		if len(h.at) == 0 {
			alone = append(alone, h)
		}
	}
	if len(alone) > 0 {
		root.children = append(root.children, &block{box: p.add(p.hostBox(alone))})
	}
	if len(root.children) == 1 {
		root = root.children[0]
	}
	p.measure(root)
	p.place(root, 0, 0, true)
	p.blockEdges(root)
}

// leafUnits joins leaves that carry exactly the same hosts, as the rails of one
// scalable unit do; others stand alone. The map leads from each leaf to its unit.
func (p *placer) leafUnits() map[fabric.GUID]*[]fabric.GUID {
	hostsAt := map[fabric.GUID]*strings.Builder{}
	shared := map[fabric.GUID]int{}
	for i, h := range p.hosts {
		for _, s := range h.at {
			if hostsAt[s] == nil {
				hostsAt[s] = &strings.Builder{}
			}
			fmt.Fprint(hostsAt[s], i, " ")
			if len(h.at) > 1 {
				shared[s]++
			}
		}
	}
	units, byKey := map[fabric.GUID]*[]fabric.GUID{}, map[string]*[]fabric.GUID{}
	for _, s := range p.switches {
		key := s.String()
		if shared[s] > 1 && p.tier[s] == 0 {
			key = hostsAt[s].String()
		}
		u := byKey[key]
		if u == nil {
			u = &[]fabric.GUID{}
			byKey[key] = u
		}
		*u = append(*u, s)
		units[s] = u
	}
	return units
}

func (p *placer) block(part []fabric.GUID, units map[fabric.GUID]*[]fabric.GUID, placed map[*host]bool) *block {
	top := 0
	for _, s := range part {
		top = max(top, p.tier[s])
	}
	b := &block{box: -1}
	var rest, highest []fabric.GUID
	for _, s := range part {
		if p.tier[s] == top {
			highest = append(highest, s)
		} else {
			rest = append(rest, s)
		}
	}
	if top == 0 {
		done := map[*[]fabric.GUID]bool{}
		for _, s := range part {
			if u := units[s]; !done[u] {
				done[u] = true
				b.children = append(b.children, &block{box: p.add(p.unitBox(Leaf, *u, placed))})
			}
		}
		if len(b.children) == 1 {
			return b.children[0]
		}
		return b
	}
	b.box = p.add(p.unitBox(Switches, highest, placed))
	inside := map[fabric.GUID]bool{}
	for _, s := range rest {
		inside[s] = true
	}
	for _, piece := range p.components(rest, func(s fabric.GUID) bool { return inside[s] }) {
		b.children = append(b.children, p.block(piece, units, placed))
	}
	return b
}

// unitBox is a box for leaves that share their hosts, or for all switches of a
// tier.
func (p *placer) unitBox(kind Kind, switches []fabric.GUID, placed map[*host]bool) *Box {
	tier := p.tier[switches[0]]
	b := &Box{Kind: kind, Tier: tier + 1, Title: p.names.Of(switches[0])}
	if kind == Switches && len(switches) == 1 {
		b.Kind = Switch
	}
	names := make([]string, 0, len(switches))
	for _, s := range switches {
		b.Nodes = append(append(b.Nodes, s), p.inside[s]...)
		name := p.names.Of(s)
		names = append(names, name)
		if mark := worst(p.notes[s]); len(switches) == 1 {
			b.Mark = mark
		} else {
			b.Inside = max(b.Inside, mark)
		}
		for _, n := range p.notes[s] {
			if len(switches) > 1 && n.Text != "" {
				n.Text = name + ": " + n.Text
			}
			if n.Text != "" {
				b.Rows = append(b.Rows, Row{Text: n.Text, Mark: n.Mark})
			}
		}
		if tier == 0 {
			b.Rows = append(b.Rows, p.uplinkRows(s, len(switches) > 1)...)
		}
	}
	if len(switches) > 1 {
		const longest = 40
		folded := fold(names)
		switch {
		case kind == Leaf:
			b.Title = folded
			if len(folded) > longest {
				b.Title = Count(len(switches), TierName(tier, len(p.Tiers)))
			}
		default:
			b.Title = Count(len(switches), TierName(tier, len(p.Tiers)))
			if len(folded) <= longest {
				b.Title += ": " + folded
			}
		}
	}
	hosts := p.hostsAt(switches)
	b.Sub = p.carried(hosts, switches)
	var fresh []*host
	for _, h := range hosts {
		if !placed[h] {
			placed[h] = true
			fresh = append(fresh, h)
			b.Nodes = append(b.Nodes, h.nodes...)
		}
		if b.Mark != Lost {
			b.Inside = max(b.Inside, worst(h.notes))
		}
	}
	if b.Mark != Lost || p.Named {
		b.Rows = append(b.Rows, p.hostRows(fresh)...)
	}
	if !p.Named {
		slices.SortStableFunc(b.Rows, func(x, y Row) int { return int(y.Mark) - int(x.Mark) })
		b.Rows = p.cut(b.Rows)
	}
	for _, r := range b.Rows {
		b.Inside = max(b.Inside, r.Mark)
	}
	b.Rows = p.broken(b.Rows)
	return b
}

// uplinkRows tells the exceptions of a leaf's cables to other switches.
func (p *placer) uplinkRows(s fabric.GUID, named bool) []Row {
	var rows []Row
	for _, i := range p.bundlesOf(s) {
		b := &p.bundles[i]
		other := b.a
		if other == s {
			other = b.b
		}
		// Where the other switch is lost, that is told there.
		if Words(b.notes, b.cables) == "" || p.tier[other] == 0 && other < s {
			continue
		}
		text := "to " + p.names.Of(other)
		if named {
			text = p.names.Of(s) + " " + text
		}
		rows = append(rows, Row{Text: text + ": " + Words(b.notes, b.cables), Mark: worst(b.notes)})
	}
	return rows
}

func (p *placer) carried(hosts []*host, switches []fabric.GUID) string {
	adapters, elsewhere := 0, 0
	for _, h := range hosts {
		adapters += len(h.nodes)
		for _, s := range h.at {
			if !slices.Contains(switches, s) {
				elsewhere++
				break
			}
		}
	}
	if len(hosts) == 0 {
		if p.tier[switches[0]] == 0 {
			return "no hosts"
		}
		return ""
	}
	text := hostCount(hosts)
	switch {
	case elsewhere > 0 && elsewhere == len(hosts):
		text += ", also elsewhere"
	case elsewhere > 0:
		text += fmt.Sprintf(", %d also elsewhere", elsewhere)
	case adapters > len(hosts):
		text += ", " + Count(adapters, "adapter")
	}
	return text
}

// Shapes tried for the parts inside a fabric, width per height, and the wanted
// shape of the whole.
var innerShapes = [...]float64{0.6, 1, 1.6, 2.6, 5}

const wholeShape = 1.5

// measure computes sizes from the leaves up. All leaves are equally wide. Of
// several shapes of the parts the one is taken that makes the whole compact.
func (p *placer) measure(root *block) {
	natural := map[*block]float64{}
	leafWidth, leafArea := 0.0, 0.0
	var visit func(*block)
	visit = func(b *block) {
		if b.box >= 0 {
			natural[b] = p.Boxes[b.box].W
		}
		if len(b.children) == 0 {
			leafWidth = max(leafWidth, p.Boxes[b.box].W)
			leafArea += p.Boxes[b.box].H
		}
		for _, c := range b.children {
			visit(c)
		}
	}
	visit(root)
	leafArea *= leafWidth
	best, shape := math.Inf(1), innerShapes[0]
	for _, s := range innerShapes {
		p.shape(root, natural, leafWidth, wholeShape, s)
		cost := math.Abs(math.Log(root.w/root.h/wholeShape)) + math.Log(root.w*root.h/leafArea)
		if cost < best-1e-9 {
			best, shape = cost, s
		}
	}
	p.shape(root, natural, leafWidth, wholeShape, shape)
}

// shape sizes a block so that width per height comes near aspect, and the
// blocks in it near inner.
func (p *placer) shape(b *block, natural map[*block]float64, leafWidth, aspect, inner float64) {
	if len(b.children) == 0 {
		b.w, b.h = leafWidth, p.Boxes[b.box].H
		return
	}
	b.cellW = 0
	for _, c := range b.children {
		c.parent = b
		p.shape(c, natural, leafWidth, inner, inner)
		if len(c.children) > 0 {
			c.w, c.h = c.w+2*frameGap, c.h+2*frameGap
		}
		b.cellW = max(b.cellW, c.w)
	}
	best := math.Inf(1)
	for columns := 1; columns <= len(b.children); columns++ {
		w, h, rows := p.grid(b, columns)
		// An empty place in the last row costs a little, so that eighteen leaves
		// become three full rows.
		empty := float64(columns*((len(b.children)+columns-1)/columns) - len(b.children))
		if cost := math.Abs(math.Log(w/h/aspect)) + 0.25*empty/float64(columns); cost < best {
			best, b.columns, b.w, b.h, b.rowH = cost, columns, w, h, rows
		}
	}
	if b.box >= 0 {
		if wide := natural[b]; b.w < wide {
			b.cellW += (wide - b.w) / float64(b.columns)
			b.w = wide
		}
		p.Boxes[b.box].W = b.w
	}
}

func (p *placer) grid(b *block, columns int) (w, h float64, rows []float64) {
	w = indentX + float64(columns)*(b.cellW+gapX) - gapX
	if b.box >= 0 {
		h = p.Boxes[b.box].H
	}
	for i := 0; i < len(b.children); i += columns {
		high := 0.0
		for _, c := range b.children[i:min(i+columns, len(b.children))] {
			high = max(high, c.h)
		}
		rows = append(rows, high)
		h += high + gapY + busGap
	}
	return w, h, rows
}

// place puts a block and all in it at x, y.
func (p *placer) place(b *block, x, y float64, root bool) {
	if len(b.children) > 0 && !root {
		p.Frames = append(p.Frames, Frame{X: x, Y: y, W: b.w, H: b.h})
		x, y = x+frameGap, y+frameGap
	}
	b.x, b.y = x, y
	if b.box >= 0 {
		p.Boxes[b.box].X, p.Boxes[b.box].Y = x, y
		y += p.Boxes[b.box].H
	}
	if len(b.children) == 0 {
		p.Boxes[b.box].W = b.w
		return
	}
	for i, c := range b.children {
		row, column := i/b.columns, i%b.columns
		if column == 0 {
			y += gapY + busGap
			if row > 0 {
				y += b.rowH[row-1]
			}
		}
		c.busY = y - busGap
		if len(c.children) == 0 {
			c.w = b.cellW
		}
		p.place(c, x+indentX+float64(column)*(b.cellW+gapX), y, false)
	}
}
