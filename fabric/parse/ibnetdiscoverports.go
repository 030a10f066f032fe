package parse

import (
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBNetDiscoverPorts is what `ibnetdiscover -p` prints: a line per port,
// also for ports without a cable.
type IBNetDiscoverPorts struct {
	Trouble
	Rows      int       `json:"rows"`
	Connected int       `json:"connected"`
	Ports     []PortRow `json:"ports"`
}

// PortRow is one line. Width and Speed are the tool's words, "???" when it
// does not know; the Peer fields are absent where Connected is false.
type PortRow struct {
	Type      string         `json:"type"`
	LID       fabric.LID     `json:"lid"`
	Port      fabric.PortNum `json:"port"`
	GUID      fabric.GUID    `json:"guid"`
	Width     string         `json:"width"`
	Speed     string         `json:"speed"`
	Connected bool           `json:"connected"`
	Name      string         `json:"name"`
	PeerType  string         `json:"peer_type,omitempty"`
	PeerLID   fabric.LID     `json:"peer_lid,omitempty"`
	PeerPort  fabric.PortNum `json:"peer_port,omitempty"`
	PeerGUID  fabric.GUID    `json:"peer_guid,omitzero"`
	PeerName  string         `json:"peer_name,omitempty"`
}

// IBNetDiscoverPortList reads the output of `ibnetdiscover -p`.
func IBNetDiscoverPortList(r io.Reader) (*IBNetDiscoverPorts, error) {
	s := newLines(r)
	rep := &IBNetDiscoverPorts{Ports: []PortRow{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		row, ok := portRow(line)
		if !ok {
			if !rep.complained(line) && portRowStart(line) {
				rep.Incomplete = true
			}
			continue
		}
		rep.Rows++
		if row.Connected {
			rep.Connected++
		}
		rep.Ports = append(rep.Ports, row)
	}
	return rep, rep.ended(s, rep.Rows > 0)
}

var _ = tool(IBNetDiscoverPortList, "ibnetdiscover -p", "ibnetdiscover --ports")

func portRowStart(line string) bool {
	f := strings.Fields(line)
	return len(f) > 0 && (f[0] == "CA" || f[0] == "SW" || f[0] == "RT" || f[0] == "??")
}

// portEnd reads "CA   134  1 0x7cfe900300b01cde" from the front of words.
func portEnd(words []string) (kind string, lid fabric.LID, port fabric.PortNum, guid fabric.GUID, ok bool) {
	if len(words) < 4 {
		return "", 0, 0, 0, false
	}
	lid, err1 := fabric.ParseLID(words[1])
	num, err2 := fabric.ParseLID(words[2])
	guid, err3 := fabric.ParseGUID(words[3])
	if err1 != nil || err2 != nil || err3 != nil || num > 255 {
		return "", 0, 0, 0, false
	}
	return words[0], lid, fabric.PortNum(num), guid, true
}

func portRow(line string) (PortRow, bool) {
	var row PortRow
	words := strings.Fields(line)
	if !portRowStart(line) || len(words) < 7 {
		return row, false
	}
	var ok bool
	if row.Type, row.LID, row.Port, row.GUID, ok = portEnd(words); !ok {
		return row, false
	}
	row.Width, row.Speed = words[4], words[5]
	if words[6] != "-" || len(words) < 11 {
		// The name begins behind the sixth word; quotes are optional.
		rest := line
		for range 6 {
			rest = strings.TrimLeft(rest, " \t")
			_, rest, _ = strings.Cut(rest, " ")
		}
		row.Name = strings.TrimSpace(rest)
		if n := len(row.Name); n >= 2 && row.Name[0] == '\'' && row.Name[n-1] == '\'' {
			row.Name = row.Name[1 : n-1]
		}
		return row, row.Name != ""
	}
	if row.PeerType, row.PeerLID, row.PeerPort, row.PeerGUID, ok = portEnd(words[7:]); !ok {
		return row, false
	}
	row.Connected = true
	open, shut := strings.Index(line, "( "), strings.LastIndex(line, " )")
	if open < 0 || shut < open+2 {
		return row, false
	}
	names := line[open+2 : shut]
	row.Name, row.PeerName, ok = strings.Cut(names, "' - '")
	if !ok {
		row.Name, row.PeerName, ok = strings.Cut(names, " - ")
	}
	row.Name, row.PeerName = strings.TrimPrefix(row.Name, "'"), strings.TrimSuffix(row.PeerName, "'")
	return row, ok
}
