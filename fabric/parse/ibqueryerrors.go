package parse

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// Count is a counter's value. It is a string in JSON, since 64-bit counters
// do not survive a JSON float.
type Count uint64

// MarshalText returns decimal digits.
func (c Count) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(c), 10), nil }

// IBQueryErrorsReport is what ibqueryerrors prints. Only Clean proves a
// fabric without errors: no complaint and exit status 0 also come from a run
// that could not look.
type IBQueryErrorsReport struct {
	Trouble
	Nodes       int            `json:"nodes"`
	PortRows    int            `json:"port_rows"`
	AllRows     int            `json:"all_rows"`
	Detail      []NodeErrors   `json:"detail"`
	Summary     *ErrorsSummary `json:"summary,omitempty"`
	Clean       bool           `json:"clean"`
	Saturated   []Saturated    `json:"saturated,omitempty"`
	Timeouts    []SMPTimeout   `json:"smp_timeouts,omitempty"`
	QueryFailed []FailedQuery  `json:"query_failed,omitempty"`
}

// NodeErrors is one "Errors for" block; Node and GUID are nil where the text
// does not name them.
type NodeErrors struct {
	Node *string     `json:"node"`
	GUID *string     `json:"guid"`
	Rows []ErrorsRow `json:"rows"`
}

// ErrorsRow is the counters of one port above their thresholds. Port is a
// number or "ALL", the sum over a switch.
type ErrorsRow struct {
	GUID     string           `json:"guid"`
	Port     string           `json:"port"`
	Counters map[string]Count `json:"counters"`
}

// ErrorsSummary is the tool's own closing count.
type ErrorsSummary struct {
	NodesChecked int `json:"nodes_checked"`
	BadNodes     int `json:"bad_nodes"`
	PortsChecked int `json:"ports_checked"`
	PortsBeyond  int `json:"ports_beyond_threshold"`
}

// Saturated is a counter that stands at its maximum: its true value is at
// least that, and its growth is unknown.
type Saturated struct {
	Counter string   `json:"counter"`
	At      Count    `json:"at"`
	Rows    int      `json:"rows"`
	Ports   []string `json:"ports"`
}

// SMPTimeout is a node that did not answer: the directed route to it.
type SMPTimeout struct {
	Path   string `json:"path"`
	Attr   string `json:"attr"`
	Status int    `json:"status"`
}

// FailedQuery is a counter query that a port did not answer.
type FailedQuery struct {
	Counter string `json:"counter"`
	Node    string `json:"node"`
	LID     int    `json:"lid"`
	Port    int    `json:"port"`
}

// counterMaximum is where a classic counter stops (IBTA specification volume
// 1, section 16.1.3.5, PortCounters: widths of 16, 8, 4 and 32 bits).
var counterMaximum = map[string]Count{
	"SymbolErrorCounter": 0xffff, "PortRcvErrors": 0xffff, "PortRcvRemotePhysicalErrors": 0xffff,
	"PortRcvSwitchRelayErrors": 0xffff, "PortXmitDiscards": 0xffff, "VL15Dropped": 0xffff, "QP1Dropped": 0xffff,
	"LinkErrorRecoveryCounter": 0xff, "LinkDownedCounter": 0xff,
	"PortXmitConstraintErrors": 0xff, "PortRcvConstraintErrors": 0xff,
	"LocalLinkIntegrityErrors": 0xf, "ExcessiveBufferOverrunErrors": 0xf,
	"PortXmitData": 0xffffffff, "PortRcvData": 0xffffffff, "PortXmitPkts": 0xffffffff,
	"PortRcvPkts": 0xffffffff, "PortXmitWait": 0xffffffff,
}

// IBQueryErrors reads the output of ibqueryerrors, standard output, standard
// error or both.
func IBQueryErrors(r io.Reader) (*IBQueryErrorsReport, error) {
	s := newLines(r)
	rep := &IBQueryErrorsReport{Detail: []NodeErrors{}}
	sums := 0
	for line, ok := s.text(); ok; line, ok = s.text() {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "Errors for "):
			rep.node(trimmed)
		case strings.HasPrefix(trimmed, "GUID 0x"):
			rep.row(trimmed)
		case strings.HasPrefix(trimmed, "##"):
			if rep.sum(strings.TrimSpace(strings.Trim(trimmed, "#"))) {
				sums++
			}
		default:
			rep.complaint(trimmed)
		}
	}
	rep.Nodes = len(rep.Detail)
	rep.saturated()
	sum := rep.Summary
	rep.Clean = sums == 2 && sum.NodesChecked > 0 && sum.PortsBeyond == 0 && sum.BadNodes == 0 &&
		rep.Error == "" && len(rep.Timeouts) == 0 && len(rep.QueryFailed) == 0 && !rep.Incomplete
	return rep, rep.ended(s, rep.Nodes > 0 || sums > 0)
}

var _ = tool(IBQueryErrors, "ibqueryerrors", "ibqueryerrors (stderr)")

func (rep *IBQueryErrorsReport) node(line string) {
	n := NodeErrors{Rows: []ErrorsRow{}}
	if name, _, ok := quoted(line); ok {
		n.Node = &name
	} else {
		rep.Incomplete = true
	}
	if id, _, ok := strings.Cut(strings.TrimPrefix(line, "Errors for "), " "); ok && strings.HasPrefix(id, "0x") {
		n.GUID = &id
	}
	rep.Detail = append(rep.Detail, n)
}

// row reads "GUID 0x2c90300ba92b0 port 5: [SymbolErrorCounter == 65535] …".
func (rep *IBQueryErrorsReport) row(line string) {
	head, rest, ok := strings.Cut(line, ":")
	w := strings.Fields(head)
	if !ok || len(w) < 4 || w[2] != "port" {
		rep.Incomplete = true
		return
	}
	row := ErrorsRow{GUID: w[1], Port: w[3], Counters: map[string]Count{}}
	for rest != "" {
		var inside string
		_, after, found := strings.Cut(rest, "[")
		if !found {
			break
		}
		inside, rest, found = strings.Cut(after, "]")
		name, value, isCounter := strings.Cut(inside, " == ")
		number, _, _ := strings.Cut(value, " ") // "12097916 (11.537MB)"
		v, err := strconv.ParseUint(number, 0, 64)
		if !found || !isCounter || err != nil {
			rep.Incomplete = rep.Incomplete || !found
			continue
		}
		row.Counters[name] = Count(v)
	}
	if row.Port == "ALL" {
		rep.AllRows++
	} else {
		rep.PortRows++
	}
	if len(rep.Detail) == 0 {
		rep.Detail = append(rep.Detail, NodeErrors{})
	}
	last := &rep.Detail[len(rep.Detail)-1]
	last.Rows = append(last.Rows, row)
}

// sum reads the two lines of the summary; thresholds and suppressed counters
// follow it and are not kept.
func (rep *IBQueryErrorsReport) sum(line string) bool {
	line = strings.TrimSpace(strings.TrimPrefix(line, "Summary:"))
	w := strings.Fields(line)
	if len(w) < 4 || w[2] != "checked," {
		return false
	}
	checked, ok1 := largeNumber(w[0])
	found, ok2 := largeNumber(w[3])
	if !ok1 || !ok2 {
		return false
	}
	if rep.Summary == nil {
		rep.Summary = &ErrorsSummary{}
	}
	switch w[1] {
	case "nodes":
		rep.Summary.NodesChecked, rep.Summary.BadNodes = checked, found
	case "ports":
		rep.Summary.PortsChecked, rep.Summary.PortsBeyond = checked, found
	default:
		return false
	}
	return true
}

func (rep *IBQueryErrorsReport) complaint(line string) {
	if !rep.complained(line) {
		return
	}
	if inside, ok := between(line, "umad (", ")"); ok && strings.Contains(line, "bad status") {
		route, attr, _ := strings.Cut(inside, " Attr ")
		status, _ := between(line, "bad status ", ";")
		code, _ := smallNumber(status)
		rep.Timeouts = append(rep.Timeouts, SMPTimeout{route[strings.LastIndexByte(route, ' ')+1:], attr, code})
		rep.Incomplete = true
	}
	if what, rest, ok := strings.Cut(line, " query failed on "); ok {
		q := FailedQuery{Counter: what[strings.LastIndexByte(what, ' ')+1:]}
		q.Node, rest, _ = strings.Cut(rest, ", Lid ")
		if w := strings.Fields(rest); len(w) >= 3 && w[1] == "port" {
			q.LID, _ = smallNumber(w[0])
			q.Port, _ = smallNumber(w[2])
		}
		rep.QueryFailed = append(rep.QueryFailed, q)
		rep.Incomplete = true
	}
}

// saturated lists the counters that stand at their maximum, without the sums
// over a switch.
func (rep *IBQueryErrorsReport) saturated() {
	byName := map[string]*Saturated{}
	for _, n := range rep.Detail {
		for _, row := range n.Rows {
			for name, v := range row.Counters {
				at, known := counterMaximum[name]
				if row.Port == "ALL" || !known || v != at {
					continue
				}
				if byName[name] == nil {
					byName[name] = &Saturated{Counter: name, At: at}
				}
				byName[name].Rows++
				byName[name].Ports = append(byName[name].Ports, row.GUID+"/"+row.Port)
			}
		}
	}
	for _, s := range byName {
		rep.Saturated = append(rep.Saturated, *s)
	}
	slices.SortFunc(rep.Saturated, func(a, b Saturated) int { return strings.Compare(a.Counter, b.Counter) })
}

// largeNumber reads a decimal count up to a billion.
func largeNumber(s string) (int, bool) {
	n, rest, ok := digits([]byte(s), 10)
	return int(n), ok && len(rest) == 0 && n <= 1_000_000_000
}
