package fabric

import (
	"fmt"
	"strings"
)

// replacements tells the nodes that took the place of others.
func (c *comparison) replacements() {
	for i := range c.now.t.Nodes {
		n := &c.now.t.Nodes[i]
		was, ok := c.now.twin[n.GUID]
		if !ok || n.IsAggregation() {
			continue
		}
		name := c.names.Of(n.GUID)
		if own, _ := SplitDescription(n.Description); own == "" {
			// A fresh adapter has no name before its host is up, but its place has one.
			if before, _ := SplitDescription(c.old.t.Node(was).Description); before != "" {
				name = before
			}
		}
		ch := Change{Kind: NodeReplaced, Name: name, Type: n.Type, Nodes: []GUID{n.GUID}, Was: was,
			From: was.String(), To: n.GUID.String(), hosts: []string{name}}
		ch.Text = fmt.Sprintf("%s: %s replaced (%s → %s)", name, n.Type.word(), ch.From, ch.To)
		if place := neighbourEnd(n); n.Type == NodeCA && place.Node != 0 {
			ch.Text += " at " + c.end(place)
		}
		c.add(ch)
	}
}

func neighbourEnd(n *Node) PortRef {
	for i := range n.Ports {
		if n.Ports[i].PeerKnown {
			return n.Ports[i].Peer
		}
	}
	return PortRef{}
}

// properties tells what changed at nodes that kept their GUID: description,
// LIDs, and states of ports without a cable.
func (c *comparison) properties() {
	for i := range c.now.t.Nodes {
		n := &c.now.t.Nodes[i]
		was := c.old.t.Node(n.GUID)
		if was == nil {
			continue
		}
		c.renamed(was, n)
		c.lid(PortRef{n.GUID, 0}, was.LID, n.LID)
		for j := range n.Ports {
			p := &n.Ports[j]
			q := was.Port(p.Num)
			if q == nil {
				continue
			}
			if n.Type != NodeSwitch {
				c.lid(PortRef{n.GUID, p.Num}, q.LID, p.LID)
			}
			if _, _, changed := stateChange(q, p); changed && !p.PeerKnown && !q.PeerKnown {
				c.openPort(PortRef{n.GUID, p.Num}, q, p)
			}
		}
	}
}

func (c *comparison) renamed(was, is *Node) {
	before, after := strings.Join(strings.Fields(was.Description), " "), strings.Join(strings.Fields(is.Description), " ")
	if before == after || before == "" || after == "" {
		return
	}
	ch := Change{Kind: NodeRenamed, Type: is.Type, Nodes: []GUID{is.GUID}, Name: c.names.Of(is.GUID), From: before, To: after}
	short, _ := SplitDescription(before)
	long, _ := SplitDescription(after)
	if short != long && short != "" && long != "" {
		ch.From, ch.To = short, long
	}
	ch.hosts = []string{short, long}
	ch.Text = fmt.Sprintf("renamed: %s → %s", ch.From, ch.To)
	c.add(ch)
}

func (c *comparison) lid(at PortRef, was, is LID) {
	if was == is || was == 0 || is == 0 || c.options.IgnoreLIDs {
		return
	}
	ch := Change{Kind: LIDChanged, Name: c.names.Of(at.Node), A: at, From: was.String(), To: is.String(), hosts: []string{c.names.Host(at.Node)}}
	where := ch.Name
	if n := c.node(at.Node); n != nil {
		ch.Type = n.Type
		if n.Type != NodeSwitch {
			where = c.end(at)
		}
	}
	ch.Text = fmt.Sprintf("LID of %s changed: %s → %s", where, ch.From, ch.To)
	c.add(ch)
}

// openPort tells the state of a port that no source calls cabled; a cable that only its
// other end names has been told already.
func (c *comparison) openPort(at PortRef, was, is *Port) {
	if c.cabled == nil {
		c.cabled = make(map[*Port]bool, 2*len(c.same))
		for i := range c.same {
			c.cabled[c.same[i].now.pa], c.cabled[c.same[i].now.pb] = true, true
		}
	}
	if c.cabled[is] {
		return
	}
	ch := Change{Kind: PortStateChanged, Name: c.end(at), A: at, From: was.State.String(), To: is.State.String(), hosts: []string{c.names.Host(at.Node)}}
	if n := c.node(at.Node); n != nil {
		ch.Type = n.Type
	}
	ch.Text = fmt.Sprintf("%s: %s → %s", ch.Name, ch.From, ch.To)
	c.add(ch)
}
