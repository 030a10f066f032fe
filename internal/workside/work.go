package workside

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/site"
	"github.com/fabricbot/fabricbot/workflows"
)

// Side is the working half of a site.
type Side struct {
	// Archive is open for the chat side of the same process.
	Archive *site.Archive

	workers []worker.Worker
	hands   Hands
}

// Start opens everything and begins to serve the fabric and hosts queues.
func Start(ctx context.Context, s *site.Site, temporal client.Client) (*Side, error) {
	rules, err := s.Access(nil)
	if err != nil {
		return nil, err
	}
	log, err := s.OpenAudit()
	if err != nil {
		return nil, err
	}
	if _, err := s.VerifyAudit(); err != nil {
		s.Log.Error("the audit log does not prove itself", zap.Error(err))
	}
	archive, err := s.OpenArchive(ctx)
	if err != nil {
		return nil, err
	}
	pool, err := NewPool(s)
	if err != nil {
		return nil, err
	}
	side := &Side{Archive: archive, hands: Hands{pool}}
	hosts := &activities.Hosts{
		Look: side.hands, Change: side.hands, Site: s.Inventory, Archive: archive, Engine: engine{temporal},
		Log: log, Rules: s.Rules(rules), Artist: artist{}, Clean: s.Redact.Bytes, Zap: s.Log,
	}
	fabric := worker.New(temporal, workflows.QueueFabric, worker.Options{StickyScheduleToStartTimeout: time.Second, WorkerStopTimeout: 10 * time.Second})
	workflows.Register(fabric)
	acts := worker.New(temporal, workflows.QueueHosts, worker.Options{WorkerStopTimeout: 10 * time.Second, MaxConcurrentActivityExecutionSize: 200})
	acts.RegisterActivityWithOptions(hosts, activity.RegisterOptions{})
	for _, w := range []worker.Worker{fabric, acts} {
		if err := w.Start(); err != nil {
			side.Stop()
			return nil, err
		}
		side.workers = append(side.workers, w)
	}
	return side, nil
}

// Stop lets running acts detach and closes the connections.
func (s *Side) Stop() {
	for _, w := range s.workers {
		w.Stop()
	}
	s.hands.Close()
}

// engine answers who holds a named thing.
type engine struct{ client.Client }

// Holder asks the hold itself; a hold that is not there has no holder.
func (e engine) Holder(ctx context.Context, id string) (activities.Holder, error) {
	var h activities.Holder
	info, err := e.DescribeWorkflowExecution(ctx, id, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	if info.GetWorkflowExecutionInfo().GetCloseTime() != nil {
		return h, nil
	}
	answer, err := e.QueryWorkflow(ctx, id, "", workflows.QueryHolder)
	if err != nil {
		return h, err
	}
	return h, answer.Get(&h)
}
