package parse

import (
	"bytes"
	"fmt"
	"io"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBNetDiscover reads the topology that ibnetdiscover prints without options
// or with -g or -f: a block of vendid=, devid=, sysimgguid= and switchguid=,
// caguid= or rtguid= lines, the node's line, and a line per connected port.
// Incomplete is set when the text ends in the middle, names nodes it does not
// describe, or holds an error of the tool. A failure without any node is a
// *ToolError.
func IBNetDiscover(r io.Reader) (*fabric.Topology, error) {
	top, trouble, err := discover(r)
	if err == nil && len(top.Nodes) == 0 {
		err = trouble.Failed()
	}
	if err != nil {
		return nil, err
	}
	return top, nil
}

func discover(r io.Reader) (*fabric.Topology, Trouble, error) {
	p := discovery{lines: newLines(r)}
	for {
		line, ok := p.lines.next()
		if !ok {
			break
		}
		if len(line) > 0 {
			p.line(line)
		}
	}
	p.endNode()
	if err := p.ended(p.lines, p.known); err != nil {
		return nil, p.Trouble, err
	}
	top := fabric.NewTopology(p.nodes)
	top.Generated, top.FromNode, top.FromPort = p.generated, p.fromNode, p.fromPort
	if p.dangling || p.broken || p.Error != "" || !whole(top) {
		p.Incomplete = true
	}
	top.Incomplete = p.Incomplete
	return top, p.Trouble, nil
}

// whole reports whether the text names both ends of every cable and a cable
// for every node, as a finished discovery does; only an adapter that nothing
// is plugged into stands alone.
func whole(t *fabric.Topology) bool {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(n.Ports) == 0 && (len(t.Nodes) > 1 || n.Type != fabric.NodeCA) {
			return false
		}
		for j := range n.Ports {
			if p := &n.Ports[j]; p.PeerKnown {
				if end := t.Port(p.Peer); end == nil || !end.PeerKnown {
					return false
				}
			}
		}
	}
	return len(t.Nodes) > 0
}

// discovery is the state while reading. The ports of the node being read are
// collected in one slice that is used again, so each node keeps exactly as
// many as it has.
type discovery struct {
	Trouble
	lines     *lines
	nodes     []fabric.Node
	ports     []fabric.Port
	head      fabric.Node // what the lines before the node's own line said
	current   int         // index+1 into nodes of the block being read
	generated string
	fromNode  fabric.GUID
	fromPort  fabric.GUID
	known     bool // something of this format was seen
	dangling  bool // a block's head without its node line
	broken    bool // a port or node line that ends in the middle
}

func (p *discovery) line(line []byte) {
	switch line[0] {
	case '[':
		p.port(line)
		return
	case '#':
		p.comment(string(line))
		return
	case 'S', 'C', 'R':
		if p.node(line) {
			return
		}
	}
	if key, value, ok := bytes.Cut(line, []byte("=")); ok {
		if p.attribute(key, value) {
			return
		}
	}
	if text := string(line); p.complained(text) {
		return
	}
	// Headings of the grouped form ("Chassis 1", "Non-Chassis Nodes",
	// "Spine Nodes") carry nothing that the blocks do not.
}

func (p *discovery) comment(text string) {
	var node, port string
	if at, ok := after(text, "# Topology file: generated on "); ok {
		p.generated, p.known = at, true
	} else if n, _ := fmt.Sscanf(text, "# Initiated from node %s port %s", &node, &port); n == 2 {
		p.fromNode, _ = fabric.ParseGUID(node)
		p.fromPort, _ = fabric.ParseGUID(port)
		p.known = true
	}
}

func (p *discovery) attribute(key, value []byte) bool {
	number, _, _ := digits(value, 16)
	switch string(key) {
	case "vendid":
		p.endNode()
		p.head = fabric.Node{VendorID: uint32(number)}
	case "devid":
		p.head.DeviceID = uint32(number)
	case "sysimgguid":
		p.head.SystemGUID = fabric.GUID(number)
	case "switchguid", "caguid", "rtguid":
		p.head.GUID = fabric.GUID(number)
	default:
		return false
	}
	p.known, p.dangling = true, true
	return true
}

// node reads
//
//	Switch	41 "S-0c42a103002a48b6"		# "name" enhanced port 0 lid 1380 lmc 0
//	Ca	2 "H-0002c90200e56bac"		# "name"
func (p *discovery) node(line []byte) bool {
	n := p.head
	var rest []byte
	switch {
	case bytes.HasPrefix(line, []byte("Switch")):
		n.Type, rest = fabric.NodeSwitch, line[len("Switch"):]
	case bytes.HasPrefix(line, []byte("Ca")):
		n.Type, rest = fabric.NodeCA, line[len("Ca"):]
	case bytes.HasPrefix(line, []byte("Rt")):
		n.Type, rest = fabric.NodeRouter, line[len("Rt"):]
	default:
		return false
	}
	count, rest, ok := digits(blank(rest), 10)
	if !ok {
		return false
	}
	id, _, rest, ok := nodeID(blank(rest))
	if !ok {
		p.broken = true
		return true
	}
	p.endNode()
	n.NumPorts = uint8(min(count, 255))
	if !id.IsZero() || n.GUID.IsZero() {
		n.GUID = id
	}
	name, rest, ok := lastQuoted(rest)
	if !ok {
		p.broken = true
	}
	n.Description = string(name)
	if n.Type == fabric.NodeSwitch {
		lid, tail := numberAfter(rest, " lid ")
		lmc, _ := numberAfter(tail, " lmc ")
		n.LID, n.LMC = fabric.LID(lid), uint8(lmc)
	}
	p.nodes = append(p.nodes, n)
	p.current, p.known, p.dangling = len(p.nodes), true, false
	p.head = fabric.Node{}
	return true
}

// port reads
//
//	[1]	"H-0c42a10300ee7594"[1](c42a10300ee7594) 		# "name" lid 1351 4xEDR
//	[1](c42a10300ee7594) 	"S-0c42a103002a48b6"[1]		# lid 1351 lmc 0 "name" lid 1380 4xEDR
//
// where an external port number of a chassis ("[ext 7]") may follow either
// port number.
func (p *discovery) port(line []byte) {
	num, rest, ok := digits(line[1:], 10)
	if !ok || num > 254 {
		return // not a port: some other bracket
	}
	p.known = true
	if p.current == 0 {
		p.broken = true
		return
	}
	port := fabric.Port{Num: fabric.PortNum(num)}
	open := bytes.IndexByte(rest, '"')
	if open < 0 {
		p.broken = true
		return
	}
	port.GUID = guidInParens(rest[:open])
	peer, peerType, rest, ok := nodeID(rest[open:])
	if !ok {
		p.broken = true
		return
	}
	rest = bytes.TrimPrefix(rest, []byte("["))
	peerNum, rest, ok := digits(rest, 10)
	hash := bytes.IndexByte(rest, '#')
	if !ok || peerNum > 254 || hash < 0 {
		p.broken = true
		return
	}
	port.Peer, port.PeerKnown = fabric.PortRef{Node: peer, Port: fabric.PortNum(peerNum)}, true
	port.PeerType = peerType
	remark := rest[hash+1:]
	if name := bytes.IndexByte(remark, '"'); name > 0 {
		lid, tail := numberAfter(remark[:name], "lid ")
		lmc, _ := numberAfter(tail, "lmc ")
		port.LID, port.LMC = fabric.LID(lid), uint8(lmc)
	}
	_, remark, ok = lastQuoted(remark)
	_, rate := numberAfter(remark, "lid ")
	port.Width, port.Speed = linkRate(blank(rate))
	if !ok || port.Width == 0 || port.Speed == fabric.SpeedUnknown && p.lines.open {
		p.broken = true // "4xH" at the very end is not a new speed
	}
	p.ports = append(p.ports, port)
}

// endNode gives the collected ports to the node whose block ends.
func (p *discovery) endNode() {
	if p.current > 0 && len(p.ports) > 0 {
		p.nodes[p.current-1].Ports = append(make([]fabric.Port, 0, len(p.ports)), p.ports...)
	}
	p.ports, p.current = p.ports[:0], 0
}
