package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// PerftestFailure holds what perftest's messages name.
type PerftestFailure struct {
	Host  string `json:"host,omitempty"`
	Port  *int   `json:"port,omitempty"`  // TCP port, or the adapter's for a link that is down
	State string `json:"state,omitempty"` // of the adapter's port
	// Status is the work completion's (ibv_wc_status).
	Status   *int   `json:"status,omitempty"`
	WrID     *int   `json:"wr_id,omitempty"`
	Syndrome string `json:"syndrome,omitempty"` // the vendor's, hexadecimal
	SCnt     *int   `json:"scnt,omitempty"`
	CCnt     *int   `json:"ccnt,omitempty"`
	// Event is the connection manager's, EventError its negative errno.
	Event      string `json:"event,omitempty"`
	EventError *int   `json:"event_error,omitempty"`
	// Errno is the text of errno, which perftest prints even where nothing has
	// set it: the event is the cause, not this.
	Errno        string `json:"misleading_errno,omitempty"`
	notConnected []string
	to           string // RTR or RTS
}

var (
	perfConnect    = regexp.MustCompile(`^Couldn't connect to (\S+):(\d+)$`)
	perfModify     = regexp.MustCompile(`^Failed to modify (?:\S+ )*?QP (?:(\S+) )?to (\w+)`)
	perfPortState  = regexp.MustCompile(`^Port number (\d+) state is (\w+)`)
	perfStatus     = regexp.MustCompile(`^Failed status[- ](?:.*\()?(\d+)\)?: wr_id (\d+) syndrom (0x[0-9a-f]+)`)
	perfCounts     = regexp.MustCompile(`\bscnt=(\d+), ccnt=(\d+)`)
	perfEvent      = regexp.MustCompile(`^Event: (\w+); error: (-?\d+)`)
	perfNoDevice   = regexp.MustCompile(`^IB device (\S+) not found`)
	perfGlued      = regexp.MustCompile(` (?:Unable to |Couldn't |Failed to )`)
	perfComplaints = regexp.MustCompile(`^(?:Unable to |Couldn't |Couldnt |Failed to |failed to |Failed: |Cannot |Can't |can't |Did not detect |No IB devices|` +
		`IB device \S+ not found|Port number \d+ state|Error|Problem|Function \S+ failed|Requested |Invalid |Bad wc status|Completion with error|` +
		`Found Incompatibility|poll |Poll |Link layer |Parser function|rdma_\w+ failed|unexpected CM event|Unexpected CM event|Received \d+ times ADDR_ERROR|` +
		`VALIDATION: (?:FAILED|ERROR)|cu\w+ (?:failed|error)|cuInit|\S*CUDA\S* |No such device|bad event|Unsupported |Perftest doesn't|` +
		`This test cannot|Max msg size|.* not supported|.* is not enabled|.*: Cannot allocate memory)`)
)

// failure reads one of perftest's complaints.
func (rep *PerftestReport) failure(text string) bool {
	if m := perfEvent.FindStringSubmatch(text); m != nil {
		rep.Event, rep.EventError = m[1], optionalInt(m[2])
		return true
	}
	if errno, ok := after(text, "ERRNO:"); ok {
		rep.Errno = strings.TrimSuffix(errno, ".")
		return true
	}
	if strings.HasPrefix(text, "RDMA CM event error") {
		return true
	}
	if m := perfStatus.FindStringSubmatch(text); m != nil {
		rep.Status, rep.WrID, rep.Syndrome = optionalInt(m[1]), optionalInt(m[2]), m[3]
		rep.complain(text)
		return true
	}
	if m := perfCounts.FindStringSubmatch(text); m != nil {
		rep.SCnt, rep.CCnt = optionalInt(m[1]), optionalInt(m[2])
		return true
	}
	if !perfComplaints.MatchString(text) {
		return false
	}
	// Two messages run together where one lacks its newline.
	for at := perfGlued.FindStringIndex(text[1:]); at != nil; at = perfGlued.FindStringIndex(text[1:]) {
		rep.complain(text[:1+at[0]])
		text = strings.TrimSpace(text[1+at[0]:])
	}
	rep.complain(text)
	return true
}

func (rep *PerftestReport) complain(text string) {
	text = strings.TrimSpace(text)
	rep.keep(text)
	if m := perfConnect.FindStringSubmatch(text); m != nil {
		rep.Host, rep.Port = m[1], optionalInt(m[2])
	}
	if m := perfModify.FindStringSubmatch(text); m != nil {
		rep.to = strings.ToLower(m[2])
		if m[1] != "" && len(rep.notConnected) < mostMessages {
			rep.notConnected = append(rep.notConnected, m[1])
		}
	}
	if m := perfPortState.FindStringSubmatch(text); m != nil {
		rep.Port, rep.State = optionalInt(m[1]), m[2]
	}
	if m := perfNoDevice.FindStringSubmatch(text); m != nil {
		rep.Device = m[1]
	}
	if !slices.Contains(rep.Errors, text) && len(rep.Errors) < mostMessages {
		rep.Errors = append(rep.Errors, text)
	}
}

// close gives the queue pairs that failed their place.
func (rep *PerftestReport) close() {
	if len(rep.notConnected) > 0 {
		rep.QPs = &PerfQPs{NotConnected: rep.notConnected}
	}
}

// words is the reason in perftest's words: the event where there is one, else
// the first complaint, whose consequences the others are.
func (rep *PerftestReport) words() string {
	switch {
	case rep.Event != "" && rep.EventError != nil:
		return fmt.Sprintf("%s, error %d", rep.Event, *rep.EventError)
	case rep.Event != "":
		return rep.Event
	case len(rep.Errors) > 0:
		return rep.Errors[0]
	}
	return rep.Errno
}

// perfClasses orders perftest's complaints from cause to consequence.
var perfClasses = []struct{ class, words string }{
	{"port_down", "state is "},
	{"device_not_found", "not found"},
	{"device_not_found", "did not detect devices"},
	{"device_not_found", "no ib devices"},
	{"device_not_found", "unable to find the infiniband/roce device"},
	{"device_not_found", "no such device"},
	{"completion_error", "completion with error"},
	{"completion_error", "failed status"},
	{"completion_error", "bad wc status"},
	{"validation_failed", "validation:"},
	{"below_limit", "below bw limit"},
	{"below_limit", "below msg_rate limit"},
	{"connect_failed", "couldn't connect to"},
	{"port_in_use", "couldn't listen to port"},
	{"connect_failed", "init the socket connection"},
	{"gid_mismatch", "incompatibility issue with gid"},
	{"gid_index", "gid index"},
	{"gid_index", "sgid"},
	{"mtu", "mtu"},
	{"qp_create", "create qp"},
	{"mr_registration", "allocate mr"},
	{"mr_registration", "create mr"},
	{"mr_registration", "create mkey"},
	{"cq_create", "create cq"},
	{"cq_create", "receiver cq"},
	{"srq_create", "create srq"},
	{"qp_rtr", "unable to connect the hca's"},
	{"gpu", "cuda"},
	{"gpu", "gpu"},
	{"gpu", "cuinit"},
	{"addr_resolution", "addr_error"},
	{"rdma_cm", "rdma_cm"},
	{"rdma_cm", "rdma cm"},
	{"exchange_failed", "exchange data"},
	{"exchange_failed", "socket"},
	{"memory", "allocate"},
	{"resources", "ib resources"},
	{"context", "context"},
}

// class names the failure; empty when nothing failed.
func (rep *PerftestReport) class() string {
	switch rep.Event {
	case "":
	case "RDMA_CM_EVENT_ADDR_ERROR", "RDMA_CM_EVENT_ROUTE_ERROR":
		return "addr_resolution"
	default:
		return "rdma_cm_" + strings.ToLower(strings.TrimPrefix(rep.Event, "RDMA_CM_EVENT_"))
	}
	if rep.to != "" {
		return "qp_" + rep.to
	}
	for _, c := range perfClasses {
		for _, e := range rep.Errors {
			if strings.Contains(strings.ToLower(e), c.words) {
				return c.class
			}
		}
	}
	if len(rep.Errors) > 0 || rep.Errno != "" {
		return "error"
	}
	return ""
}
