package parse

import (
	"io"
	"regexp"
	"strings"
)

// RPingReport is what rping prints on the client, the server, or both one
// after the other. A good run ends in a disconnect event.
type RPingReport struct {
	Trouble
	Verdict
	ServerPings int `json:"server_ping_count"`
	ClientPings int `json:"client_ping_count"`
	// ServerEnd and ClientEnd are the lines with which each side ends.
	ServerEnd []string `json:"server_end,omitempty"`
	ClientEnd []string `json:"client_end,omitempty"`
	Event     string   `json:"event,omitempty"`
	// EventError is the connection manager's negative errno.
	EventError *int `json:"event_error,omitempty"`
	State      *int `json:"state,omitempty"`
	failed     string
}

// RPing reads the output of rping.
func RPing(r io.Reader) (*RPingReport, error) {
	s := newLines(r)
	rep := &RPingReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(RPing, "rping")

var (
	rpingEvent    = regexp.MustCompile(`cma event (RDMA_CM_EVENT_\w+), error (-?\d+)`)
	rpingAnyEvent = regexp.MustCompile(`(?:cma_event type|event:?) (RDMA_CM_EVENT_\w+)`)
	rpingState    = regexp.MustCompile(`(?:state|STATE) (\d+)$`)
)

func (rep *RPingReport) line(text string) bool {
	if m := rpingEvent.FindStringSubmatch(text); m != nil {
		rep.Event, rep.EventError = m[1], optionalInt(m[2])
		rep.failed = text
		rep.keep(text)
		return true
	}
	switch {
	case strings.HasPrefix(text, "server ping data:"):
		rep.ServerPings++
	case strings.HasPrefix(text, "ping data:"):
		rep.ClientPings++
	case strings.HasPrefix(text, "server DISCONNECT EVENT"):
		rep.ServerEnd = append(rep.ServerEnd, text)
	case strings.HasPrefix(text, "client DISCONNECT EVENT"):
		rep.ClientEnd = append(rep.ClientEnd, text)
	case strings.HasPrefix(text, "wait for RDMA_READ_ADV state"):
		rep.ServerEnd = append(rep.ServerEnd, text)
	case strings.HasPrefix(text, "waiting for addr/route resolution"), strings.HasPrefix(text, "wait for CONNECTED state"):
		if m := rpingState.FindStringSubmatch(text); m != nil {
			rep.State = optionalInt(m[1])
		}
		rep.keep(text)
	case strings.HasPrefix(text, "cq completion failed"), strings.HasPrefix(text, "connect error"), strings.HasPrefix(text, "data mismatch"),
		strings.HasPrefix(text, "rdma_") && strings.Contains(text, ": "), strings.HasPrefix(text, "unhandled event"):
		rep.keep(text)
		if rep.failed == "" {
			rep.failed = text
		}
	case rpingAnyEvent.MatchString(text), strings.HasPrefix(text, "created cm_id"), strings.HasPrefix(text, "destroy cm_id"):
	default:
		return false
	}
	return true
}

func (rep *RPingReport) judge() {
	if rep.failed != "" {
		rep.Error = rep.failed
	}
	text := strings.ToLower(rep.Error)
	switch {
	case rep.Event == "RDMA_CM_EVENT_ADDR_ERROR", rep.Event == "RDMA_CM_EVENT_ROUTE_ERROR", strings.Contains(text, "resolve"):
		rep.is(Failed, "addr_resolution")
	case rep.Event != "":
		rep.is(Failed, "rdma_cm_"+strings.ToLower(strings.TrimPrefix(rep.Event, "RDMA_CM_EVENT_")))
	case strings.Contains(text, "completion failed"):
		rep.is(Failed, "completion_error")
	case strings.Contains(text, "mismatch"):
		rep.is(Failed, "validation_failed")
	case rep.Error != "":
		rep.is(Failed, "error")
	case rep.ServerPings+rep.ClientPings > 0 && len(rep.ServerEnd)+len(rep.ClientEnd) > 0:
		rep.is(Succeeded, "")
	case len(rep.ServerEnd)+len(rep.ClientEnd) > 0: // without -v nothing says that data moved
		rep.is(Informed, "disconnected")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
