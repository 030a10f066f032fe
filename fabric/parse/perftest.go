package parse

import (
	"io"
	"strings"
)

// PerftestReport is what a program of the perftest suite (ib_write_bw,
// ib_send_lat, …) prints on either side. Rows stand in the columns named by
// Columns, in the units that the heading names; Results gives them as values.
type PerftestReport struct {
	Trouble
	Verdict
	Errors []string `json:"errors,omitempty"`
	// Role is server where the waiting banner was printed, else empty: a
	// client prints nothing that a cut server text would not.
	Role string `json:"role,omitempty"`
	// Test is the title, for example "RDMA_Write Bidirectional BW Test".
	Test string `json:"test,omitempty"`
	PerftestSetup
	// PeakMeasured is false when perftest said that it does not measure peaks,
	// whose column then holds 0.
	PeakMeasured    *bool     `json:"peak_measured,omitempty"`
	BWUnit          string    `json:"bw_unit,omitempty"`  // MB/sec and MiB/sec are 2^20 octets, Gb/sec 10^9 bits
	LatUnit         string    `json:"lat_unit,omitempty"` // usec
	LocalAddresses  int       `json:"local_address_count"`
	RemoteAddresses int       `json:"remote_address_count"`
	Columns         []string  `json:"row_columns,omitempty"`
	Rows            []PerfRow `json:"-"`
	// CPUFrequencyWarnings counts the complaints about a changing CPU clock,
	// which makes latencies doubtful.
	CPUFrequencyWarnings int `json:"cpu_freq_warning_count"`
	PerftestFailure
	waiting  bool
	heading  bool // the heading of the table was seen
	ruled    bool // a rule followed the last row
	cutRow   bool // the last row has too few numbers
	lastSide string
}

// Perftest reads the output of one perftest program on one side.
func Perftest(r io.Reader) (*PerftestReport, error) {
	s := newLines(r)
	rep := &PerftestReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.Incomplete = s.open && len(rep.Rows) > 0 && !rep.ruled // the last number may lack digits
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(Perftest, "perftest", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw",
	"ib_write_lat", "ib_read_lat", "ib_send_lat", "ib_atomic_lat", "raw_ethernet_bw", "raw_ethernet_lat")

func (rep *PerftestReport) line(text string) bool {
	if len(text) > 40 && strings.Trim(text, "-") == "" {
		rep.ruled = len(rep.Rows) > 0
		return rep.ruled || rep.Test != ""
	}
	switch {
	case strings.Contains(text, "Waiting for client to connect"):
		rep.Role, rep.waiting = "server", true
	case strings.HasPrefix(text, "Conflicting CPU frequency values"):
		rep.CPUFrequencyWarnings++
	case strings.Contains(text, "BW peak won't be measured"):
		no := false
		rep.PeakMeasured = &no
		rep.warn(text)
	case strings.HasPrefix(strings.ToUpper(text), "WARNING"):
		rep.warn(text)
	case strings.HasPrefix(text, "#bytes"), strings.HasPrefix(text, "#flows"):
		rep.columns(text)
	case rep.row(text):
	case strings.HasSuffix(text, " Test") && rep.Test == "" && len(text) < 100 && !strings.Contains(text, ":"):
		rep.Test = text
	case strings.HasPrefix(text, "local address:"), strings.HasPrefix(text, "remote address:"):
		rep.address(text)
	case strings.HasPrefix(text, "GID:") && rep.lastSide != "":
		rep.gid(strings.TrimSpace(strings.TrimPrefix(text, "GID:")))
	case rep.failure(text):
	default:
		return rep.setup(text)
	}
	return true
}

func (rep *PerftestReport) warn(text string) {
	rep.Warnings++
	rep.keep(text)
}

// judge: rows without a complaint prove a success. A server prints a row per
// size only when it measures too, so the number of rows proves nothing.
func (rep *PerftestReport) judge() {
	rep.close()
	switch {
	case rep.class() != "":
		rep.Error = rep.words()
		rep.is(Failed, rep.class())
	case rep.Error != "":
		rep.is(Failed, "not_run") // the shell's own complaint
	case len(rep.Rows) > 0 && !rep.cutRow:
		rep.is(Succeeded, "")
	case rep.waiting && rep.Test == "":
		rep.is(Truncated, "waiting_for_client")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Incomplete || rep.Outcome == Truncated
	if rep.Rows == nil {
		rep.Rows = []PerfRow{}
	}
}
