package fabric

import (
	"fmt"
	"slices"
	"strings"
)

// nodes tells which nodes only side s has, each with what came or went with
// it: a switch with its cables and the hosts that hang on it alone, a host with
// all its adapters.
func (c *comparison) nodes(kind ChangeKind, s, other *side) {
	if len(s.single) == 0 {
		return
	}
	cables := map[GUID][]*diffCable{}
	for i := range s.cables {
		d := &s.cables[i]
		for _, g := range [...]GUID{d.a.Node, d.b.Node} {
			if s.single[g] {
				cables[g] = append(cables[g], d)
			}
		}
	}
	behind, hosts := map[GUID][]GUID{}, map[string][]GUID{}
	for i := range s.t.Nodes {
		n := &s.t.Nodes[i]
		if !s.single[n.GUID] || n.Type != NodeCA {
			continue
		}
		sw, gone := s.hangsOn(n, cables[n.GUID])
		switch {
		case n.IsAggregation():
			if _, swapped := s.twin[neighbour(n)]; !gone && !swapped {
				c.add(Change{Kind: kind, Name: c.names.Of(n.GUID), Text: c.names.Of(n.GUID) + " " + kind.verb(), Type: NodeCA, Nodes: []GUID{n.GUID}})
			}
		case gone:
			behind[sw] = append(behind[sw], n.GUID)
		default:
			hosts[c.hostOf(n.GUID)] = append(hosts[c.hostOf(n.GUID)], n.GUID)
		}
	}
	left := c.adaptersPerHost(other.t)
	told := map[*diffCable]bool{}
	seen := map[string]bool{}
	for i := range s.t.Nodes {
		if n := &s.t.Nodes[i]; s.single[n.GUID] && n.Type != NodeCA {
			ch := Change{Kind: kind, Name: c.names.Of(n.GUID), Type: n.Type, Nodes: []GUID{n.GUID}}
			for _, d := range cables[n.GUID] {
				if !told[d] {
					told[d] = true
					ch.Cables++
				}
			}
			for _, g := range behind[n.GUID] {
				ch.Nodes = append(ch.Nodes, g)
				h := c.hostOf(g)
				switch {
				case left[h] > 0:
					ch.Adapters++
				case !seen[h]:
					seen[h] = true
					ch.Hosts = append(ch.Hosts, h)
				}
			}
			slices.SortFunc(ch.Hosts, CompareHostNames)
			ch.Text = switchText(&ch)
			c.add(ch)
		}
	}
	var had map[string]int
	for host, gone := range hosts {
		if had == nil {
			had = c.adaptersPerHost(s.t)
		}
		c.host(kind, host, gone, had[host], left[host], cables)
	}
}

// hangsOn reports whether all cables of an adapter lead to switches that only
// this side has, and the first of those.
func (s *side) hangsOn(n *Node, cables []*diffCable) (GUID, bool) {
	var first GUID
	for _, d := range cables {
		far := d.a.Node
		if far == n.GUID {
			far = d.b.Node
		}
		if p := s.t.Node(far); !s.single[far] || p == nil || p.Type == NodeCA {
			return 0, false
		}
		if first == 0 {
			first = far
		}
	}
	return first, first != 0
}

// hostOf is the host of an adapter, or the adapter's own label where the name
// is not known to be one host's.
func (c *comparison) hostOf(g GUID) string {
	label := c.names.Of(g)
	if strings.HasSuffix(label, "]") {
		return label
	}
	if h := c.names.Host(g); h != "" {
		return h
	}
	return label
}

func (c *comparison) adaptersPerHost(t *Topology) map[string]int {
	count := map[string]int{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Type != NodeCA || n.IsAggregation() {
			continue
		}
		// On the old side a node may have had another name; what counts is the
		// host it is today.
		if _, named := c.names.label[n.GUID]; named {
			count[c.hostOf(n.GUID)]++
		} else if name, _ := SplitDescription(n.Description); name != "" {
			count[name]++
		}
	}
	return count
}

func (c *comparison) host(kind ChangeKind, host string, gone []GUID, had, left int, cables map[GUID][]*diffCable) {
	name := c.names.Host(gone[0])
	ch := Change{Kind: kind, Name: host, Type: NodeCA, Nodes: gone, Part: left > 0, hosts: []string{name}}
	seen := map[*diffCable]bool{}
	for _, g := range gone {
		for _, d := range cables[g] {
			if !seen[d] {
				seen[d] = true
				ch.Cables++
				ch.A, ch.B = c.ends(d)
			}
		}
	}
	switch {
	case len(gone) == 1:
		ch.Name = c.names.Of(gone[0])
		ch.Text = ch.Name + " " + kind.verb()
		if ch.Cables == 1 && kind == NodeLost {
			ch.Text += " (was at " + c.end(ch.B) + ")"
		} else if ch.Cables == 1 {
			ch.Text += " at " + c.end(ch.B)
		}
	case left > 0 && kind == NodeLost:
		ch.Text = fmt.Sprintf("%s lost %d of %d adapters: %s", host, len(gone), max(had, len(gone)), c.devices(host, gone))
	case left > 0:
		ch.Text = fmt.Sprintf("%s has %d more adapters: %s", host, len(gone), c.devices(host, gone))
	default:
		ch.Text = fmt.Sprintf("%s %s with %d adapters", host, kind.verb(), len(gone))
	}
	if ch.Cables != 1 {
		ch.A, ch.B = PortRef{}, PortRef{}
	}
	c.add(ch)
}

func (c *comparison) devices(host string, adapters []GUID) string {
	words := make([]string, len(adapters))
	for i, g := range adapters {
		words[i] = strings.TrimPrefix(c.names.Of(g), host+" ")
	}
	slices.SortFunc(words, CompareHostNames)
	return strings.Join(words, ", ")
}

func (k ChangeKind) verb() string {
	if k == NodeLost {
		return "lost"
	}
	return "new"
}

func switchText(ch *Change) string {
	text := ch.Name + " " + ch.Kind.verb()
	if ch.Cables > 0 {
		text += " with " + count(ch.Cables, "cable")
	}
	var more []string
	if n := len(ch.Hosts); n > 0 {
		more = append(more, count(n, "host")+" behind it: "+foldNames(ch.Hosts))
	}
	if ch.Adapters > 0 {
		more = append(more, count(ch.Adapters, "adapter")+" behind it of hosts that have others")
	}
	if len(more) > 0 {
		text += ", " + strings.Join(more, " and ")
	}
	return text
}

// foldNames writes names as a host expression where they are host names.
func foldNames(names []string) string {
	if set, err := NewHostSet(names...); err == nil {
		return set.String()
	}
	const shown = 3
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
	}
	return strings.Join(names, ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
