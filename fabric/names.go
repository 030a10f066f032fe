package fabric

import "strings"

// SplitDescription takes a node description apart: "node001 HCA-1" and
// "node001 mlx5_0" into host and device, "MF0;leaf03:MQM8700/U1" into leaf03
// and U1. A factory description, which says what the device is but not which
// one ("MT4123 ConnectX6 Mellanox Technologies"), has no name: name is empty
// and device is the model.
func SplitDescription(description string) (name, device string) {
	fields := strings.Fields(description)
	if len(fields) == 0 {
		return "", ""
	}
	text := strings.Join(fields, " ")
	if maker := strings.Index(text, "Mellanox Technologies"); maker >= 0 {
		return "", strings.TrimRight(text[:maker], " -")
	}
	if isPartNumber(fields[0]) {
		return "", text
	}
	// Managed switches: chassis prefix ; name : model / position in the chassis.
	if _, rest, ok := strings.Cut(text, ";"); ok && !strings.HasPrefix(rest, " ") {
		name, model, _ := strings.Cut(rest, ":")
		_, position, _ := strings.Cut(model, "/")
		return strings.TrimSpace(name), position
	}
	if len(fields) > 1 && CheckHostName(fields[0]) == nil {
		return fields[0], strings.Join(fields[1:], " ")
	}
	return text, ""
}

// isPartNumber recognises MT and digits, the maker's name of a chip.
func isPartNumber(word string) bool {
	digits := strings.TrimPrefix(word, "MT")
	return len(digits) >= 4 && len(digits) < len(word) && digitRun(digits) == digits
}

// Names holds for every node the shortest name that no other node shares. Build
// it with NewNames; it is safe for concurrent readers.
type Names struct {
	label map[GUID]string
	host  map[GUID]string
}

// NewNames names the nodes of a topology: by host or switch name, with the
// device where a host has several, and with the GUID in brackets only where
// that is not enough or the description holds no name.
func NewNames(t *Topology) *Names {
	nodes := make([]*Node, len(t.Nodes))
	for i := range t.Nodes {
		nodes[i] = &t.Nodes[i]
	}
	return namesOf(nodes)
}

func namesOf(nodes []*Node) *Names {
	type parts struct{ name, device string }
	split := make([]parts, len(nodes))
	byName, byBoth := make(map[string]int, len(nodes)), map[parts]int{}
	for i, n := range nodes {
		name, device := SplitDescription(n.Description)
		split[i] = parts{name, device}
		byName[name]++
	}
	for _, p := range split {
		if byName[p.name] > 1 {
			byBoth[p]++
		}
	}
	names := &Names{label: make(map[GUID]string, len(nodes)), host: make(map[GUID]string, len(nodes))}
	inside := map[*Node]GUID{}
	for i, n := range nodes {
		p := split[i]
		switch {
		case n.IsAggregation():
			if sw := neighbour(n); sw != 0 {
				inside[n] = sw
				continue
			}
			names.label[n.GUID] = "aggregation node [" + n.GUID.String() + "]"
			continue
		case p.name == "":
			what := p.device
			if what == "" {
				what = "unnamed " + n.Type.word()
			}
			names.label[n.GUID] = what + " [" + n.GUID.String() + "]"
			continue
		case byName[p.name] == 1:
			names.label[n.GUID] = p.name
		case p.device != "" && byBoth[p] == 1:
			names.label[n.GUID] = p.name + " " + p.device
		default:
			names.label[n.GUID] = p.name + " [" + n.GUID.String() + "]"
		}
		if n.Type == NodeCA {
			names.host[n.GUID] = p.name
		}
	}
	for n, sw := range inside {
		names.label[n.GUID] = "aggregation node of " + names.Of(sw)
	}
	return names
}

func neighbour(n *Node) GUID {
	for i := range n.Ports {
		if n.Ports[i].PeerKnown {
			return n.Ports[i].Peer.Node
		}
	}
	return 0
}

// Of returns the name of a node; its GUID in brackets when it is not known.
func (n *Names) Of(g GUID) string {
	if name, ok := n.label[g]; ok {
		return name
	}
	return "[" + g.String() + "]"
}

// Host returns the host name of a channel adapter, which several adapters may
// share; it is empty for other nodes and for adapters without a name.
func (n *Names) Host(g GUID) string { return n.host[g] }

// word is what people call a node of this type.
func (t NodeType) word() string {
	switch t {
	case NodeCA:
		return "HCA"
	case NodeSwitch:
		return "switch"
	case NodeRouter:
		return "router"
	}
	return "node"
}
