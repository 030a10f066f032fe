package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/workflows"
)

// Decide puts an approver's word to the run, which accepts or refuses it; the
// error is the run's own sentence. The same word twice is one decision.
func (c *Client) Decide(ctx context.Context, run string, d activities.Decision) error {
	id, err := c.find(ctx, run)
	if err != nil {
		return err
	}
	d.Reason = c.Redact(d.Reason)
	if d.Hash == "" {
		v, err := c.view(ctx, id)
		if err != nil {
			return err
		}
		if v.Gate != nil {
			d.Hash, d.Gate = v.Gate.Hash, v.Gate.ID
		}
	} else if len(d.Hash) < 64 {
		v, err := c.view(ctx, id)
		if err != nil {
			return err
		}
		if v.Gate != nil && strings.HasPrefix(v.Gate.Hash, d.Hash) {
			d.Hash = v.Gate.Hash
		}
	}
	return c.update(ctx, id, workflows.UpdateDecide, fmt.Sprintf("%s|%s|%s|%t", d.By.ID, d.Gate, d.Hash, d.Yes), d)
}

// Cancel stops a run at its next safe point. With no worker alive the order
// goes to the engine alone, which keeps it until one is.
func (c *Client) Cancel(ctx context.Context, run string, s workflows.Steer) error {
	id, err := c.find(ctx, run)
	if err != nil {
		return err
	}
	// Asked of the engine: the run knows an order of the same person again and
	// would answer as it did the first time.
	if err := c.mustRun(ctx, id); err != nil {
		return err
	}
	s.Reason = c.Redact(s.Reason)
	quick, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	err = c.update(quick, id, workflows.UpdateCancel, "cancel|"+s.By.ID, s)
	if err == nil || quick.Err() == nil {
		return err
	}
	return said(id, c.Temporal.CancelWorkflow(ctx, id, ""))
}

// mustRun refuses a run that is not there or has ended.
func (c *Client) mustRun(ctx context.Context, id string) error {
	info, err := c.Temporal.DescribeWorkflowExecution(ctx, id, "")
	if unknown(err) {
		return noRun(id)
	}
	if err != nil {
		return fmt.Errorf("asking for run %s: %w", id, err)
	}
	if info.GetWorkflowExecutionInfo().GetCloseTime() != nil {
		return fmt.Errorf("run %s has already ended; see runs show %s", id, id)
	}
	return nil
}

// frozen reports whether somebody froze the site.
func (c *Client) frozen(ctx context.Context) (bool, error) {
	info, err := c.Temporal.DescribeWorkflowExecution(ctx, workflows.FreezeHold, "")
	if unknown(err) {
		return false, nil
	}
	return err == nil && info.GetWorkflowExecutionInfo().GetCloseTime() == nil, err
}

// Pause and Resume hold a run at its next safe point and let it go on.
func (c *Client) Pause(ctx context.Context, run string, s workflows.Steer) error {
	return c.steer(ctx, run, workflows.UpdatePause, s)
}

// Resume lets a paused run go on.
func (c *Client) Resume(ctx context.Context, run string, s workflows.Steer) error {
	return c.steer(ctx, run, workflows.UpdateResume, s)
}

func (c *Client) steer(ctx context.Context, run, name string, s workflows.Steer) error {
	id, err := c.find(ctx, run)
	if err != nil {
		return err
	}
	s.Reason = c.Redact(s.Reason)
	return c.update(ctx, id, name, "", s)
}

func (c *Client) update(ctx context.Context, id, name, updateID string, arg any) error {
	h, err := c.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, UpdateID: updateID, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = h.Get(ctx, nil)
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("run %s did not answer: no worker is running; runs cancel works without one", id)
	}
	return said(id, err)
}

// record puts an entry into the audit log and fails when it cannot.
func (c *Client) record(ctx context.Context, e activities.AuditEntry) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	id := ID(e.Event + e.By.ID + e.At.String())
	e.Run = id
	run, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "record/" + id, TaskQueue: workflows.QueueFabric}, workflows.RecordWorkflow, e)
	if err == nil {
		err = run.Get(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("writing to the audit log: %w", err)
	}
	return nil
}

// Freeze stops changes until Unfreeze; a frozen site says who froze it.
func (c *Client) Freeze(ctx context.Context, by activities.Person, reason string) error {
	if by.ID == "" {
		return errors.New("nobody is named")
	}
	// Asked first, so that what does not happen is not recorded.
	if frozen, err := c.frozen(ctx); err != nil {
		return err
	} else if frozen {
		return errFrozen
	}
	reason = c.Redact(reason)
	if err := c.record(ctx, activities.AuditEntry{Op: "freeze", Event: "freeze", At: time.Now().UTC(), By: by, Reason: reason}); err != nil {
		return err
	}
	_, err := c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.FreezeHold, TaskQueue: workflows.QueueFabric, WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo: map[string]any{"holder": activities.Holder{Op: "freeze", By: by, Why: reason}},
	}, workflows.HoldWorkflow, activities.Holder{Op: "freeze", By: by, Why: reason})
	if isRunning(err) {
		return errFrozen
	}
	return err
}

var (
	errFrozen   = errors.New("the site is already frozen")
	errUnfrozen = errors.New("the site is not frozen")
)

// Unfreeze allows changes again.
func (c *Client) Unfreeze(ctx context.Context, by activities.Person) error {
	if frozen, err := c.frozen(ctx); err != nil {
		return err
	} else if !frozen {
		return errUnfrozen
	}
	if err := c.record(ctx, activities.AuditEntry{Op: "unfreeze", Event: "unfreeze", At: time.Now().UTC(), By: by}); err != nil {
		return err
	}
	if err := c.Temporal.CancelWorkflow(ctx, workflows.FreezeHold, ""); err != nil {
		return errUnfrozen
	}
	// Until the hold has ended a second unfreeze would be told that it thawed
	// the site. Without a worker nobody ends it; the order stands all the same.
	soon, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	_ = c.Temporal.GetWorkflow(soon, workflows.FreezeHold, "").Get(soon, nil)
	return nil
}
