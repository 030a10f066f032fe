package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

// RecordWorkflow is the registered name of Record.
const RecordWorkflow = "record"

// Record writes one audit entry for control words, which have no run of their
// own: the log lives with the worker, the words may be typed elsewhere.
func Record(ctx workflow.Context, e activities.AuditEntry) error {
	return workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.Audit, e).Get(ctx, nil)
}
