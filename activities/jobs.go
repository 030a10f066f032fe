package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/fabricbot/fabricbot/hostexec"
)

// JobInput is one detached command on one host.
type JobInput struct {
	Host  string         `json:"host"`
	Lease hostexec.Lease `json:"lease"`
	// ID is the same for every attempt of the same step of the same run.
	ID   string   `json:"id"`
	Argv []string `json:"argv"`
}

// JobDone is how a detached command ended.
type JobDone struct {
	Exit   int    `json:"exit"`
	Output string `json:"output"`
}

// pollJobEvery is how often a detached job is looked at.
const pollJobEvery = 500 * time.Millisecond

// RunJob starts a detached job or attaches to the one that is already there,
// and waits for its end. Idempotent by the job's ID: the journal on the host
// never runs an ID twice, so a killed worker costs nothing but time. A job
// whose end nobody recorded is reported as unknown and left to a person.
func (h *Hosts) RunJob(ctx context.Context, in JobInput) (JobDone, error) {
	defer beat(ctx)()
	st, err := h.Change.StartJob(ctx, in.Host, in.Lease, hostexec.Job{ID: in.ID, Command: hostexec.Command{Argv: in.Argv, Sudo: true}})
	if err != nil {
		return JobDone{}, hostError(err)
	}
	for {
		switch st.State {
		case hostexec.Done:
			return JobDone{Exit: st.Exit, Output: lastLines(append(st.Output, st.Errors...), 5)}, nil
		case hostexec.Unknown:
			return JobDone{}, temporal.NewNonRetryableApplicationError(fmt.Sprintf(
				"%s on %s was begun but nobody knows how it ended (%s); it is not repeated: look at the host and decide", hostexec.Display(in.Argv), in.Host, st.Detail), "UnknownOutcome", nil)
		case hostexec.Fenced:
			return JobDone{}, temporal.NewNonRetryableApplicationError(fmt.Sprintf(
				"%s refused %s: another run has taken the host over (%s)", in.Host, hostexec.Display(in.Argv), st.Detail), "Fenced", nil)
		case hostexec.Busy:
			return JobDone{}, fmt.Errorf("%s is busy: %s", in.Host, st.Detail)
		case hostexec.Absent:
			return JobDone{}, fmt.Errorf("the journal of job %s is gone from %s", in.ID, in.Host)
		}
		select {
		case <-ctx.Done():
			return JobDone{}, ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return JobDone{}, fmt.Errorf("the worker stops; another one attaches to job %s on %s", in.ID, in.Host)
		case <-h.clock().After(pollJobEvery):
		}
		if st, err = h.Change.PollJob(ctx, in.Host, in.ID, st.OutputBytes); err != nil {
			return JobDone{}, hostError(err)
		}
	}
}
