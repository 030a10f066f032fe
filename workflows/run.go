package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/hostexec"
)

// These nil pointers only name activity methods for the compiler.
var (
	hosts *activities.Hosts
	chat  *activities.Chat
)

// The states under the names that bodies use.
const (
	Queued  = activities.Queued
	Running = activities.Running
)

// maxSteps bounds the steps kept in the view; older ones are in the audit log.
const maxSteps = 60

// Run is one run of an operation, as plans and bodies see it.
type Run struct {
	Req activities.Request
	// Site is what the worker knew when the run began.
	Site activities.Admission
	// Plan is the plan that was approved.
	Plan activities.Plan

	view   activities.View
	voice  voice
	urgent bool
	leases map[string]hostexec.Lease
	gate   gateState
	// entries counts those of the audit log, so that two of one kind and one
	// moment have different numbers.
	entries int
	paused  string
	cancel  workflow.CancelFunc
	stop    *stopOrder
}

// Lease is the right to change a host, taken by the frame for every host of
// the plan.
func (r *Run) Lease(host string) (hostexec.Lease, error) {
	l, ok := r.leases[host]
	if !ok {
		return hostexec.Lease{}, fmt.Errorf("run %s holds no lease on %s", r.Req.Run, host)
	}
	return l, nil
}

func (r *Run) touch(ctx workflow.Context) {
	r.view.Seq++
	r.view.Updated = workflow.Now(ctx)
	r.voice.dirty = true
}

func (r *Run) setState(ctx workflow.Context, s activities.State, note string) {
	if r.view.State == s && r.view.Note == note {
		return
	}
	r.urgent = r.urgent || r.view.State != s
	r.view.State, r.view.Note = s, note
	r.touch(ctx)
}

// Note says what the run is doing in one line.
func (r *Run) Note(ctx workflow.Context, format string, args ...any) {
	r.setState(ctx, r.view.State, fmt.Sprintf(format, args...))
}

// Progress shows how much of the work is done.
func (r *Run) Progress(ctx workflow.Context, done, total int, unit string) {
	r.view.Progress = &activities.Progress{Done: done, Total: total, Unit: unit}
	r.touch(ctx)
}

// Attach adds files to the thread, shown with the final message.
func (r *Run) Attach(ctx workflow.Context, files ...activities.File) {
	r.view.Files = append(r.view.Files, files...)
	r.touch(ctx)
}

// Step runs f as one visible step and stops for a pause before it. The detail
// that f returns is shown beside the step.
func (r *Run) Step(ctx workflow.Context, host, text string, f func() (detail string, err error)) error {
	if err := r.checkpoint(ctx); err != nil {
		return err
	}
	r.begin(ctx, host, text)
	detail, err := f()
	r.end(ctx, detail, err)
	return err
}

// begin opens a step; steps of one run do not overlap.
func (r *Run) begin(ctx workflow.Context, host, text string) {
	r.view.Steps = append(r.view.Steps, activities.Step{Key: fmt.Sprintf("s%d", r.view.Seq), Text: text, Host: host, State: activities.StepRunning, Begun: workflow.Now(ctx)})
	if over := len(r.view.Steps) - maxSteps; over > 0 {
		r.view.Steps = r.view.Steps[over:]
	}
	r.touch(ctx)
}

// end closes the step that begin opened.
func (r *Run) end(ctx workflow.Context, detail string, err error) {
	s := &r.view.Steps[len(r.view.Steps)-1]
	s.Ended, s.Detail, s.State = workflow.Now(ctx), detail, activities.StepOK
	if err != nil {
		s.State, s.Detail = activities.StepFailed, sentence(err)
	}
	r.touch(ctx)
}

// checkpoint waits while the run is paused and ends it when it was cancelled.
func (r *Run) checkpoint(ctx workflow.Context) error {
	if r.paused != "" {
		before := r.view.State
		r.setState(ctx, activities.Paused, "paused by "+r.paused)
		if err := workflow.Await(ctx, func() bool { return r.paused == "" }); err != nil {
			return err
		}
		r.setState(ctx, before, "")
	}
	return ctx.Err()
}

// lookOptions is for acts that only look: within is the longest one attempt
// may take, three attempts.
func lookOptions(ctx workflow.Context, within time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           QueueHosts,
		StartToCloseTimeout: within,
		HeartbeatTimeout:    beatTimeout,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: 3},
	})
}

// beatTimeout is how long a silent worker keeps an act: 10 s lets another
// worker re-attach within 15 s of a kill.
const beatTimeout = 10 * time.Second

// jobOptions is for acts that re-attach to a detached job on the host: safe to
// repeat, so a lost worker costs only the time to notice it.
func jobOptions(ctx workflow.Context, within time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              QueueHosts,
		ScheduleToCloseTimeout: within,
		StartToCloseTimeout:    within,
		HeartbeatTimeout:       beatTimeout,
		WaitForCancellation:    true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1.5, MaximumInterval: 10 * time.Second},
	})
}
