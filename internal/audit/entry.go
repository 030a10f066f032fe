package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxLine bounds one line, in octets. Targets are written folded, so even ten thousand hosts stay far below it.
const maxLine = 1 << 20

// eventName is the form of an event: a few small words.
var eventName = regexp.MustCompile(`^[a-z][a-z -]{1,39}$`)

// Entry is one thing that happened. Event, Operation and By must be given; Append fills Seq, Prev, Torn and, where it is zero,
// Time. People are canonical ids, never display names.
type Entry struct {
	Seq  uint64    `json:"seq"`  // 1 for the first line of the file
	Prev string    `json:"prev"` // SHA-256 of the line before in hex, 64 zeros for the first
	Time time.Time `json:"time"` // UTC
	// Event says what happened, in small words: requested, planned, approved, denied, expired, started, ended and the like.
	Event     string   `json:"event"`
	Run       string   `json:"run_id,omitempty"`
	Number    int      `json:"number"` // with Run and Event it makes the entry unique
	Cluster   string   `json:"cluster,omitempty"`
	Operation string   `json:"op"`
	Words     string   `json:"words,omitempty"` // as they were typed
	By        string   `json:"by"`              // who did this: the requester, the approver, who cancelled
	Via       string   `json:"via,omitempty"`   // the user group that gave the right
	Requester string   `json:"requester,omitempty"`
	Approvers []string `json:"approvers,omitempty"`
	Decision  string   `json:"decision,omitempty"` // allowed, refused, approved, denied
	Reason    string   `json:"reason,omitempty"`
	PlanHash  string   `json:"plan_hash,omitempty"`
	Targets   string   `json:"targets,omitempty"` // folded host expression
	Result    string   `json:"result,omitempty"`
	Channel   string   `json:"channel,omitempty"`
	Message   string   `json:"message_link,omitempty"`
	// Torn marks that the line before was cut short by a crash of its writer; it is kept as it is.
	Torn bool `json:"torn,omitempty"`
}

// key tells entries apart, so that a repeated Append is recognised. Entries without a run have none.
type key struct {
	run, event string
	number     int
}

func (e Entry) key() key { return key{run: e.Run, event: e.Event, number: e.Number} }

func (e Entry) check() error {
	switch {
	case !eventName.MatchString(e.Event):
		return fmt.Errorf("audit entry: %.60q is not an event; use small letters", e.Event)
	case e.Operation == "":
		return errors.New("audit entry without an operation")
	case e.By == "":
		return errors.New("audit entry without a person")
	}
	return nil
}

// redacted returns e with every text that a person or a host may have written passed through redact.
func (e Entry) redacted(redact func(string) string) Entry {
	for _, text := range []*string{
		&e.Run, &e.Cluster, &e.Operation, &e.Words, &e.By, &e.Via, &e.Requester, &e.Decision, &e.Reason, &e.PlanHash, &e.Targets, &e.Result, &e.Channel, &e.Message,
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
