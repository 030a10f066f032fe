package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/workflows"
)

// Inventory is what the control word hosts shows.
type Inventory interface {
	fabric.HostSource
	Info(host string) (activities.HostInfo, bool)
}

// Client starts, shows and steers runs.
type Client struct {
	Temporal  client.Client
	Inventory Inventory
	Cluster   string
	// Redact hides secrets in what people typed, before it is stored or shown.
	Redact func(string) string
}

// idBytes makes a collision of two requests, which would be taken for one,
// unlikely for as long as any site lives: about 1 in 10^7 after a million runs.
// People use the first eight digits.
const idBytes = 8

// ID makes a run's id from whatever identifies the request that causes it, so
// that the same request is the same run however often it is delivered.
func ID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:idBytes])
}

// same identifies a command by what it means, not by who typed it when.
func same(cluster, operation string, input activities.Data) string {
	sum := sha256.Sum256([]byte(cluster + "\x00" + operation + "\x00" + string(input)))
	return hex.EncodeToString(sum[:10])
}

// Request prepares a request; key identifies its cause, input is the parsed
// input of the operation.
func (c *Client) Request(key, operation, words string, input any, by activities.Person, place activities.Place, at time.Time) (activities.Request, error) {
	data, err := activities.Pack(input)
	if err != nil {
		return activities.Request{}, err
	}
	return activities.Request{
		Run: ID(key), Op: operation, Input: data, Words: words, By: by, Place: place, At: at,
		Same: same(c.Cluster, operation, data),
	}, nil
}

// admissionWait is how long Start waits for a worker to take the run up
// before it returns the view of a run that nobody has begun.
const admissionWait = 2 * time.Second

// Start starts the run, or finds the one that this request started before, and
// returns its view once a worker has taken it up.
func (c *Client) Start(ctx context.Context, r activities.Request) (activities.View, error) {
	if err := c.checkTargets(r); err != nil {
		return activities.View{}, err
	}
	r.Words = c.Redact(r.Words)
	if r.Same == "" {
		r.Same = same(c.Cluster, r.Op, r.Input)
	}
	_, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: r.Run, TaskQueue: workflows.QueueFabric,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowTaskTimeout:      10 * time.Second,
		Memo:                     map[string]any{"request": memo{Op: r.Op, Words: r.Words, By: r.By, At: r.At}},
		StaticSummary:            r.Op + " by " + r.By.ID,
	}, r.Op, r)
	var ended *serviceerror.WorkflowExecutionAlreadyStarted
	if err != nil && !errors.As(err, &ended) {
		return activities.View{}, fmt.Errorf("the workflow engine did not take %s (%w); look at runs list before you try again, it may have begun", r.Op, err)
	}
	first := activities.View{Run: r.Run, Op: r.Op, Words: r.Words, By: r.By, Place: r.Place, Cluster: c.Cluster, State: activities.Requested, Started: r.At, Updated: r.At}
	ctx, cancel := context.WithTimeout(ctx, admissionWait)
	defer cancel()
	for {
		v, err := c.view(ctx, r.Run)
		if err == nil && v.State != activities.Requested {
			return v, nil
		}
		select {
		case <-ctx.Done():
			return first, nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// View returns what a run shows now; run may be the beginning of an id.
func (c *Client) View(ctx context.Context, run string) (activities.View, error) {
	id, err := c.find(ctx, run)
	if err != nil {
		return activities.View{}, err
	}
	return c.view(ctx, id)
}

func (c *Client) view(ctx context.Context, id string) (activities.View, error) {
	var v activities.View
	answer, err := c.Temporal.QueryWorkflow(ctx, id, "", workflows.QueryView)
	if unknown(err) {
		return v, noRun(id)
	}
	if err != nil {
		return v, fmt.Errorf("asking run %s for its view (is a worker running?): %w", id, err)
	}
	return v, answer.Get(&v)
}

// Wait follows a run to its end, calling show for every new view, and returns
// its outcome.
func (c *Client) Wait(ctx context.Context, run string, show func(activities.View)) (activities.Outcome, error) {
	done := make(chan struct{})
	var out activities.Outcome
	var err error
	go func() {
		defer close(done)
		err = c.Temporal.GetWorkflow(ctx, run, "").Get(ctx, &out)
	}()
	last := -1
	look := func() {
		if v, err := c.view(ctx, run); err == nil && v.Seq != last {
			last = v.Seq
			show(v)
		}
	}
	for {
		select {
		case <-done:
			look()
			return out, err
		case <-time.After(400 * time.Millisecond):
			look()
		}
	}
}

// noRun is the answer to the id of a run that the engine does not know.
func noRun(id string) error { return fmt.Errorf("there is no run %s; runs list shows them", id) }

func unknown(err error) bool {
	var gone *serviceerror.NotFound
	return errors.As(err, &gone)
}

// said turns the engine's refusal into the sentence that the run gave.
func said(run string, err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return errors.New(app.Message())
	}
	if unknown(err) {
		return fmt.Errorf("run %s has ended", run)
	}
	return err
}
