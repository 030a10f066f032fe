package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

// How often the live message follows a run: a few seconds at first, slower
// with age, since nobody stares at an hour-old message and Slack's budget is
// shared by all runs.
const (
	showYoung = 3 * time.Second
	showOld   = 15 * time.Second
	oldAfter  = 5 * time.Minute
)

// deliverFor is how long the final message is retried before the run ends
// with the message recorded as undeliverable.
const deliverFor = 7 * 24 * time.Hour

// voice keeps the channel's message equal to the run's view from beside the
// run, so that a silent Slack never holds up work.
type voice struct {
	dirty, stop bool
	idle        workflow.WaitGroup
}

// speak starts following the view. Contexts inside are disconnected: a
// cancelled run still says so.
func (r *Run) speak(ctx workflow.Context) {
	r.voice.idle = workflow.NewWaitGroup(ctx)
	if r.Req.Place.Channel == "" {
		return
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	r.voice.idle.Add(1)
	workflow.Go(free, func(ctx workflow.Context) {
		defer r.voice.idle.Done()
		for {
			_ = workflow.Await(ctx, func() bool { return r.voice.dirty || r.voice.stop })
			if r.voice.stop {
				return
			}
			r.voice.dirty = false
			// A view that cannot be shown now is followed by a newer one.
			_ = workflow.ExecuteActivity(chatOptions(ctx, 30*time.Second, 1), chat.Show, r.view).Get(ctx, nil)
			pause := showYoung
			if workflow.Now(ctx).Sub(r.view.Started) > oldAfter {
				pause = showOld
			}
			_, _ = workflow.AwaitWithTimeout(ctx, pause, func() bool { return r.voice.stop || r.urgent })
			r.urgent = false
		}
	})
}

// lastWord stops following and delivers the final view and its files, however
// long Slack is away.
func (r *Run) lastWord(ctx workflow.Context) error {
	r.voice.stop = true
	r.voice.idle.Wait(ctx)
	if r.Req.Place.Channel == "" {
		return nil
	}
	if err := workflow.ExecuteActivity(chatOptions(ctx, deliverFor, 0), chat.Show, r.view).Get(ctx, nil); err != nil {
		return err
	}
	for _, f := range r.view.Files {
		if err := workflow.ExecuteActivity(chatOptions(ctx, time.Hour, 0), chat.Attach, r.view, f).Get(ctx, nil); err != nil {
			return err
		}
	}
	if n, ok := r.closing(); ok {
		return workflow.ExecuteActivity(chatOptions(ctx, time.Hour, 0), chat.Reply, r.view, n).Get(ctx, nil)
	}
	return nil
}

// noticeAfter is how long a run lasts before its end is told in a new message:
// an edited one notifies nobody, and whoever waited a minute looks elsewhere.
const noticeAfter = time.Minute

// closing is the notice with which a run ends: always after a failure, else
// only where people no longer watch.
func (r *Run) closing() (activities.Notice, bool) {
	switch r.view.State {
	case activities.Failed, activities.Partly, activities.Expired:
		return activities.Notice{Key: "end", Kind: "failed"}, true
	}
	return activities.Notice{Key: "end", Kind: "summary"}, r.view.Ended.Sub(r.view.Started) > noticeAfter
}

// notify posts a notice into the thread from beside the run.
func (r *Run) notify(ctx workflow.Context, n activities.Notice) {
	if r.Req.Place.Channel == "" {
		return
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	r.voice.idle.Add(1)
	view := r.view
	workflow.Go(free, func(ctx workflow.Context) {
		defer r.voice.idle.Done()
		_ = workflow.ExecuteActivity(chatOptions(ctx, time.Hour, 0), chat.Reply, view, n).Get(ctx, nil)
	})
}

// chatOptions bounds an act on the chat queue: within is the time from now to
// giving up, tries the number of attempts (zero: as many as fit).
func chatOptions(ctx workflow.Context, within time.Duration, tries int32) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              QueueChat,
		ScheduleToCloseTimeout: within,
		StartToCloseTimeout:    2 * time.Minute,
		HeartbeatTimeout:       15 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1.5, MaximumInterval: 20 * time.Second, MaximumAttempts: tries,
			// A channel that is gone or closed to the bot will not come back by trying.
			NonRetryableErrorTypes: []string{"UndeliverableError"}},
	})
}
