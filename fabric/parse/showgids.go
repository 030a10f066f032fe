package parse

import (
	"io"
	"strings"
)

// ShowGIDsReport is what show_gids prints.
type ShowGIDsReport struct {
	Trouble
	GIDs []GIDRow `json:"gids"`
	Rows int      `json:"rows"`
	// Found is the script's own closing count, nil if the text has none.
	Found *int `json:"n_gids_found,omitempty"`
}

// GIDRow is one GID. IPv4 is nil unless the GID maps an IPv4 address; Version
// is v1 or v2 for RoCE; Netdev may be empty.
type GIDRow struct {
	Device  string  `json:"dev"`
	Port    int     `json:"port"`
	Index   int     `json:"index"`
	GID     string  `json:"gid"`
	IPv4    *string `json:"ipv4"`
	Version string  `json:"ver"`
	Netdev  string  `json:"netdev"`
}

// ShowGIDs reads the output of show_gids. The index of "the" RoCE v2 GID
// differs between hosts, so it must be looked up, never assumed.
func ShowGIDs(r io.Reader) (*ShowGIDsReport, error) {
	s := newLines(r)
	rep := &ShowGIDsReport{GIDs: []GIDRow{}}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		trimmed := strings.TrimSpace(line)
		if count, ok := after(trimmed, "n_gids_found="); ok {
			if n, ok := largeNumber(count); ok {
				rep.Found, known = &n, true
			}
			continue
		}
		if row, ok := gidRow(strings.Fields(trimmed)); ok {
			rep.GIDs = append(rep.GIDs, row)
			known = true
			continue
		}
		if strings.HasPrefix(trimmed, "DEV") {
			known = true
			continue
		}
		rep.complained(trimmed)
	}
	rep.Rows = len(rep.GIDs)
	if rep.Found == nil || *rep.Found != rep.Rows {
		rep.Incomplete = true
	}
	return rep, rep.ended(s, known)
}

var _ = tool(ShowGIDs, "show_gids")

func gidRow(w []string) (GIDRow, bool) {
	var row GIDRow
	if len(w) < 4 || !isDeviceName(w[0]) || strings.Count(w[3], ":") < 2 {
		return row, false
	}
	port, ok1 := smallNumber(w[1])
	index, ok2 := smallNumber(w[2])
	if !ok1 || !ok2 {
		return row, false
	}
	row = GIDRow{Device: w[0], Port: port, Index: index, GID: w[3]}
	rest := w[4:]
	if len(rest) > 0 && strings.Count(rest[0], ".") == 3 {
		row.IPv4, rest = &rest[0], rest[1:]
	}
	if len(rest) > 0 && (rest[0] == "v1" || rest[0] == "v2" || rest[0] == "v1.5") {
		row.Version, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		row.Netdev = rest[0]
	}
	return row, true
}
