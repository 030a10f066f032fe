package fabric

import "fmt"

// node returns the node by either side's GUID.
func (c *comparison) node(g GUID) *Node {
	if n := c.now.t.Node(g); n != nil {
		return n
	}
	return c.old.t.Node(g)
}

// today gives a canonical end the GUID it has now, or had if it is gone.
func (c *comparison) today(r PortRef) PortRef { return PortRef{c.now.own(r.Node), r.Port} }

// end names one end of a cable; a one-port adapter needs no port number.
func (c *comparison) end(r PortRef) string {
	name := c.names.Of(r.Node)
	if n := c.node(r.Node); n != nil && n.Type == NodeCA && max(int(n.NumPorts), len(n.Ports)) == 1 {
		return name
	}
	return fmt.Sprintf("%s port %d", name, r.Port)
}

// ends returns the ends of a cable in the order people read them: the host
// first, then by name.
func (c *comparison) ends(d *diffCable) (PortRef, PortRef) {
	a, b := c.today(d.a), c.today(d.b)
	na, nb := c.node(a.Node), c.node(b.Node)
	aHost, bHost := na != nil && na.Type == NodeCA, nb != nil && nb.Type == NodeCA
	if bHost && !aHost || aHost == bHost && CompareHostNames(c.end(a), c.end(b)) > 0 {
		return b, a
	}
	return a, b
}

// onCable prepares a change of one cable.
func (c *comparison) onCable(kind ChangeKind, d *diffCable) Change {
	a, b := c.ends(d)
	ch := Change{Kind: kind, Name: c.end(a), A: a, B: b, hosts: []string{c.names.Host(a.Node), c.names.Host(b.Node)}}
	if n := c.node(a.Node); n != nil {
		ch.Type = n.Type
	}
	return ch
}

func (c *comparison) cable(kind ChangeKind, _ *side, d *diffCable) {
	ch := c.onCable(kind, d)
	word := "lost"
	if kind == CableNew {
		word = "new"
	}
	ch.Text = fmt.Sprintf("cable %s: %s – %s", word, c.end(ch.A), c.end(ch.B))
	c.add(ch)
}

func (c *comparison) moved(fixed PortRef, was, is *diffCable) {
	ch := c.fromTo(NodeMoved, fixed, was, is)
	ch.Nodes = []GUID{ch.A.Node}
	ch.Text = fmt.Sprintf("%s moved: %s → %s", ch.Name, ch.From, ch.To)
	c.add(ch)
}

func (c *comparison) recabled(fixed PortRef, was, is *diffCable) {
	ch := c.fromTo(CableMoved, fixed, was, is)
	ch.Text = fmt.Sprintf("re-cabled: %s goes to %s, was %s", ch.Name, ch.To, ch.From)
	c.add(ch)
}

func (c *comparison) fromTo(kind ChangeKind, fixed PortRef, was, is *diffCable) Change {
	ch := Change{Kind: kind, A: c.today(fixed), B: c.today(is.far(fixed)), OldB: c.today(was.far(fixed))}
	ch.Name, ch.From, ch.To = c.end(ch.A), c.end(ch.OldB), c.end(ch.B)
	ch.hosts = []string{c.names.Host(ch.A.Node), c.names.Host(ch.B.Node), c.names.Host(ch.OldB.Node)}
	if n := c.node(ch.A.Node); n != nil {
		ch.Type = n.Type
	}
	return ch
}

// unchangedCables compares rate and state of the cables that both sides have.
func (c *comparison) unchangedCables() {
	for i := range c.same {
		pair := &c.same[i]
		c.rateOf(pair)
		c.stateOf(pair)
	}
}

func (c *comparison) rateOf(pair *cablePair) {
	w1, s1 := pair.old.rate()
	w2, s2 := pair.now.rate()
	if s1 == 0 || s2 == 0 {
		s1, s2 = 0, 0
	}
	if w1 == 0 || w2 == 0 {
		w1, w2 = 0, 0
	}
	order := compareRates(w2, s2, w1, s1)
	if order == 0 {
		return
	}
	kind, word := LinkSlower, "slower"
	if order > 0 {
		kind, word = LinkFaster, "faster"
	}
	ch := c.onCable(kind, &pair.now)
	ch.From, ch.To = rateWords(w1, s1), rateWords(w2, s2)
	ch.Text = fmt.Sprintf("%s – %s %s: %s → %s", c.end(ch.A), c.end(ch.B), word, ch.From, ch.To)
	c.add(ch)
}

// rateWords says what is known of a rate.
func rateWords(w Width, s Speed) string {
	switch {
	case s == 0:
		return w.String()
	case w == 0:
		return s.String()
	}
	return w.String() + " " + s.String()
}

// stateOf tells a changed state of a cable once, also if both ends changed.
func (c *comparison) stateOf(pair *cablePair) {
	from1, to1, changed1 := stateChange(pair.old.pa, pair.now.pa)
	from2, to2, changed2 := stateChange(pair.old.pb, pair.now.pb)
	if !changed1 && !changed2 {
		return
	}
	ch := c.onCable(PortStateChanged, &pair.now)
	at := ""
	switch {
	case changed1 && changed2 && from1 == from2 && to1 == to2:
	case changed1 && changed2:
		at = fmt.Sprintf(" at %s and %v → %v at %s", c.end(c.today(pair.now.a)), from2, to2, c.end(c.today(pair.now.b)))
	case changed1:
		at = " at " + c.end(c.today(pair.now.a))
	default:
		at = " at " + c.end(c.today(pair.now.b))
		from1, to1 = from2, to2
	}
	ch.From, ch.To = from1.String(), to1.String()
	ch.Text = fmt.Sprintf("%s – %s: %s → %s%s", c.end(ch.A), c.end(ch.B), ch.From, ch.To, at)
	c.add(ch)
}

func stateChange(was, is *Port) (PortState, PortState, bool) {
	if was == nil || is == nil || was.State == 0 || is.State == 0 || was.State == is.State {
		return 0, 0, false
	}
	return was.State, is.State, true
}
