package runs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// A listed run shows no time that was never set, whatever the engine knows.
func TestSketch(t *testing.T) {
	begun := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
	c := &Client{Cluster: "alpha"}
	running := &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "4f2c09a1d3"}, Type: &commonpb.WorkflowType{Name: "sm restart"},
		StartTime: timestamppb.New(begun),
	}
	ended := &workflowpb.WorkflowExecutionInfo{
		Execution: running.Execution, Type: running.Type, StartTime: running.StartTime, CloseTime: timestamppb.New(begun.Add(time.Minute)),
	}
	if v := c.sketch(running); v.Cluster != "alpha" || v.Class != "dangerous" || !v.Updated.Equal(begun) || !v.Ended.IsZero() {
		t.Errorf("running: got %+v", v)
	}
	v := c.sketch(ended)
	if !v.Ended.Equal(begun.Add(time.Minute)) || !v.Updated.Equal(v.Ended) {
		t.Errorf("ended: got %+v", v)
	}
	if text, err := json.Marshal(v); err != nil || strings.Contains(string(text), "0001-01-01") {
		t.Errorf("JSON %s, error %v: it has a time that was never set", text, err)
	}
}
