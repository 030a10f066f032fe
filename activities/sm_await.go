package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
)

// SMRef names a subnet manager by where it answers and who it is.
type SMRef struct {
	LID  fabric.LID  `json:"lid"`
	GUID fabric.GUID `json:"guid"`
	Name string      `json:"name"`
}

// AwaitInput is a state to wait for.
type AwaitInput struct {
	From Vantage `json:"from"`
	// Any of these managers must reach the state.
	Any    []SMRef        `json:"any"`
	State  fabric.SMState `json:"state"`
	Within time.Duration  `json:"within"`
	// Steady is how long the state must last to count; a second reading is
	// always needed.
	Steady time.Duration `json:"steady,omitempty"`
	// Service is a host whose subnet-manager service must run meanwhile; empty
	// for none. Waiting ends when it has stopped.
	Service string `json:"service,omitempty"`
}

// AwaitDone is who reached the state.
type AwaitDone struct {
	SM       SMRef `json:"sm"`
	Priority uint8 `json:"priority"`
	// Reached is false when time was over; Last then says what was seen.
	Reached bool   `json:"reached"`
	Last    string `json:"last,omitempty"`
	// Stopped says that the service ended while it was waited for.
	Stopped bool `json:"stopped,omitempty"`
}

// awaitEvery is the pause between two questions: short against a takeover of
// seconds, and a few datagrams only.
const awaitEvery = 300 * time.Millisecond

// serviceEvery is the pause between two looks at a service that has not
// brought its manager to the state.
const serviceEvery = 5 * time.Second

// sighting is a manager seen in the wanted state without a break.
type sighting struct {
	first *fabric.SM
	since time.Time
}

// AwaitSM asks the named managers until one has reached the state twice in a
// row and for as long as is asked, a master with a growing activity count.
// Only looks.
func (h *Hosts) AwaitSM(ctx context.Context, in AwaitInput) (AwaitDone, error) {
	defer beat(ctx)()
	until := h.clock().Now().Add(in.Within)
	seen := map[fabric.GUID]sighting{}
	last := "no answer"
	stopped, lookAgain := 0, h.clock().Now().Add(serviceEvery)
	for {
		for _, ref := range in.Any {
			sm, err := h.askSM(ctx, in.From, ref.LID)
			if err != nil {
				return AwaitDone{}, err
			}
			if sm == nil || sm.GUID != ref.GUID {
				delete(seen, ref.GUID)
				last = ref.Name + " does not answer"
				continue
			}
			last = fmt.Sprintf("%s is %s", ref.Name, sm.State)
			if sm.State != in.State {
				delete(seen, ref.GUID)
				continue
			}
			s, again := seen[ref.GUID]
			if !again {
				seen[ref.GUID] = sighting{sm, h.clock().Now()}
				continue
			}
			if h.clock().Now().Sub(s.since) >= in.Steady && (in.State != fabric.SMMaster || sm.ActivityCount != s.first.ActivityCount) {
				return AwaitDone{SM: ref, Priority: sm.Priority, Reached: true}, nil
			}
		}
		if in.Service != "" && len(seen) == 0 && h.clock().Now().After(lookAgain) {
			lookAgain = h.clock().Now().Add(serviceEvery)
			if stopped++; h.serviceRuns(ctx, in.Service) {
				stopped = 0
			}
			if stopped == 2 {
				return AwaitDone{Last: last, Stopped: true}, nil
			}
		}
		if h.clock().Now().After(until) {
			return AwaitDone{Last: last}, nil
		}
		select {
		case <-ctx.Done():
			return AwaitDone{}, ctx.Err()
		case <-h.clock().After(awaitEvery):
		}
	}
}

// serviceRuns reports whether a host's subnet-manager service runs; one that
// cannot be looked at is given the benefit of the doubt.
func (h *Hosts) serviceRuns(ctx context.Context, host string) bool {
	s := SMService{Host: host}
	return h.smUnit(ctx, &s) != nil || s.Running
}
