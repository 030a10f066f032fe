package parse

import (
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// NodeListReport is what ibhosts, ibswitches, ibrouters and ibnodes print.
type NodeListReport struct {
	Trouble
	CAs      int `json:"cas"`
	Switches int `json:"switches"`
	Routers  int `json:"routers"`
	// AggregationNodes are the reduction engines inside switches, which the
	// tools list as adapters; Hosts are the adapters without them.
	AggregationNodes int         `json:"aggregation_nodes"`
	Hosts            int         `json:"hosts_without_aggregation_nodes"`
	Entries          []NodeEntry `json:"entries"`
}

// NodeEntry is one line. Port0, LID and LMC exist for switches only.
type NodeEntry struct {
	Type  string      `json:"type"`
	GUID  fabric.GUID `json:"guid"`
	Ports int         `json:"ports"`
	Name  string      `json:"name"`
	Port0 string      `json:"port0,omitempty"`
	LID   *fabric.LID `json:"lid,omitempty"`
	LMC   *int        `json:"lmc,omitempty"`
}

// Node returns the entry as the fabric's noun.
func (e NodeEntry) Node() fabric.Node {
	t, _ := fabric.ParseNodeType(e.Type)
	n := fabric.Node{GUID: e.GUID, Type: t, Description: e.Name, NumPorts: uint8(min(e.Ports, 255))}
	if e.LID != nil {
		n.LID = *e.LID
	}
	return n
}

// IBNodes reads
//
//	Switch  : 0x08c0eb0300caa24e ports 41 "name" base port 0 lid 10 lmc 0
//	Ca      : 0xe8ebd303005d4eb8 ports 1 "name"
func IBNodes(r io.Reader) (*NodeListReport, error) {
	s := newLines(r)
	rep := &NodeListReport{Entries: []NodeEntry{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		kind, rest, _ := strings.Cut(line, ":")
		e := NodeEntry{Type: strings.TrimSpace(kind)}
		t, err := fabric.ParseNodeType(e.Type)
		if err != nil || t == fabric.NodeUnknown {
			rep.complained(line)
			continue
		}
		if !e.read(rest) {
			rep.Incomplete = true
			continue
		}
		switch t {
		case fabric.NodeCA:
			rep.CAs++
			if n := e.Node(); n.IsAggregation() {
				rep.AggregationNodes++
			} else {
				rep.Hosts++
			}
		case fabric.NodeSwitch:
			rep.Switches++
		case fabric.NodeRouter:
			rep.Routers++
		}
		rep.Entries = append(rep.Entries, e)
	}
	return rep, rep.ended(s, len(rep.Entries) > 0 || rep.Incomplete)
}

var _ = tool(IBNodes, "ibhosts", "ibswitches", "ibrouters", "ibnodes", "ibnetdiscover -l", "ibnetdiscover -H", "ibnetdiscover -S")

func (e *NodeEntry) read(text string) bool {
	name, tail, ok := quoted(text)
	if !ok {
		return false
	}
	e.Name = name
	words := strings.Fields(text[:strings.IndexByte(text, '"')])
	if len(words) < 3 || words[1] != "ports" {
		return false
	}
	g, err := fabric.ParseGUID(words[0])
	n, ok := smallNumber(words[2])
	if err != nil || !ok {
		return false
	}
	e.GUID, e.Ports = g, n
	w := strings.Fields(tail)
	for i := 0; i+1 < len(w); i++ {
		switch w[i] {
		case "base", "enhanced":
			e.Port0 = w[i]
		case "lid":
			if lid, err := fabric.ParseLID(w[i+1]); err == nil {
				e.LID = &lid
			}
		case "lmc":
			if n, ok := smallNumber(w[i+1]); ok {
				e.LMC = &n
			}
		}
	}
	return true
}

// smallNumber reads a decimal count that cannot be large, up to 65535.
func smallNumber(s string) (int, bool) {
	n, rest, ok := digits([]byte(s), 10)
	return int(n), ok && len(rest) == 0 && n <= 0xffff
}
