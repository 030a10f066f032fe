package parse

import (
	"fmt"
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// SMPQueryReport is what the operations of smpquery print. PKeys and GUIDs
// are the non-zero entries of the tables that pkeys and guids list; Capacity
// is the size of that table.
type SMPQueryReport struct {
	Trouble
	Sections        []Section     `json:"sections"`
	NodeDescription string        `json:"node_description,omitempty"`
	PKeys           []string      `json:"pkeys,omitempty"`
	GUIDs           []fabric.GUID `json:"guids,omitempty"`
	Capacity        int           `json:"capacity,omitempty"`
}

// SMPQuery reads the output of smpquery nodeinfo, portinfo, nodedesc,
// switchinfo, pkeys and guids.
func SMPQuery(r io.Reader) (*SMPQueryReport, error) {
	s := newLines(r)
	rep := &SMPQueryReport{}
	tables := 0
	rep.Sections = sections(s, &rep.Trouble, func(line string) {
		if rep.tableRow(line) {
			tables++
		}
	})
	for i := range rep.Sections {
		if d, ok := rep.Sections[i].Fields.Get("Node Description"); ok {
			rep.NodeDescription = d
		}
	}
	if tables > 0 && rep.Capacity == 0 {
		rep.Incomplete = true
	}
	return rep, rep.ended(s, len(rep.Sections) > 0 || tables > 0)
}

var _ = tool(SMPQuery, "smpquery", "smpquery nodeinfo", "smpquery portinfo", "smpquery nodedesc",
	"smpquery switchinfo", "smpquery pkeys", "smpquery guids", "smpquery guidinfo")

// tableRow reads "   8: 0xffff 0x0000 …" and "64 pkeys capacity for this
// port". Width tells P_Keys from GUIDs.
func (rep *SMPQueryReport) tableRow(line string) bool {
	if number, rest, ok := strings.Cut(line, " "); ok && strings.HasSuffix(rest, "capacity for this port") {
		rep.Capacity, ok = smallNumber(number)
		return ok
	}
	index, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
	if _, number := smallNumber(index); !ok || !number {
		return false
	}
	for _, w := range strings.Fields(rest) {
		v, err := fabric.ParseGUID(w)
		switch {
		case err != nil || !strings.HasPrefix(w, "0x"):
			return false
		case v.IsZero():
		case len(w) == len("0xffff"):
			rep.PKeys = append(rep.PKeys, fmt.Sprintf("0x%04x", uint64(v)))
		default:
			rep.GUIDs = append(rep.GUIDs, v)
		}
	}
	return true
}

// PortInfo is the state of a port as a PortInfo attribute gives it, from
// smpquery portinfo, ibportstate or saquery's records.
type PortInfo struct {
	LID, SMLID fabric.LID
	LMC        uint8
	State      fabric.PortState
	Phys       fabric.PhysState
	Width      fabric.Width
	// Speed is LinkSpeedExtActive where the port has one; else
	// LinkSpeedActive, which stays at "10.0 Gbps" on FDR and faster links.
	Speed fabric.Speed
}

// PortInfo reads the fields of one attribute. What is absent stays zero.
func (f Fields) PortInfo() PortInfo {
	var p PortInfo
	lid := func(name string) fabric.LID {
		v, _ := f.Uint(name)
		return fabric.LID(v)
	}
	p.LID, p.SMLID = lid("Lid"), lid("SMLid")
	if v, ok := f.Uint("LMC"); ok && v < 8 {
		p.LMC = uint8(v)
	}
	text := func(name string) string { v, _ := f.Get(name); return v }
	p.State, _ = fabric.ParsePortState(text("LinkState"))
	p.Phys, _ = fabric.ParsePhysState(text("PhysLinkState"))
	p.Width, _ = fabric.ParseWidth(text("LinkWidthActive"))
	for _, name := range []string{"LinkSpeedExtActive2", "LinkSpeedExtActive", "LinkSpeedActive"} {
		if sp, err := fabric.ParseSpeed(text(name)); err == nil {
			p.Speed = sp
			break
		}
	}
	return p
}
