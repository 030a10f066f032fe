package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxLine bounds one line, in octets. Targets are written folded, so even ten thousand hosts stay far below it.
const maxLine = 1 << 20

// Event says what an entry records.
type Event string

// The events of a run, in the order in which they happen.
const (
	Requested Event = "requested" // a person asked and was or was not allowed to
	Planned   Event = "planned"   // the plan is known, with its hash
	Approved  Event = "approved"  // one approver said yes to that hash
	Denied    Event = "denied"    // an approver said no
	Expired   Event = "expired"   // nobody answered in time, which denies
	Voided    Event = "voided"    // the plan changed after the approval
	Started   Event = "started"   // the change begins
	Finished  Event = "finished"  // it ended, with its result
	Steered   Event = "steered"   // cancelled, paused, resumed or retried
	Noted     Event = "noted"     // anything else worth keeping, such as a freeze
)

var events = []Event{Requested, Planned, Approved, Denied, Expired, Voided, Started, Finished, Steered, Noted}

// Entry is one thing that happened. Time, Event, Operation and Requester must be given; Append fills Seq, Prev and, where it is
// zero, Time. People are canonical ids, never display names.
type Entry struct {
	Seq       uint64    `json:"seq"`  // 1 for the first line of the file
	Prev      string    `json:"prev"` // SHA-256 of the line before in hex, 64 zeros for the first
	Time      time.Time `json:"time"` // UTC
	Event     Event     `json:"event"`
	Run       string    `json:"run_id,omitempty"`
	Cluster   string    `json:"cluster,omitempty"`
	Operation string    `json:"op"`
	Requester string    `json:"requester"`
	Approvers []string  `json:"approvers,omitempty"`
	Decision  string    `json:"decision,omitempty"` // allowed, refused, approved, denied
	Reason    string    `json:"reason,omitempty"`
	PlanHash  string    `json:"plan_hash,omitempty"`
	Targets   string    `json:"targets,omitempty"` // folded host expression
	Result    string    `json:"result,omitempty"`
	Channel   string    `json:"channel,omitempty"`
	Message   string    `json:"message_link,omitempty"`
	// BreakGlass marks that a rule was broken knowingly, for the reason given.
	BreakGlass bool `json:"break_glass,omitempty"`
	// Torn marks that the line before was cut short by a crash of its writer; it is kept as it is.
	Torn bool `json:"torn,omitempty"`
}

func (e Entry) check() error {
	switch {
	case !slices.Contains(events, e.Event):
		return fmt.Errorf("audit entry with the unknown event %q", e.Event)
	case e.Operation == "":
		return errors.New("audit entry without an operation")
	case e.Requester == "":
		return errors.New("audit entry without a requester")
	case e.BreakGlass && e.Reason == "":
		return errors.New("audit entry for a broken glass without a reason")
	}
	return nil
}

// redacted returns e with every text that a person or a host may have written passed through redact.
func (e Entry) redacted(redact func(string) string) Entry {
	for _, text := range []*string{
		&e.Run, &e.Cluster, &e.Operation, &e.Requester, &e.Decision, &e.Reason, &e.PlanHash, &e.Targets, &e.Result, &e.Channel, &e.Message,
	} {
		*text = strings.ToValidUTF8(redact(*text), "\uFFFD") // JSON would replace such octets too, but in a form that does not read back
	}
	e.Approvers = slices.Clone(e.Approvers)
	for i := range e.Approvers {
		e.Approvers[i] = strings.ToValidUTF8(redact(e.Approvers[i]), "\uFFFD")
	}
	return e
}

func (e Entry) line() ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding audit entry: %w", err)
	}
	if len(line) >= maxLine {
		return nil, fmt.Errorf("audit entry of %d octets, at most %d are allowed", len(line), maxLine)
	}
	return append(line, '\n'), nil
}

// genesis is what the first line of a file holds in place of a hash.
var genesis = hex.EncodeToString(make([]byte, sha256.Size))

// hashOf is the hash of a line without its newline.
func hashOf(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}
