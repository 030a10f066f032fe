package runs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/workflows"
)

// engine is a workflow engine that keeps what it is told and, when it is
// asked, fails.
type engine struct {
	client.Client
	told []any
}

var errEngine = errors.New("the engine does not answer")

func (e *engine) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e.told = append(e.told, o.Args...)
	return nil, errEngine
}

func (e *engine) ExecuteWorkflow(_ context.Context, _ client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	e.told = append(e.told, args...)
	return nil, errEngine
}

func (e *engine) GetWorkflow(context.Context, string, string) client.WorkflowRun { return silent{} }

// DescribeWorkflowExecution knows running runs and no freeze.
func (e *engine) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if id == workflows.FreezeHold {
		return nil, serviceerror.NewNotFound("no such run")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING}}, nil
}

type silent struct{ client.WorkflowRun }

func (silent) Get(context.Context, any) error { return errEngine }

// What people give as a reason is shown in the channel and kept by the engine.
func TestReasonsAreRedacted(t *testing.T) {
	e := &engine{}
	c := &Client{Temporal: e, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") }}
	by := activities.Person{ID: "T0TEAM:U0ANNA"}
	steer := workflows.Steer{By: by, Reason: "password hunter2"}
	for name, act := range map[string]func() error{
		"deny": func() error {
			return c.Decide(t.Context(), "4f2c09a1d3e5b6c7", activities.Decision{By: by, Hash: strings.Repeat("0", 64), Reason: steer.Reason})
		},
		"cancel": func() error { return c.Cancel(t.Context(), "4f2c09a1d3e5b6c7", steer) },
		"pause":  func() error { return c.Pause(t.Context(), "4f2c09a1d3e5b6c7", steer) },
		"freeze": func() error { return c.Freeze(t.Context(), by, steer.Reason) },
	} {
		e.told = nil
		if err := act(); !errors.Is(err, errEngine) {
			t.Errorf("%s: %v", name, err)
		}
		if len(e.told) != 1 {
			t.Fatalf("%s: the engine was told %v", name, e.told)
		}
		got := ""
		switch told := e.told[0].(type) {
		case activities.Decision:
			got = told.Reason
		case workflows.Steer:
			got = told.Reason
		case activities.AuditEntry:
			got = told.Reason
		}
		if got != "password [hidden]" {
			t.Errorf("%s: the engine keeps the reason %q", name, got)
		}
	}
}

// A run whose result cannot be read now, as on a full disk, has not failed.
func TestListedIsNotFailed(t *testing.T) {
	c := &Client{Temporal: &engine{}}
	for status, want := range map[enums.WorkflowExecutionStatus]activities.State{
		enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:  activities.Ended,
		enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: activities.Failed,
	} {
		v := c.listed(t.Context(), &workflowpb.WorkflowExecutionInfo{Status: status, Execution: &common.WorkflowExecution{WorkflowId: "4f2c09a1d3e5b6c7"}})
		if v.State != want {
			t.Errorf("%s is listed as %q (%s), want %q", status, v.State, v.Error, want)
		}
	}
}
