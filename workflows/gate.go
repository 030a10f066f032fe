package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

// Names under which a run is asked and steered.
const (
	QueryView    = "view"
	UpdateDecide = "decide"
	UpdatePause  = "pause"
	UpdateResume = "resume"
	UpdateCancel = "cancel"
)

// Steer is who pauses, resumes or cancels a run, and why.
type Steer struct {
	By     activities.Person `json:"by"`
	Reason string            `json:"reason,omitempty"`
}

type stopOrder struct{ Steer }

type gateState struct {
	number int
	denied *activities.Decision
}

// refused is an answer to an approver; it never becomes part of the history.
func refused(kind, format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), kind, nil)
}

// listen installs the query and the updates. Validators refuse without leaving
// a trace in the history; what they accept is recorded by Temporal before it
// takes effect, so two racing clicks have one winner.
func (r *Run) listen(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, QueryView, func() (activities.View, error) { return r.view, nil }); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateDecide, r.decide, workflow.UpdateHandlerOptions{Validator: r.mayDecide}); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, UpdatePause, func(ctx workflow.Context, s Steer) error {
		r.paused = s.By.ID
		r.audit(ctx, activities.AuditEntry{Event: "paused", By: s.By, Reason: s.Reason})
		r.Note(ctx, "pausing at the next safe point")
		return nil
	}, workflow.UpdateHandlerOptions{Validator: r.maySteer}); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateResume, func(ctx workflow.Context, s Steer) error {
		r.paused = ""
		r.audit(ctx, activities.AuditEntry{Event: "resumed", By: s.By, Reason: s.Reason})
		return nil
	}, workflow.UpdateHandlerOptions{Validator: func(ctx workflow.Context, s Steer) error {
		if err := r.maySteer(ctx, s); err != nil {
			return err
		}
		if r.paused == "" {
			return refused("NotPaused", "run %s is not paused", r.Req.Run)
		}
		return nil
	}}); err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, UpdateCancel, func(ctx workflow.Context, s Steer) error {
		r.stop = &stopOrder{s}
		r.paused = ""
		r.audit(ctx, activities.AuditEntry{Event: "cancel ordered", By: s.By, Reason: s.Reason})
		r.cancel()
		return nil
	}, workflow.UpdateHandlerOptions{Validator: r.maySteer})
}

func (r *Run) maySteer(_ workflow.Context, s Steer) error {
	switch {
	case s.By.ID == "":
		return refused("NoIdentity", "nobody is named")
	case r.view.State.Final():
		return refused("Ended", "run %s has already ended: %s", r.Req.Run, r.view.State)
	}
	return nil
}

// mayDecide is the rule of the gate. The requester is refused before anything
// else is looked at; there is no configuration in which that changes.
func (r *Run) mayDecide(ctx workflow.Context, d activities.Decision) error {
	g := r.view.Gate
	switch {
	case d.By.ID == "":
		return refused("NoIdentity", "nobody is named")
	case d.Yes && (d.By.ID == r.Req.By.ID || slices.Contains(r.Site.Requester, d.By.ID)):
		return refused("OwnRequest", "you asked for this run; somebody else has to approve it")
	case d.Yes && !r.linked():
		return refused("NotLinked", "it is not known who %s is in Slack, so nobody can be told apart from them; link the local id under access.people and ask for the run again", r.Req.By.ID)
	case g == nil && r.view.State == activities.Waiting:
		return r.decidedAlready()
	case g == nil:
		return refused("GateClosed", "run %s is not waiting for approval; it is %s%s", r.Req.Run, r.view.State, r.lastDecision())
	case d.Gate != "" && d.Gate != g.ID, d.Hash != g.Hash:
		return refused("PlanChanged", "the plan has changed since that message; look at the current one and decide again")
	case d.By.ID != r.Req.By.ID && !slices.Contains(g.Policy.Users, d.By.ID) && (d.Via == "" || !slices.Contains(g.Policy.Groups, d.Via)):
		return refused("NotApprover", "you are not among the approvers of %s", r.Req.Op)
	}
	for _, old := range r.view.Decided {
		if old.By.ID == d.By.ID && old.Gate == g.ID && old.Yes == d.Yes {
			return refused("AlreadyDecided", "you have already approved this plan; %s needed", count(g.Need-r.approvals(), "more approval"))
		}
	}
	// The run has not yet seen a decision that came in at the same moment.
	if r.gate.denied != nil || r.approvals() >= g.Need {
		return r.decidedAlready()
	}
	if !workflow.Now(ctx).Before(g.Expires) {
		return refused("Expired", "the request expired at %s", g.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

func (r *Run) decidedAlready() error {
	return refused("GateClosed", "run %s is decided already%s", r.Req.Run, r.lastDecision())
}

// linked reports whether the requester is known by a name in Slack: a local id
// alone could be anybody's, the approver's too.
func (r *Run) linked() bool {
	return slices.ContainsFunc(append([]string{r.Req.By.ID}, r.Site.Requester...), func(id string) bool { return !strings.HasPrefix(id, "local:") })
}

func (r *Run) lastDecision() string {
	if n := len(r.view.Decided); n > 0 {
		d := r.view.Decided[n-1]
		verb := "denied"
		if d.Yes {
			verb = "approved"
		}
		return fmt.Sprintf(" (%s by %s at %s)", verb, nameOf(d.By), d.At.UTC().Format("15:04:05 MST"))
	}
	return ""
}

func nameOf(p activities.Person) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// decide records a decision that passed mayDecide. A requester who says no
// withdraws the run.
func (r *Run) decide(ctx workflow.Context, d activities.Decision) (activities.View, error) {
	d.Gate, d.At = r.view.Gate.ID, workflow.Now(ctx)
	r.view.Decided = append(r.view.Decided, d)
	if !d.Yes {
		r.gate.denied = &d
	}
	event := "approved"
	if !d.Yes {
		event = "denied"
	}
	r.audit(ctx, activities.AuditEntry{Event: event, By: d.By, Via: d.Via, Hash: d.Hash, Reason: d.Reason})
	r.urgent = true
	r.touch(ctx)
	return r.view, nil
}

func (r *Run) approvals() int {
	n := 0
	for _, d := range r.view.Decided {
		if d.Yes && r.view.Gate != nil && d.Gate == r.view.Gate.ID {
			n++
		}
	}
	return n
}

// openGate asks for approval of the plan and waits. Time only ever denies.
func (r *Run) openGate(ctx workflow.Context, plan activities.Plan, need int, wait time.Duration) error {
	r.gate.number++
	r.view.Gate = &activities.Gate{
		ID: fmt.Sprintf("g%d", r.gate.number), Hash: plan.Hash, Need: need,
		Expires: workflow.Now(ctx).Add(wait), Policy: r.Site.Policy,
	}
	r.setState(ctx, activities.Waiting, "")
	r.notify(ctx, activities.Notice{Key: "ask-" + r.view.Gate.ID, Kind: "ask"})
	decided, err := workflow.AwaitWithTimeout(ctx, wait, func() bool { return r.gate.denied != nil || r.approvals() >= need })
	if err != nil {
		r.view.Gate = nil
		return err
	}
	open := r.view.Gate
	r.view.Gate = nil
	// Nothing follows from a decision before it is in the audit log.
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	switch {
	case r.gate.denied != nil:
		return &deniedError{*r.gate.denied}
	case !decided:
		r.audit(ctx, activities.AuditEntry{Event: "expired", Hash: plan.Hash})
		return &expiredError{open.Expires}
	}
	r.notify(ctx, activities.Notice{Key: "decided-" + open.ID, Kind: "decided"})
	return nil
}

type deniedError struct{ d activities.Decision }

func (e *deniedError) Error() string {
	s := "denied by " + nameOf(e.d.By)
	if e.d.Reason != "" {
		s += ": " + e.d.Reason
	}
	return s
}

type expiredError struct{ at time.Time }

func (e *expiredError) Error() string {
	return "nobody approved it before " + e.at.UTC().Format("2006-01-02 15:04 MST") + ", so it is denied"
}
