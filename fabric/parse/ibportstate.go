package parse

import (
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBPortStateReport is what ibportstate prints for query and, with the state
// before and after, for the operations that set something.
type IBPortStateReport struct {
	Trouble
	Sections   []Section `json:"sections"`
	HeaderLine string    `json:"header_line,omitempty"`
	// RealLane is the signalling rate of a lane now, in Gbit/s, which
	// LinkSpeedActive alone does not tell above QDR.
	RealLane fabric.GbitPerSec `json:"real_lane_speed_gbps,omitempty"`
	// WidthEnabled is LinkWidthEnabled of every PortInfo in turn.
	WidthEnabled []string `json:"width_enabled,omitempty"`
}

// IBPortState reads the output of ibportstate.
func IBPortState(r io.Reader) (*IBPortStateReport, error) {
	s := newLines(r)
	rep := &IBPortStateReport{}
	rep.Sections = sections(s, &rep.Trouble, func(line string) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "Port info:") {
			rep.HeaderLine = trimmed
		}
	})
	speed := fabric.SpeedUnknown
	for _, sec := range rep.Sections {
		if kind, _, _ := sec.About(); kind == "MLNX ext Port info" {
			// Vendor attribute ExtendedPortInfo: bit 0 of LinkSpeedActive is FDR10.
			if v, ok := sec.Fields.Uint("LinkSpeedActive"); ok && v&1 == 1 && speed == fabric.QDR {
				speed = fabric.FDR10
			}
			continue
		}
		if w, ok := sec.Fields.Get("LinkWidthEnabled"); ok {
			rep.WidthEnabled = append(rep.WidthEnabled, w)
		}
		if sp := sec.Fields.PortInfo().Speed; sp != fabric.SpeedUnknown && !(speed == fabric.FDR10 && sp == fabric.QDR) {
			speed = sp
		}
	}
	rep.RealLane = speed.Lane()
	return rep, rep.ended(s, len(rep.Sections) > 0)
}

var _ = tool(IBPortState, "ibportstate")
