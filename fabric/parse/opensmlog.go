package parse

import (
	"io"
	"strconv"
	"strings"
)

// OpenSMLogReport is an extract of opensm.log.
type OpenSMLogReport struct {
	Trouble
	LogLines        int            `json:"log_lines"`
	ErrCodes        map[string]int `json:"err_codes"`
	ErrorLevelLines int            `json:"error_level_lines"`
	// FirstErrors holds the first line of every error code, in order.
	FirstErrors   []OpenSMError `json:"first_errors,omitempty"`
	StateChanges  []string      `json:"state_changes,omitempty"`
	SubnetUp      bool          `json:"subnet_up,omitempty"`
	RoutingEngine string        `json:"routing_engine,omitempty"`
	Exiting       bool          `json:"exiting,omitempty"`
	PossibleCause string        `json:"possible_cause,omitempty"`
	First         string        `json:"first,omitempty"`
	Last          string        `json:"last,omitempty"`
}

// OpenSMError is one line with "ERR code". At is the log's time, which has no
// year and is local to the host.
type OpenSMError struct {
	At       string `json:"at"`
	Code     string `json:"code"`
	Function string `json:"function"`
	Text     string `json:"text"`
}

// mostErrCodes bounds what a log full of nonsense can make us keep.
const mostErrCodes = 500

// OpenSMLog reads an opensm.log or what opensm prints with -f -.
func OpenSMLog(r io.Reader) (*OpenSMLogReport, error) {
	s := newLines(r)
	rep := &OpenSMLogReport{ErrCodes: map[string]int{}}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.logLine(line) || rep.plainLine(strings.TrimSpace(line)) {
			known = true
		}
	}
	return rep, rep.ended(s, known)
}

var _ = tool(OpenSMLog, "opensm log", "opensm.log")

// logLine reads
//
//	Aug 24 04:32:59 236829 [95BD9740] 0x01 -> osm_sm_bind: ERR 2E10: SM MAD Controller bind failed
func (rep *OpenSMLogReport) logLine(line string) bool {
	head, text, ok := strings.Cut(line, " -> ")
	w := strings.Fields(head)
	if !ok || len(w) < 6 || !strings.HasPrefix(w[len(w)-1], "0x") || !strings.HasPrefix(w[len(w)-2], "[") {
		return false
	}
	level, err := strconv.ParseUint(w[len(w)-1], 0, 8)
	if err != nil {
		return false
	}
	at := strings.Join(w[:3], " ")
	rep.LogLines++
	if rep.First == "" {
		rep.First = at
	}
	rep.Last = at
	if level&0x01 != 0 { // OSM_LOG_ERROR, osm_log.h
		rep.ErrorLevelLines++
	}
	if function, rest, ok := strings.Cut(text, ": ERR "); ok {
		code, rest, _ := strings.Cut(rest, ":")
		rep.countError(OpenSMError{at, code, function, strings.TrimSpace(rest)})
	}
	rep.event(text)
	return true
}

func (rep *OpenSMLogReport) countError(e OpenSMError) {
	if len(e.Code) != 4 || !isHex(e.Code) {
		return
	}
	if rep.ErrCodes[e.Code] == 0 {
		if len(rep.ErrCodes) >= mostErrCodes {
			return
		}
		rep.FirstErrors = append(rep.FirstErrors, e)
	}
	rep.ErrCodes[e.Code]++
}

func (rep *OpenSMLogReport) event(text string) {
	if state, ok := between(text, "Entering ", " state"); ok && !strings.Contains(state, " ") && len(rep.StateChanges) < mostMessages {
		rep.StateChanges = append(rep.StateChanges, state)
	}
	if strings.Contains(text, "SUBNET UP") {
		rep.SubnetUp = true
	}
	if before, _, ok := strings.Cut(text, " tables configured on all switches"); ok {
		rep.RoutingEngine = before[strings.LastIndexByte(before, ' ')+1:]
	}
	if strings.HasPrefix(text, "Exiting SM") {
		rep.Exiting = true
	}
}

// plainLine takes what opensm prints beside its log.
func (rep *OpenSMLogReport) plainLine(line string) bool {
	switch {
	case strings.HasPrefix(line, "Exiting SM"):
		rep.Exiting = true
	case strings.HasPrefix(line, "Perhaps "):
		rep.PossibleCause = strings.TrimPrefix(line, "Perhaps ")
	case strings.HasPrefix(line, "Error from osm_opensm_"), strings.HasPrefix(line, "No local ports detected"):
		rep.Error = line
	case strings.HasPrefix(line, "SUBNET UP"), strings.HasPrefix(line, "OpenSM "), strings.HasPrefix(line, "Entering "):
		rep.event(line)
	default:
		return false
	}
	return true
}
