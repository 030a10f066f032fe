package parse

import (
	"io"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// PerfQueryReport is what perfquery prints, with -x (64-bit counters), -E
// (details) or without.
type PerfQueryReport struct {
	Trouble
	Sections []CounterSection `json:"sections"`
	// Complete is false where a section of port counters ends before the
	// packet counters, which come last but for a few.
	Complete bool `json:"complete"`
}

// CounterSection is the counters of one port. Data counters are in units of
// four octets, as on the wire. Tail is the capability mask behind the heading.
type CounterSection struct {
	Kind   string         `json:"kind"`
	LID    fabric.LID     `json:"lid"`
	Port   fabric.PortNum `json:"port"`
	Tail   string         `json:"tail,omitempty"`
	Fields Fields         `json:"fields"`
}

// PerfQuery reads the output of perfquery.
func PerfQuery(r io.Reader) (*PerfQueryReport, error) {
	s := newLines(r)
	rep := &PerfQueryReport{Sections: []CounterSection{}, Complete: true}
	for _, sec := range sections(s, &rep.Trouble, func(string) {}) {
		c := CounterSection{Fields: sec.Fields}
		c.Kind, c.LID, c.Port = sec.About()
		if sec.Header != nil {
			if i := strings.IndexByte(*sec.Header, '('); i > 0 {
				c.Tail = (*sec.Header)[i:]
			}
		}
		_, last := c.Fields.Get("PortRcvPkts")
		if _, old := c.Fields.Get("RcvPkts"); old { // its name before infiniband-diags 1.6
			last = true
		}
		if (strings.HasSuffix(c.Kind, "counters") && strings.HasPrefix(c.Kind, "Port ") || c.Kind == "") && !last {
			rep.Complete = false
		}
		rep.Sections = append(rep.Sections, c)
	}
	rep.Incomplete = rep.Incomplete || !rep.Complete
	return rep, rep.ended(s, len(rep.Sections) > 0)
}

var _ = tool(PerfQuery, "perfquery", "perfquery -x", "perfquery -E")
