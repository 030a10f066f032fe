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
}

// AwaitDone is who reached the state.
type AwaitDone struct {
	SM       SMRef `json:"sm"`
	Priority uint8 `json:"priority"`
	// Reached is false when time was over; Last then says what was seen.
	Reached bool   `json:"reached"`
	Last    string `json:"last,omitempty"`
}

// awaitEvery is the pause between two questions: short against a takeover of
// seconds, and a few datagrams only.
const awaitEvery = 300 * time.Millisecond

// AwaitSM asks the named managers until one has reached the state twice in a
// row, a master with a growing activity count. Only looks.
func (h *Hosts) AwaitSM(ctx context.Context, in AwaitInput) (AwaitDone, error) {
	defer beat(ctx)()
	until := h.clock().Now().Add(in.Within)
	seen := map[fabric.GUID]*fabric.SM{}
	last := "no answer"
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
			first := seen[ref.GUID]
			if first != nil && (in.State != fabric.SMMaster || sm.ActivityCount != first.ActivityCount) {
				return AwaitDone{SM: ref, Priority: sm.Priority, Reached: true}, nil
			}
			if first == nil {
				seen[ref.GUID] = sm
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
