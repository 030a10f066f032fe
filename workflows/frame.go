package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/op"
)

// definition is what the worker's own declaration says when a run begins. It
// is recorded once, so a caller cannot weaken it and a later edit cannot break
// the replay of a waiting run.
type definition struct {
	Class    op.Class      `json:"class"`
	Approval op.Approval   `json:"approval"`
	Patience time.Duration `json:"patience"`
	Subnet   bool          `json:"subnet,omitempty"`
}

// hostPatience is how long a run waits for a host that another run changes.
const hostPatience = 30 * time.Minute

// frame is around every operation: admission, plan, gate, lease, plan again,
// body, release, audit, last word. No author of an operation can leave one out.
func frame[In, Out any](ctx workflow.Context, o *Operation[In, Out], req activities.Request) (activities.Outcome, error) {
	var def definition
	if err := workflow.SideEffect(ctx, func(workflow.Context) any {
		return definition{Class: o.Class, Approval: o.Approval, Patience: hostPatience, Subnet: o.Subnet}
	}).Get(&def); err != nil {
		return activities.Outcome{}, err
	}
	work, cancel := workflow.WithCancel(ctx)
	r := &Run{Req: req, leases: map[string]hostexec.Lease{}, cancel: cancel, view: activities.View{
		Run: req.Run, Op: req.Op, Class: def.Class.String(), Words: req.Words, By: req.By, Place: req.Place,
		State: activities.Requested, Started: workflow.Now(ctx), Updated: workflow.Now(ctx),
	}}
	if err := r.listen(ctx); err != nil {
		return activities.Outcome{}, err
	}
	release, other, err := r.claim(work)
	if err != nil {
		return activities.Outcome{}, err
	}
	if other != "" {
		return r.duplicate(ctx, other), nil
	}
	r.speak(ctx)
	out, err := perform(work, o, r, def)
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	// Freed before anybody can see the end, so that the same command typed at
	// the sight of it is a new run.
	release()
	outcome := r.conclude(free, out, err)
	if err := r.lastWord(free); err != nil {
		r.audit(free, activities.AuditEntry{Event: "undeliverable", Reason: sentence(err)})
	}
	_ = workflow.Await(free, func() bool { return workflow.AllHandlersFinished(free) })
	return outcome, nil
}

// perform is the run proper, between admission and conclusion.
func perform[In, Out any](ctx workflow.Context, o *Operation[In, Out], r *Run, def definition) (activities.Data, error) {
	var in In
	if err := r.Req.Input.Unpack(&in); err != nil {
		return nil, refuse("the request does not fit this worker's %s: %v", r.Req.Op, err)
	}
	if err := r.admit(ctx, def); err != nil {
		return nil, err
	}
	if def.Class.NeedsPlan() {
		releaseHosts, err := r.gated(ctx, def, func() (activities.Plan, error) { return o.Plan(ctx, r, in) })
		defer releaseHosts()
		if err != nil {
			return nil, err
		}
	}
	r.setState(ctx, activities.Running, "")
	out, err := o.Body(ctx, r, in)
	var partly *PartlyError
	if err != nil && !errors.As(err, &partly) {
		return nil, err
	}
	var data activities.Data
	if e := workflow.SideEffect(ctx, func(workflow.Context) any {
		d, e := activities.Pack(out)
		if e != nil {
			return nil
		}
		return d
	}).Get(&data); e != nil {
		return nil, e
	}
	return data, err
}

// admit records the request and asks the site whether it may go on at all.
func (r *Run) admit(ctx workflow.Context, def definition) error {
	if err := workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.Admit, r.Req).Get(ctx, &r.Site); err != nil {
		return err
	}
	r.view.Cluster = r.Site.Cluster
	if err := unfrozen(r.Site.Frozen); def.Class.NeedsPlan() && err != nil {
		return err
	}
	if def.Class.NeedsPlan() && len(r.Site.Policy.Users)+len(r.Site.Policy.Groups) == 0 {
		return refuse("the configuration names nobody who may approve %s (access.approvers), so it cannot be run", r.Req.Op)
	}
	r.touch(ctx)
	return nil
}

// unfrozen refuses what would change a frozen site.
func unfrozen(frozen string) error {
	if frozen == "" {
		return nil
	}
	return refuse("the site is frozen: %s; nothing is changed until somebody runs unfreeze", frozen)
}

// stillUnfrozen asks again: a run may have waited for hours.
func (r *Run) stillUnfrozen(ctx workflow.Context) error {
	if err := workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.Frozen).Get(ctx, &r.Site.Frozen); err != nil {
		return err
	}
	return unfrozen(r.Site.Frozen)
}

// gated plans, asks, takes the leases and plans again under them. What it
// returns must be called also after an error.
func (r *Run) gated(ctx workflow.Context, def definition, plan func() (activities.Plan, error)) (releaseHosts func(), err error) {
	var held []func()
	releaseHosts = func() {
		for i := len(held) - 1; i >= 0; i-- {
			held[i]()
		}
	}
	r.setState(ctx, activities.Planning, "looking at every target")
	p, err := plan()
	if err != nil {
		return releaseHosts, err
	}
	r.view.Plan = &p
	r.audit(ctx, activities.AuditEntry{Event: "planned", Hash: p.Hash, Targets: p.Hosts()})
	if len(p.Changes) == 0 {
		return releaseHosts, refuse("nothing to change: %s", p.Summary)
	}
	if n := len(p.Hosts()); n > r.Site.MaxHosts {
		return releaseHosts, refuse("the plan changes %d hosts, the site allows %d in one run (limits.max_hosts_per_run)", n, r.Site.MaxHosts)
	}
	if need := max(def.Approval.Count, r.Site.Policy.Count); need > 0 {
		wait := def.Approval.Wait
		if wait == 0 {
			wait = r.Site.ApprovalWindow
		}
		if err := r.openGate(ctx, p, need, wait); err != nil {
			return releaseHosts, err
		}
	}
	if def.Subnet {
		release, err := r.hold(ctx, subnetHold(r.Site.Cluster), "the subnet management of "+r.Site.Cluster, def.Patience)
		if err != nil {
			return releaseHosts, err
		}
		held = append(held, release)
	}
	for _, host := range p.Hosts() {
		release, err := r.takeHost(ctx, host, def.Patience)
		if err != nil {
			return releaseHosts, err
		}
		held = append(held, release)
	}
	r.setState(ctx, activities.Planning, "looking again before acting")
	again, err := plan()
	if err != nil {
		return releaseHosts, err
	}
	if again.Hash != p.Hash {
		r.audit(ctx, activities.AuditEntry{Event: "plan changed", Hash: again.Hash})
		return releaseHosts, refuse("the site changed between the approval and the start (plan %.8s became %.8s), so nothing was done; ask again", p.Hash, again.Hash)
	}
	if err := r.stillUnfrozen(ctx); err != nil {
		return releaseHosts, err
	}
	r.Plan = again
	return releaseHosts, nil
}

// takeHost takes the lease on one host, in Temporal and on the host itself.
func (r *Run) takeHost(ctx workflow.Context, host string, patience time.Duration) (func(), error) {
	release, err := r.hold(ctx, HostHold(host), host, patience)
	if err != nil {
		return nil, err
	}
	var lease hostexec.Lease
	if err := workflow.ExecuteActivity(lookOptions(ctx, time.Minute), hosts.Fence, host, r.Req.Run).Get(ctx, &lease); err != nil {
		release()
		return nil, err
	}
	r.leases[host] = lease
	return release, nil
}

// claimTries bounds how often a run asks again when the one that held its
// command has just ended.
const claimTries = 10

// claim takes the run's command, or names the run that has it.
func (r *Run) claim(ctx workflow.Context) (release func(), other string, err error) {
	for range claimTries {
		release, first, err := r.tryHold(ctx, commandHold(r.Req.Same), r.Req.Words)
		if err != nil || first {
			return release, "", err
		}
		var h activities.Holder
		if err := workflow.ExecuteActivity(lookOptions(ctx, 10*time.Second), hosts.WhoHolds, commandHold(r.Req.Same)).Get(ctx, &h); err != nil {
			return nil, "", err
		}
		if h.Run != "" {
			return nil, h.Run, nil
		}
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return nil, "", err
		}
	}
	return nil, "", refuse("another run holds this command but does not answer; look at runs list")
}

// duplicate ends a run whose command is already running.
func (r *Run) duplicate(ctx workflow.Context, other string) activities.Outcome {
	r.view.Of = other
	r.setState(ctx, activities.Duplicate, "the same command is already running")
	r.view.Ended = workflow.Now(ctx)
	return activities.Outcome{State: activities.Duplicate, Of: other}
}

// conclude turns what the body returned into the final view and audit entry.
func (r *Run) conclude(ctx workflow.Context, out activities.Data, err error) activities.Outcome {
	var partly *PartlyError
	var denied *deniedError
	var expired *expiredError
	o := activities.Outcome{State: activities.Done, Result: out}
	switch {
	case err == nil:
	case errors.As(err, &partly):
		o.State, o.Error = activities.Partly, partly.Note
	case errors.As(err, &denied):
		o.State, o.Error = activities.Denied, denied.Error()
	case errors.As(err, &expired):
		o.State, o.Error = activities.Expired, expired.Error()
	case r.stop != nil:
		o.State, o.Error = activities.Cancelled, "cancelled by "+nameOf(r.stop.By)
		if r.stop.Reason != "" {
			o.Error += ": " + r.stop.Reason
		}
		if !temporal.IsCanceledError(err) {
			o.Error += "; " + sentence(err)
		}
	case temporal.IsCanceledError(err):
		o.State, o.Error = activities.Cancelled, "cancelled"
	default:
		o.State, o.Error = activities.Failed, sentence(err)
	}
	r.view.Result, r.view.Error, r.view.Ended, r.view.Gate = o.Result, o.Error, workflow.Now(ctx), nil
	r.setState(ctx, o.State, "")
	r.touch(ctx)
	hash := ""
	if r.view.Plan != nil {
		hash = r.view.Plan.Hash
	}
	r.audit(ctx, activities.AuditEntry{Event: "ended", Hash: hash, Result: string(o.State), Reason: o.Error})
	return o
}

// audit appends to the site's log. A log that cannot be written stops nothing
// that has begun, but the run says so.
func (r *Run) audit(ctx workflow.Context, e activities.AuditEntry) {
	e.Run, e.Op, e.At, e.Number = r.Req.Run, r.Req.Op, workflow.Now(ctx), r.view.Seq+r.entries
	r.entries++
	if e.By.ID == "" {
		e.By = r.Req.By
	}
	if err := workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.Audit, e).Get(ctx, nil); err != nil {
		r.Note(ctx, "the audit log cannot be written: %s", sentence(err))
	}
}
