package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

// sweepPatience is how long a run waits for another run's sweep.
const sweepPatience = 15 * time.Minute

// sweep discovers the fabric as a visible step; one sweep at a time per
// cluster, since it asks every node.
func (r *Run) sweep(ctx workflow.Context, from activities.Vantage, why string) (activities.FabricState, error) {
	var s activities.FabricState
	release, err := r.hold(ctx, sweepHold(r.Site.Cluster), "the fabric sweep", sweepPatience)
	if err != nil {
		return s, err
	}
	defer release()
	err = r.Step(ctx, from.Host, why, func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 18*time.Minute), hosts.Sweep, from).Get(ctx, &s)
		return fmt.Sprintf("%s; %s Active, %d not", inventory(s), count(s.Active, "port"), s.Initializing+s.Armed), err
	})
	return s, err
}

// inventory counts what a sweep found.
func inventory(s activities.FabricState) string {
	return count(s.Counts.CAs, "adapter") + ", " + count(s.Counts.Switches, "switch") + ", " + count(s.Counts.Links, "link")
}
