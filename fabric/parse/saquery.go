package parse

import (
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// SAQueryReport is what saquery prints for any record: NodeRecord (NR),
// PortInfoRecord (PIR, -s), SMInfoRecord (SMIR), MCMemberRecord (-g, -m).
// Multicast groups have their own list, with the field names in lower case;
// everything else is counted and listed as printed.
type SAQueryReport struct {
	Trouble
	Records int          `json:"records"`
	List    []SARecord   `json:"record_list,omitempty"`
	Groups  []Fields     `json:"groups,omitempty"`
	SMs     []fabric.SM  `json:"sms,omitempty"`
	SMPorts []fabric.LID `json:"sm_port_lids,omitempty"`
}

// SARecord is one "… dump:" block.
type SARecord struct {
	Kind   string `json:"kind"`
	Fields Fields `json:"fields"`
}

// Node returns a NodeRecord as the fabric's noun, with the one port that the
// record is about; false for other records.
func (r SARecord) Node() (fabric.Node, bool) {
	if r.Kind != "NodeRecord" {
		return fabric.Node{}, false
	}
	number := func(name string) uint64 { v, _ := r.Fields.Uint(name); return v }
	text := func(name string) string { v, _ := r.Fields.Get(name); return v }
	n := fabric.Node{
		GUID: fabric.GUID(number("node_guid")), SystemGUID: fabric.GUID(number("sys_guid")),
		Description: text("NodeDescription"), VendorID: uint32(number("vendor_id")),
		DeviceID: uint32(number("device_id")), NumPorts: uint8(min(number("num_ports"), 255)),
	}
	n.Type, _ = fabric.ParseNodeType(text("node_type"))
	lid := fabric.LID(number("lid"))
	if n.Type == fabric.NodeSwitch {
		n.LID = lid
		return n, true
	}
	n.Ports = []fabric.Port{{
		Num: fabric.PortNum(min(number("port_num"), 255)), GUID: fabric.GUID(number("port_guid")), LID: lid,
	}}
	return n, true
}

// SAQuery reads the output of saquery.
func SAQuery(r io.Reader) (*SAQueryReport, error) {
	s := newLines(r)
	rep := &SAQueryReport{}
	known, enabled := false, false
	for line, ok := s.text(); ok; line, ok = s.text() {
		trimmed := strings.TrimSpace(line)
		if kind, isRecord := strings.CutSuffix(line, " dump:"); isRecord && line == trimmed {
			// "MCMemberRecord group" is a multicast group; "… member" is one
			// port's membership and stays in the list.
			rep.List = append(rep.List, SARecord{Kind: strings.TrimSuffix(kind, " group"), Fields: Fields{}})
			known = true
			continue
		}
		switch trimmed {
		case "IsSM ports", "IsSMdisabled ports":
			known, enabled = true, trimmed == "IsSM ports"
			continue
		case "RID", "...", "":
			continue
		}
		f, ok := dotted(line)
		if !ok || len(rep.List) == 0 {
			rep.complained(line)
			continue
		}
		last := &rep.List[len(rep.List)-1]
		last.Fields = append(last.Fields, f)
		if enabled && f.Name == "EndPortLid" {
			if lid, err := fabric.ParseLID(f.Value); err == nil {
				rep.SMPorts = append(rep.SMPorts, lid)
			}
		}
	}
	rep.sort()
	return rep, rep.ended(s, known)
}

var _ = tool(SAQuery, "saquery", "saquery -s", "saquery -g", "saquery -m", "saquery -N",
	"saquery NR", "saquery PIR", "saquery SMIR", "saquery MCMR")

// sort moves multicast groups and subnet managers to lists of their own and
// counts the records.
func (rep *SAQueryReport) sort() {
	rest := rep.List[:0]
	for _, rec := range rep.List {
		if len(rec.Fields) == 0 {
			rep.Incomplete = true
		}
		rep.Records++
		switch rec.Kind {
		case "MCMemberRecord":
			for i := range rec.Fields {
				rec.Fields[i].Name = strings.ToLower(rec.Fields[i].Name)
			}
			rep.Groups = append(rep.Groups, rec.Fields)
			continue
		case "SMInfoRecord":
			rep.SMs = append(rep.SMs, rec.sm())
		}
		rest = append(rest, rec)
	}
	rep.List = rest
}

func (r SARecord) sm() fabric.SM {
	number := func(name string) uint64 { v, _ := r.Fields.Uint(name); return v }
	m := fabric.SM{
		GUID: fabric.GUID(number("GUID")), LID: fabric.LID(number("LID")),
		Priority: uint8(min(number("Priority"), 255)), ActivityCount: number("ActCount"),
	}
	if v, ok := r.Fields.Get("SMState"); ok {
		m.State, _ = fabric.ParseSMState(v)
	}
	return m
}
