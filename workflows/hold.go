package workflows

import (
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

// HoldWorkflow is the registered name of Hold.
const HoldWorkflow = "hold"

// Hold occupies its workflow id until it is cancelled: the id is the lock.
// Temporal refuses a second running workflow of one id, whoever starts it and
// wherever, and frees the id when the holder's parent ends.
func Hold(ctx workflow.Context, h activities.Holder) error {
	if err := workflow.SetQueryHandler(ctx, QueryHolder, func() (activities.Holder, error) { return h, nil }); err != nil {
		return err
	}
	ctx.Done().Receive(ctx, nil)
	return nil
}

// QueryHolder asks a Hold who holds it.
const QueryHolder = "holder"

// Names of the things that can be held. FreezeHold is held while the site is
// frozen.
const FreezeHold = "freeze"

// HostHold is the id that stands for changing one host.
func HostHold(host string) string { return "host/" + host }

// sweepHold is the id that stands for sweeping the fabric with management
// packets: one at a time per cluster.
func sweepHold(cluster string) string { return "sweep/" + cluster }

// subnetHold is the id that stands for acting on subnet management: a second
// run could take the standby away while the first has stopped the master.
func subnetHold(cluster string) string { return "subnet/" + cluster }

func commandHold(same string) string { return "command/" + same }

// tryHold takes an id or reports that another run has it.
func (r *Run) tryHold(ctx workflow.Context, id, why string) (release func(), taken bool, err error) {
	holdCtx, cancel := workflow.WithCancel(ctx)
	holdCtx = workflow.WithChildOptions(holdCtx, workflow.ChildWorkflowOptions{
		WorkflowID:            id,
		TaskQueue:             QueueFabric,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         why,
	})
	child := workflow.ExecuteChildWorkflow(holdCtx, HoldWorkflow, activities.Holder{Run: r.Req.Run, Op: r.Req.Op, By: r.Req.By, Why: why})
	if err := child.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		cancel()
		if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			return nil, false, nil
		}
		return nil, false, err
	}
	release = func() {
		cancel()
		// The parent must not end before the hold has: its end would be
		// reported as cancelled instead of completed.
		free, stop := workflow.NewDisconnectedContext(ctx)
		defer stop()
		_ = child.Get(free, nil)
	}
	return release, true, nil
}

// holdPoll is how often a run that waits for a hold tries again: short
// against the minutes that holders take, long against the cost of a try.
const holdPoll = 3 * time.Second

// hold waits until the id is free, at most patience, and says meanwhile whom
// it waits for.
func (r *Run) hold(ctx workflow.Context, id, what string, patience time.Duration) (release func(), err error) {
	deadline := workflow.Now(ctx).Add(patience)
	before := r.view.State
	for {
		release, taken, err := r.tryHold(ctx, id, r.Req.Op)
		if err != nil {
			return nil, err
		}
		if taken {
			r.setState(ctx, before, "")
			return release, nil
		}
		holder := r.holderOf(ctx, id)
		if !workflow.Now(ctx).Before(deadline) {
			return nil, refuse("%s is busy by %s; try again when that run has ended", what, holder)
		}
		r.setState(ctx, Queued, what+" is busy by "+holder+"; waiting")
		if err := workflow.Sleep(ctx, holdPoll); err != nil {
			return nil, err
		}
	}
}

// holderOf names the run that has an id, in words for people.
func (r *Run) holderOf(ctx workflow.Context, id string) string {
	var h activities.Holder
	if err := workflow.ExecuteActivity(lookOptions(ctx, 10*time.Second), hosts.WhoHolds, id).Get(ctx, &h); err != nil || h.Run == "" {
		return "another run"
	}
	return "run " + h.Run + " (" + h.Op + ")"
}
