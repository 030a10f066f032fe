package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/internal/audit"
)

// AuditLog is the site's audit log as runs write it.
type AuditLog struct {
	log     *audit.Log
	cluster string
}

// OpenAudit opens the log for appending.
func (s *Site) OpenAudit() (*AuditLog, error) {
	if err := os.MkdirAll(filepath.Dir(s.Config.Audit), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the audit log: %w", err)
	}
	l, err := audit.Open(s.Config.Audit, s.Redact.String)
	if err != nil {
		return nil, err
	}
	return &AuditLog{l, s.Config.Cluster.Name}, nil
}

// VerifyAudit reads the whole log and says whether each line continues the one
// before. A last line that a crash tore is no error: the next entry records it.
func (s *Site) VerifyAudit() (audit.Report, error) {
	f, err := os.Open(s.Config.Audit)
	if err != nil {
		return audit.Report{}, fmt.Errorf("reading the audit log: %w", err)
	}
	defer f.Close()
	report, err := audit.Verify(f)
	if audit.IsTornTail(err) {
		err = nil
	}
	return report, err
}

// Append adds an entry unless it is there already.
func (a *AuditLog) Append(ctx context.Context, e activities.AuditEntry) error {
	targets := ""
	if len(e.Targets) > 0 {
		set, err := fabric.NewHostSet(e.Targets...)
		if err != nil {
			return err
		}
		targets = set.String()
	}
	_, err := a.log.Append(ctx, audit.Entry{
		Time: e.At, Event: e.Event, Run: e.Run, Number: e.Number, Cluster: a.cluster, Operation: e.Op, Words: e.Words,
		By: e.By.ID, Via: e.Via, Reason: e.Reason, PlanHash: e.Hash, Targets: targets, Result: e.Result,
	})
	return err
}
