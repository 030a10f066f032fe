package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/hostexec"
)

// Admission is what the worker's site says when a run begins.
type Admission struct {
	Cluster        string        `json:"cluster"`
	Policy         Policy        `json:"policy"`
	ApprovalWindow time.Duration `json:"approval_window"`
	// Frozen says who froze the site and why; empty when it is not.
	Frozen string `json:"frozen,omitempty"`
	// Requester is every id of the human who asked: none of them may approve.
	Requester []string `json:"requester"`
	// MaxHosts is the most hosts a changing run may touch.
	MaxHosts int `json:"max_hosts"`
}

// Admit writes the request to the audit log and reads the site's rules. A
// request that cannot be recorded is refused. Idempotent: the log knows the
// entry.
func (h *Hosts) Admit(ctx context.Context, req Request) (Admission, error) {
	if err := h.Log.Append(ctx, AuditEntry{Run: req.Run, Op: req.Op, Event: "requested", At: req.At, By: req.By, Words: req.Words}); err != nil {
		return Admission{}, temporal.NewNonRetryableApplicationError("the request cannot be recorded in the audit log, so it is refused: "+err.Error(), "Refused", err)
	}
	a := Admission{Cluster: h.Rules.Cluster(), Policy: h.Rules.Policy(req.Op), ApprovalWindow: h.Rules.ApprovalWindow(),
		Requester: h.Rules.Aliases(req.By.ID), MaxHosts: h.Rules.MaxHosts()}
	var err error
	a.Frozen, err = h.Frozen(ctx)
	return a, err
}

// Frozen says who froze the site and why, a person before the calendar; empty
// when changes are allowed. Only looks.
func (h *Hosts) Frozen(ctx context.Context) (string, error) {
	frozen, err := h.Engine.Holder(ctx, "freeze")
	if err != nil || frozen.By.ID == "" {
		return h.Rules.Frozen(h.clock().Now()), err
	}
	why := displayName(frozen.By) + " froze it"
	if frozen.Why != "" {
		why += " (" + frozen.Why + ")"
	}
	return why, nil
}

// Audit appends one entry. Idempotent by run, event and number.
func (h *Hosts) Audit(ctx context.Context, e AuditEntry) error { return h.Log.Append(ctx, e) }

// WhoHolds names the run that holds an id. Only looks.
func (h *Hosts) WhoHolds(ctx context.Context, id string) (Holder, error) {
	return h.Engine.Holder(ctx, id)
}

// Fence draws the run's lease token from the host. Idempotent: the host gives
// a run the token it already has.
func (h *Hosts) Fence(ctx context.Context, host, run string) (hostexec.Lease, error) {
	return h.Change.Fence(ctx, host, run)
}

// Resolve turns a host expression into the names it means now. Only looks; a
// mistake in the expression is final.
func (h *Hosts) Resolve(_ context.Context, expr fabric.HostExpr) ([]string, error) {
	set, err := expr.Resolve(h.Site)
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), "BadTarget", err)
	}
	return set.Names(), nil
}

// ResolveOrAll resolves an expression, or lists all hosts that are not in
// maintenance when none is given. For operations that only look.
func (h *Hosts) ResolveOrAll(ctx context.Context, expr fabric.HostExpr) ([]string, error) {
	if expr != "" {
		return h.Resolve(ctx, expr)
	}
	var names []string
	for _, n := range h.Site.Names() {
		if info, ok := h.Site.Info(n); ok && !info.Maintenance {
			names = append(names, n)
		}
	}
	return names, nil
}

// SealPlan sets the plan's hash. Computes only.
func (h *Hosts) SealPlan(_ context.Context, p Plan) (Plan, error) {
	err := p.Seal()
	return p, err
}

func displayName(p Person) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}
