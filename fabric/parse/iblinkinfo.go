package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBLinkInfoReport is what iblinkinfo prints, also with -l, whose lines begin
// with the node's GUID and name instead of standing under a heading.
type IBLinkInfoReport struct {
	Trouble
	CAs       int            `json:"cas"`
	Switches  int            `json:"switches"`
	Routers   int            `json:"routers"`
	PortLines int            `json:"port_lines"`
	Up        int            `json:"up"`
	Down      int            `json:"down"`
	DownState map[string]int `json:"down_state"`
	// WidthSpeed counts the ports that are up by width and lane rate.
	WidthSpeed map[string]int `json:"width_speed"`
	UpLinks    []LinkRow      `json:"up_links"`
	DownPorts  []LinkRow      `json:"down_ports"`
}

// LinkRow is one port line. GUID is that of the port where the tool prints
// one (adapters and -l); NodeGUID and Node come from the heading above.
// Message is the tool's hint in the last brackets ("Could be 4X").
type LinkRow struct {
	Node       string         `json:"node,omitempty"`
	NodeGUID   fabric.GUID    `json:"node_guid,omitzero"`
	LID        fabric.LID     `json:"lid"`
	Port       fabric.PortNum `json:"port"`
	GUID       fabric.GUID    `json:"guid,omitzero"`
	Width      string         `json:"width,omitempty"`
	Speed      string         `json:"speed,omitempty"`
	LaneGbps   float64        `json:"speed_gbps_per_lane,omitempty"`
	State      string         `json:"state"`
	PhysState  string         `json:"phys_state"`
	RemoteGUID fabric.GUID    `json:"remote_guid,omitzero"`
	RemoteLID  fabric.LID     `json:"remote_lid,omitempty"`
	RemotePort fabric.PortNum `json:"remote_port,omitempty"`
	Remote     string         `json:"remote,omitempty"`
	Message    string         `json:"message,omitempty"`
}

// Rate returns width and speed as the fabric's words; zero where unknown.
func (l LinkRow) Rate() (fabric.Width, fabric.Speed) {
	w, _ := fabric.ParseWidth(l.Width)
	s, _ := fabric.ParseSpeed(l.Speed)
	return w, s
}

// IBLinkInfo reads the output of iblinkinfo.
func IBLinkInfo(r io.Reader) (*IBLinkInfoReport, error) {
	s := newLines(r)
	rep := &IBLinkInfoReport{DownState: map[string]int{}, WidthSpeed: map[string]int{}, UpLinks: []LinkRow{}, DownPorts: []LinkRow{}}
	var under LinkRow
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.heading(line, &under) {
			known = true
			continue
		}
		if strings.Contains(line, "==(") {
			known = true
			row, ok := linkRow(line)
			if !ok {
				rep.Incomplete = true
				continue
			}
			if row.Node == "" {
				row.Node, row.NodeGUID = under.Node, under.NodeGUID
			}
			rep.add(row)
			continue
		}
		rep.complained(line)
	}
	return rep, rep.ended(s, known)
}

var _ = tool(IBLinkInfo, "iblinkinfo", "iblinkinfo -l")

func (rep *IBLinkInfoReport) heading(line string, under *LinkRow) bool {
	line = strings.TrimSpace(line)
	kind, name, ok := strings.Cut(line, ": ")
	if old, isOld := after(line, "Switch 0x"); isOld { // before infiniband-diags 1.6
		kind, name, ok = "Switch", "0x"+old, true
	}
	if !ok || !strings.HasSuffix(name, ":") {
		return false
	}
	name = strings.TrimSuffix(name, ":")
	switch kind {
	case "CA":
		rep.CAs++
	case "Switch":
		rep.Switches++
	case "Router":
		rep.Routers++
	default:
		return false
	}
	*under = LinkRow{Node: name}
	if id, rest, ok := strings.Cut(name, " "); ok && strings.HasPrefix(id, "0x") {
		if g, err := fabric.ParseGUID(id); err == nil {
			under.NodeGUID, under.Node = g, rest
		}
	}
	return true
}

func (rep *IBLinkInfoReport) add(row LinkRow) {
	rep.PortLines++
	if st, _ := fabric.ParsePortState(row.State); st == fabric.PortDown {
		rep.Down++
		rep.DownState[row.State+"/"+row.PhysState]++
		rep.DownPorts = append(rep.DownPorts, row)
		return
	}
	rep.Up++
	lane, _, _ := strings.Cut(row.Speed, " ")
	rep.WidthSpeed[row.Width+" "+lane]++
	rep.UpLinks = append(rep.UpLinks, row)
}

// linkRow reads
//
//	0xec0d9a03002577be      4    1[  ] ==( 4X  25.78125 Gbps Active/  LinkUp)==>  2   17[  ] "name" ( Could be … )
//
// The GUID is missing on a switch's lines; with -l the line begins with a
// GUID and a quoted name, and the remote end begins with a GUID.
func linkRow(line string) (LinkRow, bool) {
	var row LinkRow
	left, rest, _ := strings.Cut(line, "==(")
	link, right, ok := strings.Cut(rest, ")==>")
	if !ok {
		return row, false
	}
	if name, tail, ok := quoted(left); ok {
		row.Node = strings.TrimSpace(name)
		left = left[:strings.IndexByte(left, '"')] + tail
	}
	words := strings.Fields(strings.ReplaceAll(left, "[", " ["))
	if len(words) > 0 && strings.HasPrefix(words[0], "0x") {
		g, err := fabric.ParseGUID(words[0])
		if err != nil {
			return row, false
		}
		row.GUID, words = g, words[1:]
	}
	if row.LID, row.Port, ok = lidPort(words); !ok {
		return row, false
	}
	if !row.link(link) {
		return row, false
	}
	row.remote(right)
	return row, true
}

// lidPort reads "4", "1", "[", "]".
func lidPort(words []string) (fabric.LID, fabric.PortNum, bool) {
	if len(words) < 2 {
		return 0, 0, false
	}
	lid, err1 := fabric.ParseLID(words[0])
	num, err2 := fabric.ParseLID(words[1])
	if err1 != nil || err2 != nil || num > 254 {
		return 0, 0, false
	}
	return lid, fabric.PortNum(num), true
}

// link reads "4X 25.78125 Gbps Active/  LinkUp" and "Down/ Polling"; the
// physical state begins behind the last slash, the state is the word before.
func (l *LinkRow) link(text string) bool {
	slash := strings.LastIndexByte(text, '/')
	if slash < 0 {
		return false
	}
	l.PhysState, _, _ = strings.Cut(strings.TrimSpace(text[slash+1:]), " ") // --switches-settings adds more
	words := strings.Fields(text[:slash])
	if len(words) == 0 {
		return false
	}
	last := len(words) - 1
	l.State = words[last]
	if words = words[:last]; len(words) == 0 {
		return true
	}
	if _, err := fabric.ParseWidth(words[0]); err == nil {
		l.Width, words = words[0], words[1:]
	}
	l.Speed = strings.Join(words, " ")
	if len(words) > 0 {
		if f, err := strconv.ParseFloat(words[0], 64); err == nil && f > 0 && f < 1e6 {
			l.LaneGbps = f
		}
	}
	return true
}

func (l *LinkRow) remote(text string) {
	name, tail, ok := quoted(text)
	if !ok {
		return
	}
	l.Remote = name
	l.Message = strings.TrimSpace(strings.Trim(strings.TrimSpace(tail), "()"))
	head := strings.ReplaceAll(text[:strings.IndexByte(text, '"')], "[", " [")
	words := strings.Fields(head)
	if len(words) > 0 && strings.HasPrefix(words[0], "0x") {
		if g, err := fabric.ParseGUID(words[0]); err == nil {
			l.RemoteGUID = g
		}
		words = words[1:]
	}
	l.RemoteLID, l.RemotePort, _ = lidPort(words)
}
