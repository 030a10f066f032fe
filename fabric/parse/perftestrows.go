package parse

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
)

// PerfRow is one line of numbers in a perftest table.
type PerfRow []float64

// MarshalJSON writes null where perftest divided by zero (inf, nan).
func (r PerfRow) MarshalJSON() ([]byte, error) {
	values := make([]*float64, len(r))
	for i := range r {
		if !math.IsInf(r[i], 0) && !math.IsNaN(r[i]) {
			values[i] = &r[i]
		}
	}
	return json.Marshal(values)
}

// PerfResult is a row as values. A bandwidth test has the first group, a
// latency test the second; what the table does not have is 0. Latencies are
// half the round trip for the tests that measure a round trip.
type PerfResult struct {
	Octets, Iterations  uint64
	BWPeak, BWAverage   fabric.GbitPerSec
	MessagesPerSecond   float64
	Min, Max, Typical   time.Duration
	Average, StdDev     time.Duration
	P99, P999           time.Duration
	TransactionsPerSec  float64
	CPUUtilisationShare float64 // 0 to 1
}

// columns reads a table's heading. A column is one word with its unit, or two
// ("BW peak[Gb/sec]", "99% percentile[usec]", "tps average").
func (rep *PerftestReport) columns(text string) {
	rep.heading, rep.Columns = true, nil
	words := strings.Fields(strings.Replace(text, "[flow per sec]", "[1/sec]", 1))
	for i := 0; i < len(words) && len(rep.Columns) < 20; i++ {
		w := words[i]
		if i+1 < len(words) && (w == "BW" || w == "MsgRate" || w == "tps" || strings.HasSuffix(w, "9%") && !strings.Contains(w, "[")) {
			i++
			w += " " + words[i]
		}
		name, unit, _ := strings.Cut(w, "[")
		unit = strings.TrimSuffix(unit, "]")
		switch {
		case strings.HasPrefix(name, "BW"):
			rep.BWUnit = unit
		case strings.HasPrefix(name, "t_"), strings.HasSuffix(name, "_time"):
			rep.LatUnit = unit
		}
		rep.Columns = append(rep.Columns, perfColumn(name))
	}
}

func perfColumn(name string) string {
	switch name {
	case "MsgRate":
		return "msg_rate_mpps"
	case "99% percentile":
		return "p99"
	case "99.9% percentile":
		return "p99_9"
	}
	return snake(name)
}

// row reads a line of numbers under the heading. A line with fewer numbers
// than columns was cut.
func (rep *PerftestReport) row(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 20 || !rep.heading && !rep.guessed(words) {
		return false
	}
	row := make(PerfRow, len(words))
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || v < 0 {
			return false
		}
		row[i] = v
	}
	rep.cutRow, rep.ruled = len(row) < len(rep.Columns), false
	if rep.cutRow {
		return true
	}
	rep.Rows = append(rep.Rows, row[:len(rep.Columns)])
	return true
}

// guessed takes a row whose heading tail or grep has taken: five numbers are
// a bandwidth's, in a unit that is not known, nine a latency's.
func (rep *PerftestReport) guessed(words []string) bool {
	if !isNatural(words[0]) || !isNatural(words[1]) {
		return false
	}
	switch len(words) {
	case 5:
		rep.Columns = []string{"bytes", "iterations", "bw_peak", "bw_average", "msg_rate_mpps"}
	case 9:
		rep.Columns = []string{"bytes", "iterations", "t_min", "t_max", "t_typical", "t_avg", "t_stdev", "p99", "p99_9"}
	default:
		return false
	}
	return true
}

func isNatural(word string) bool {
	_, rest, ok := digits([]byte(word), 10)
	return ok && len(rest) == 0
}

// Results returns the rows as values.
func (rep *PerftestReport) Results() []PerfResult {
	out := make([]PerfResult, len(rep.Rows))
	for i, row := range rep.Rows {
		at := func(column string) float64 {
			if c := slices.Index(rep.Columns, column); c >= 0 && c < len(row) && !math.IsInf(row[c], 0) && !math.IsNaN(row[c]) {
				return row[c]
			}
			return 0
		}
		micros := func(column string) time.Duration {
			return time.Duration(min(at(column), 1e12) * float64(time.Microsecond))
		}
		out[i] = PerfResult{
			Octets: uint64(min(at("bytes"), 1<<62)), Iterations: uint64(min(at("iterations"), 1<<62)),
			BWPeak: rep.gbit(at("bw_peak")), BWAverage: rep.gbit(at("bw_average")), MessagesPerSecond: at("msg_rate_mpps") * 1e6,
			Min: micros("t_min"), Max: micros("t_max"), Typical: micros("t_typical"), Average: micros("t_avg"), StdDev: micros("t_stdev"),
			P99: micros("p99"), P999: micros("p99_9"), TransactionsPerSec: at("tps_average"), CPUUtilisationShare: at("cpu_util") / 100,
		}
	}
	return out
}

// gbit converts a bandwidth, one without a unit to 0. Without --report_gbits perftest counts in 2^20
// octets, whether it writes MiB/sec or, as it did before, MB/sec
// (perftest_parameters.c, the note to --report_gbits).
func (rep *PerftestReport) gbit(v float64) fabric.GbitPerSec {
	switch rep.BWUnit {
	case "Gb/sec":
		return fabric.GbitPerSec(v)
	case "":
		return 0
	}
	return fabric.GbitPerSec(v * (1 << 20) * 8 / 1e9)
}
