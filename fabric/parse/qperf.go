package parse

import (
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// QPerfReport is what qperf prints on the client.
type QPerfReport struct {
	Trouble
	Verdict
	// Results maps a test (rc_bw, tcp_lat) to its metrics.
	Results map[string]QPerfResult `json:"results,omitempty"`
	test    string
}

// QPerfResult is one test's values in the tool's units.
type QPerfResult map[string]QPerfValue

// QPerfValue is one metric, for example 5.09 GB/sec. qperf counts in powers
// of ten (1 GB is 10^9 octets) unless its option -ub asks for bits.
type QPerfValue struct {
	Value float64
	Unit  string
}

// Bandwidth returns a bandwidth in Gb/s; false for another unit.
func (v QPerfValue) Bandwidth() (fabric.GbitPerSec, bool) {
	scale := map[string]float64{"GB/sec": 8, "MB/sec": 8e-3, "KB/sec": 8e-6, "bytes/sec": 8e-9, "Gb/sec": 1, "Mb/sec": 1e-3, "Kb/sec": 1e-6}
	s, ok := scale[v.Unit]
	return fabric.GbitPerSec(v.Value * s), ok
}

// MarshalJSON writes each metric as a number and its unit beside it: unit for
// the only or first one, NAME_unit for the others.
func (r QPerfResult) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, v := range r {
		out[name] = v.Value
		if len(r) == 1 || name == "bw" || name == "latency" {
			out["unit"] = v.Unit
		} else {
			out[name+"_unit"] = v.Unit
		}
	}
	return json.Marshal(out)
}

// QPerf reads the output of qperf.
func QPerf(r io.Reader) (*QPerfReport, error) {
	s := newLines(r)
	rep := &QPerfReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	values := 0
	for _, m := range rep.Results {
		values += len(m)
	}
	switch {
	case rep.Error != "" && strings.Contains(rep.Error, "connect"):
		rep.is(Failed, "connect_failed")
	case rep.Error != "":
		rep.is(Failed, "error")
	case values > 0:
		rep.is(Succeeded, "")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
	return rep, rep.ended(s, known)
}

var _ = tool(QPerf, "qperf")

var (
	qperfTest  = regexp.MustCompile(`^((?:rc|uc|ud|xrc|rds|sctp|sdp|tcp|udp|ver)_[a-z0-9_]+|conf|quit):$`)
	qperfValue = regexp.MustCompile(`^(\w{1,40})\s+=\s+([\d.,]+)\s*(\S.*)?$`)
)

func (rep *QPerfReport) line(text string) bool {
	if m := qperfTest.FindStringSubmatch(text); m != nil {
		rep.test = m[1]
		if rep.Results == nil {
			rep.Results = map[string]QPerfResult{}
		}
		if rep.test != "conf" { // which is text
			rep.Results[rep.test] = QPerfResult{}
		}
		return true
	}
	if m := qperfValue.FindStringSubmatch(text); m != nil && rep.test != "" && rep.test != "conf" {
		v, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
		if err == nil && len(rep.Results[rep.test]) < mostLabels {
			rep.Results[rep.test][m[1]] = QPerfValue{v, m[3]}
		}
		return err == nil
	}
	if rep.test != "" && strings.Contains(text, " = ") {
		return true // a configuration's text
	}
	for _, p := range []string{"failed", "unable to", "cannot", "could not", "error"} {
		if strings.Contains(strings.ToLower(text), p) && len(text) < 200 {
			rep.Error = text
			rep.keep(text)
			return true
		}
	}
	return false
}
