package layout

import (
	"cmp"
	"slices"

	"github.com/fabricbot/fabricbot/fabric"
)

// rows draws every switch: one row per tier, each leaf with its hosts in a
// panel under it.
func (p *placer) rows() {
	under := map[fabric.GUID]*group{}
	var above, below, alone []*group
	top := len(p.Tiers) - 1
	for _, gr := range p.groups() {
		switch {
		case len(gr.at) == 0:
			alone = append(alone, gr)
		case len(gr.at) == 1 && p.tier[gr.at[0]] == 0:
			under[gr.at[0]] = gr
		case len(gr.at) == 1 && p.tier[gr.at[0]] == top:
			above = append(above, gr)
		default:
			below = append(below, gr)
		}
	}
	switchRows := make([][]int, len(p.Tiers))
	var leaves, panels []int // a panel per leaf, or -1
	partOf := map[int]int{}
	for number, part := range p.components(p.switches, func(fabric.GUID) bool { return true }) {
		for _, s := range part {
			i := p.add(p.switchBox(s))
			partOf[i] = number
			if p.tier[s] > 0 {
				switchRows[p.tier[s]] = append(switchRows[p.tier[s]], i)
				continue
			}
			leaves = append(leaves, i)
			panel := -1
			if gr := under[s]; gr != nil {
				panel = p.add(p.hostBox(gr.hosts))
			}
			panels = append(panels, panel)
		}
	}
	columns := make([]column, 0, len(leaves))
	for k, i := range leaves {
		columns = append(columns, column{leaf: i, panel: panels[k]})
	}
	columns = p.between(columns, below)
	for _, i := range p.alone(alone) {
		columns = append(columns, column{leaf: i, panel: -1})
	}
	highs := p.panels(above)

	widths := make([]float64, len(columns))
	for k, c := range columns {
		for _, i := range [...]int{c.leaf, c.panel} {
			if i >= 0 {
				widths[k] = max(widths[k], p.Boxes[i].W)
			}
		}
	}
	total := max(p.need(switchRows...), p.need(highs), sum(widths)+gapX*float64(len(widths)))
	var row, apart []int
	for k, x := range spread(widths, total) {
		for _, i := range [...]int{columns[k].leaf, columns[k].panel} {
			if i >= 0 {
				p.centerAt(i, x)
			}
		}
		if i := columns[k].leaf; i >= 0 && p.Boxes[i].Kind == Hosts {
			apart = append(apart, i)
		} else if i >= 0 {
			row = append(row, i)
		}
	}
	for tier := 1; tier <= top; tier++ {
		p.byNeighbours(switchRows[tier])
		p.spreadParts(switchRows[tier], row, partOf, total)
	}
	p.nearSwitches(highs, above, total)

	y := 0.0
	if len(highs) > 0 {
		y = p.stack(highs, y) + panelGap
	}
	for tier := top; tier > 0; tier-- {
		y = p.stack(switchRows[tier], y) + rowGap
	}
	p.stack(apart, y)
	bottom := p.stack(row, y) + panelGap
	if len(below) > 0 {
		bottom += rowGap - panelGap
	}
	for _, c := range columns {
		if c.panel >= 0 {
			p.Boxes[c.panel].Y = bottom
		}
	}
	p.rowEdges(under, above, below)
}

// column is one place in the leaf row: a leaf with its panel of hosts, or only
// one of the two.
type column struct{ leaf, panel int }

// between puts the panels of hosts on several switches into columns of their
// own, in the middle of those switches, so that their cables cross no panel.
func (p *placer) between(columns []column, groups []*group) []column {
	for _, gr := range groups {
		last, mean, n := 0, 0.0, 0.0
		for k, c := range columns {
			if c.leaf >= 0 && slices.Contains(gr.at, p.Boxes[c.leaf].Nodes[0]) {
				mean, n = mean+float64(k), n+1
			}
		}
		if n > 0 {
			last = int(mean/n) + 1
		}
		columns = slices.Insert(columns, last, column{leaf: -1, panel: p.add(p.hostBox(gr.hosts))})
	}
	return columns
}

// alone makes boxes for hosts without a switch, those cabled to each other side
// by side.
func (p *placer) alone(groups []*group) []int {
	var order []int
	done := map[*host]bool{}
	var follow func(gr *group)
	byHost := map[*host]*group{}
	for _, gr := range groups {
		for _, h := range gr.hosts {
			byHost[h] = gr
		}
	}
	follow = func(gr *group) {
		if done[gr.hosts[0]] {
			return
		}
		done[gr.hosts[0]] = true
		order = append(order, p.add(p.hostBox(gr.hosts)))
		for _, h := range gr.hosts {
			for _, l := range h.toOthers {
				for _, g := range [...]fabric.GUID{l.A.Node, l.B.Node} {
					if other := byHost[p.hostOf[g]]; other != nil {
						follow(other)
					}
				}
			}
		}
	}
	for _, gr := range groups {
		follow(gr)
	}
	return order
}

func (p *placer) panels(groups []*group) []int {
	out := make([]int, len(groups))
	for k, gr := range groups {
		out[k] = p.add(p.hostBox(gr.hosts))
	}
	return out
}

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// need is the width of the widest row.
func (p *placer) need(rows ...[]int) float64 {
	most := 0.0
	for _, row := range rows {
		w := 0.0
		for _, i := range row {
			w += p.Boxes[i].W + gapX
		}
		most = max(most, w)
	}
	return most
}

// spread returns centers that leave equal room between neighbours.
func spread(widths []float64, total float64) []float64 {
	room := (total - sum(widths)) / float64(max(1, len(widths)))
	x := 0.0
	out := make([]float64, len(widths))
	for i, w := range widths {
		out[i] = x + (w+room)/2
		x += w + room
	}
	return out
}

func (p *placer) spreadRow(row []int, total float64) {
	widths := make([]float64, len(row))
	for k, i := range row {
		widths[k] = p.Boxes[i].W
	}
	for k, x := range spread(widths, total) {
		p.centerAt(row[k], x)
	}
}

// spreadParts spreads the switches of each connected part over its own leaves,
// and all of them over the whole width where that is too narrow.
func (p *placer) spreadParts(row, leaves []int, partOf map[int]int, total float64) {
	low, high := map[int]float64{}, map[int]float64{}
	for _, i := range leaves {
		b, part := &p.Boxes[i], partOf[i]
		if _, ok := low[part]; !ok {
			low[part] = b.X
		}
		high[part] = b.X + b.W
	}
	members := map[int][]int{}
	for _, i := range row {
		members[partOf[i]] = append(members[partOf[i]], i)
	}
	for part, boxes := range members {
		if len(high) < 2 || p.need(boxes) > high[part]-low[part] {
			p.spreadRow(row, total)
			return
		}
	}
	for part, boxes := range members {
		p.spreadRow(boxes, high[part]-low[part])
		for _, i := range boxes {
			p.Boxes[i].X += low[part]
		}
	}
}

func (p *placer) centerAt(i int, x float64) { p.Boxes[i].X = x - p.Boxes[i].W/2 }

// byNeighbours sorts a row by where the placed neighbours are, equals by name.
func (p *placer) byNeighbours(row []int) {
	at := map[int]float64{}
	for _, i := range row {
		s, sumX, n := p.Boxes[i].Nodes[0], 0.0, 0
		for _, other := range p.next[s] {
			if p.tier[other] < p.tier[s] {
				sumX += p.Boxes[p.boxOf[other]].center()
				n++
			}
		}
		if n > 0 {
			at[i] = sumX / float64(n)
		}
	}
	slices.SortStableFunc(row, func(a, b int) int {
		if d := at[a] - at[b]; d > gapX || d < -gapX {
			return cmp.Compare(d, 0)
		}
		return 0
	})
}

// nearSwitches puts panels as near to the middle of their switches as their
// neighbours allow.
func (p *placer) nearSwitches(row []int, groups []*group, total float64) {
	want := map[int]float64{}
	for k, i := range row {
		x := 0.0
		for _, s := range groups[k].at {
			x += p.Boxes[p.boxOf[s]].center()
		}
		want[i] = x / float64(len(groups[k].at))
	}
	order := slices.Clone(row)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(want[a], want[b]) })
	edge := 0.0
	for _, i := range order {
		b := &p.Boxes[i]
		b.X = max(edge, want[i]-b.W/2)
		edge = b.X + b.W + gapX
	}
	limit := max(total, edge) - gapX/2
	if p.need(row) <= total {
		limit = total
	}
	for k := len(order) - 1; k >= 0; k-- {
		b := &p.Boxes[order[k]]
		b.X = min(b.X, limit-b.W)
		limit = b.X - gapX
	}
}

// stack puts a row at y and returns its lower end.
func (p *placer) stack(row []int, y float64) float64 {
	bottom := y
	for _, i := range row {
		p.Boxes[i].Y = y
		bottom = max(bottom, y+p.Boxes[i].H)
	}
	return bottom
}
