package runs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/workflows"
)

// memo is what a run's listing shows without asking a worker.
type memo struct {
	Op    string            `json:"op"`
	Words string            `json:"words"`
	By    activities.Person `json:"by"`
	At    time.Time         `json:"at"`
}

// List returns runs, newest first, each with as much as the engine knows
// without a worker: the state of one that has not ended is "running" or, when a
// worker answers, its own.
func (c *Client) List(ctx context.Context, state string, most int) ([]activities.View, error) {
	query := "WorkflowType NOT IN ('" + workflows.HoldWorkflow + "', '" + workflows.RecordWorkflow + "')"
	switch state {
	case "running":
		query += " AND ExecutionStatus = 'Running'"
	case "ended":
		query += " AND ExecutionStatus != 'Running'"
	}
	var views []activities.View
	var page []byte
	for {
		answer, err := c.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: int32(min(most, 100)), NextPageToken: page})
		if err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		for _, e := range answer.Executions {
			if views = append(views, c.listed(ctx, e)); len(views) == most {
				return views, nil
			}
		}
		if page = answer.NextPageToken; len(page) == 0 {
			return views, nil
		}
	}
}

func (c *Client) listed(ctx context.Context, e *workflowpb.WorkflowExecutionInfo) activities.View {
	v := c.sketch(e)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if e.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		if now, err := c.view(ctx, v.Run); err == nil {
			return now
		}
		return v
	}
	var out activities.Outcome
	err := c.Temporal.GetWorkflow(ctx, v.Run, "").Get(ctx, &out)
	switch {
	case err == nil:
	case e.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		// It ended by itself; only how it ended cannot be read at this moment.
		v.State, v.Error = activities.Ended, "how it ended cannot be read now: "+err.Error()
		return v
	default:
		v.State, v.Error = activities.Failed, "the run was ended from outside: "+strings.ToLower(e.GetStatus().String())
		return v
	}
	v.State, v.Error, v.Result, v.Of = out.State, out.Error, out.Result, out.Of
	return v
}

// sketch is what the engine itself knows of a run.
func (c *Client) sketch(e *workflowpb.WorkflowExecutionInfo) activities.View {
	started := e.GetStartTime().AsTime()
	v := activities.View{
		Run: e.GetExecution().GetWorkflowId(), Op: e.GetType().GetName(), Cluster: c.Cluster,
		State: activities.Running, Started: started, Updated: started,
	}
	if known, ok := workflows.Lookup(v.Op); ok {
		v.Class = known.Class.String()
	}
	var m memo
	if p, ok := e.GetMemo().GetFields()["request"]; ok && converter.GetDefaultDataConverter().FromPayload(p, &m) == nil {
		v.Words, v.By = m.Words, m.By
	}
	if closed := e.GetCloseTime(); closed != nil {
		v.Ended = closed.AsTime()
		v.Updated = v.Ended
	}
	return v
}

var idPattern = regexp.MustCompile(`^[0-9a-f]{3,40}$`)

// find completes the beginning of a run's id.
func (c *Client) find(ctx context.Context, run string) (string, error) {
	run = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(run), "run "))
	if !idPattern.MatchString(run) {
		return "", fmt.Errorf("%q is not a run's id; ids look like 4f2c09a1, runs list shows them", run)
	}
	if len(run) == 2*idBytes {
		return run, nil
	}
	answer, err := c.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId STARTS_WITH '%s'", run), PageSize: 3})
	if err != nil {
		return "", fmt.Errorf("looking for run %s: %w", run, err)
	}
	switch len(answer.Executions) {
	case 0:
		return "", noRun(run)
	case 1:
		return answer.Executions[0].GetExecution().GetWorkflowId(), nil
	}
	return "", fmt.Errorf("several runs begin with %s; give more of the id", run)
}

func isRunning(err error) bool {
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	return errors.As(err, &running)
}
