package fabric

import (
	"cmp"
	"slices"
)

// diffCable is one cable with ends that compare across both sides: A is the
// smaller one by canonical GUID. The ports are nil where the source does not
// describe them.
type diffCable struct {
	a, b   PortRef
	pa, pb *Port
	used   bool
}

func (d *diffCable) compare(o *diffCable) int {
	if c := d.a.Compare(o.a); c != 0 {
		return c
	}
	return d.b.Compare(o.b)
}

// far returns the other end.
func (d *diffCable) far(near PortRef) PortRef {
	if near == d.a {
		return d.b
	}
	return d.a
}

// rate is that of the slower end that says its rate; a port that is down says
// nothing that counts.
func (d *diffCable) rate() (Width, Speed) {
	var w Width
	var s Speed
	for _, p := range [...]*Port{d.pa, d.pb} {
		if p == nil || p.State == PortDown || p.Width == 0 && p.Speed == 0 {
			continue
		}
		if w == 0 && s == 0 || compareRates(p.Width, p.Speed, w, s) < 0 {
			w, s = p.Width, p.Speed
		}
	}
	return w, s
}

// compareRates orders by what is left for data, and equal ones by generation.
func compareRates(w1 Width, s1 Speed, w2 Width, s2 Speed) int {
	const nothing = 0.001 // Gbit/s, far below any difference of real rates
	if d := s1.Data(w1) - s2.Data(w2); d > nothing || d < -nothing {
		return cmp.Compare(d, 0)
	}
	return cmp.Or(cmp.Compare(s1, s2), cmp.Compare(w1, w2))
}

// cablePair is one cable on both sides.
type cablePair struct{ old, now diffCable }

func (s *side) list() []diffCable {
	out := make([]diffCable, 0, s.t.countLinks())
	s.t.eachLink(func(l Link) {
		d := diffCable{a: s.canonRef(l.A), b: s.canonRef(l.B), pa: s.t.Port(l.A), pb: s.t.Port(l.B)}
		if d.a.Compare(d.b) > 0 {
			d.a, d.b, d.pa, d.pb = d.b, d.a, d.pb, d.pa
		}
		out = append(out, d)
	})
	slices.SortFunc(out, func(a, b diffCable) int { return a.compare(&b) })
	return slices.CompactFunc(out, func(a, b diffCable) bool { return a.compare(&b) == 0 })
}

// matchCables leaves on each side the cables the other lacks, and keeps the
// rest as pairs.
func (c *comparison) matchCables() {
	old, now := c.old.list(), c.now.list()
	for len(old) > 0 || len(now) > 0 {
		order := 0
		switch {
		case len(old) == 0:
			order = 1
		case len(now) == 0:
			order = -1
		default:
			order = old[0].compare(&now[0])
		}
		switch {
		case order < 0:
			c.old.cables, old = append(c.old.cables, old[0]), old[1:]
		case order > 0:
			c.now.cables, now = append(c.now.cables, now[0]), now[1:]
		default:
			c.same = append(c.same, cablePair{old[0], now[0]})
			old, now = old[1:], now[1:]
		}
	}
}

// joints pairs lost with new cables that share an end, which is one cable
// moved and not two changes.
type joints struct {
	old, now       *side
	oldAt, nowAt   map[PortRef]int
	counts         func(PortRef) bool
	pair           func(fixed PortRef, was, is *diffCable)
	waiting, order []PortRef
}

// movedCables tells the cables of which one end stayed: first at adapters,
// since people say that a host moved; then between switches, beginning at the ends of
// each chain of changes so that as few cables as possible are left over.
func (c *comparison) movedCables() {
	j := &joints{old: &c.old, now: &c.now}
	j.counts = func(end PortRef) bool {
		n := c.oldNode(end.Node)
		return n != nil && n.Type == NodeCA && !n.IsAggregation()
	}
	j.pair = c.moved
	j.index(func(*side, *diffCable) bool { return true })
	for _, end := range j.order {
		j.take(end)
	}
	j.counts = func(PortRef) bool { return true }
	j.pair = c.recabled
	j.index(func(s *side, d *diffCable) bool { return s.bothCanon(d.a.Node) && s.bothCanon(d.b.Node) })
	for _, end := range j.order {
		if j.loose(end) {
			j.waiting = append(j.waiting, end)
		}
	}
	j.drain()
	for _, end := range j.order {
		j.take(end)
		j.drain()
	}
	c.leftOver(CableLost, &c.old)
	c.leftOver(CableNew, &c.now)
}

// bothCanon is both for a canonical GUID.
func (s *side) bothCanon(g GUID) bool { return s.both(s.own(g)) }

// oldNode returns the node with this canonical GUID if it is on both sides.
func (c *comparison) oldNode(g GUID) *Node {
	if !c.old.bothCanon(g) || !c.now.bothCanon(g) {
		return nil
	}
	return c.old.t.Node(c.old.own(g))
}

func (j *joints) index(admit func(*side, *diffCable) bool) {
	at := func(s *side) map[PortRef]int {
		ends := map[PortRef]int{}
		for i := range s.cables {
			d := &s.cables[i]
			if !d.used && admit(s, d) {
				ends[d.a], ends[d.b] = i, i
			}
		}
		return ends
	}
	j.oldAt, j.nowAt = at(j.old), at(j.now)
	j.order = j.order[:0]
	for end := range j.oldAt {
		if j.is(end) {
			j.order = append(j.order, end)
		}
	}
	slices.SortFunc(j.order, PortRef.Compare)
}

// is reports whether a lost and a new cable, both still free, meet here.
func (j *joints) is(end PortRef) bool {
	o, ok := j.oldAt[end]
	if !ok {
		return false
	}
	n, ok := j.nowAt[end]
	return ok && j.counts(end) && !j.old.cables[o].used && !j.now.cables[n].used
}

// neighbours are the joints at the far ends of the two cables.
func (j *joints) neighbours(end PortRef) [2]PortRef {
	return [2]PortRef{j.old.cables[j.oldAt[end]].far(end), j.now.cables[j.nowAt[end]].far(end)}
}

// loose reports whether one of the two cables has no other joint.
func (j *joints) loose(end PortRef) bool {
	around := j.neighbours(end)
	return !j.is(around[0]) || !j.is(around[1])
}

func (j *joints) take(end PortRef) {
	if !j.is(end) {
		return
	}
	around := j.neighbours(end)
	was, is := &j.old.cables[j.oldAt[end]], &j.now.cables[j.nowAt[end]]
	was.used, is.used = true, true
	j.pair(end, was, is)
	for _, gone := range around {
		for _, at := range [...]struct {
			s    *side
			ends map[PortRef]int
		}{{j.old, j.oldAt}, {j.now, j.nowAt}} {
			if i, ok := at.ends[gone]; ok && !at.s.cables[i].used {
				j.waiting = append(j.waiting, at.s.cables[i].far(gone))
			}
		}
	}
}

func (j *joints) drain() {
	for len(j.waiting) > 0 {
		end := j.waiting[0]
		j.waiting = j.waiting[1:]
		j.take(end)
	}
}

// leftOver tells the cables that neither moved nor belong to a node that only
// this side has.
func (c *comparison) leftOver(kind ChangeKind, s *side) {
	for i := range s.cables {
		d := &s.cables[i]
		if !d.used && s.bothCanon(d.a.Node) && s.bothCanon(d.b.Node) {
			d.used = true
			c.cable(kind, s, d)
		}
	}
}
