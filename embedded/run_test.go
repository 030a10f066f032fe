package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/internal/engine"
)

var activityName = activity.RegisterOptions{Name: "say"}

func say(_ context.Context, word string) (string, error) { return word, nil }

// nap sleeps and then says its word through an activity.
func nap(ctx workflow.Context, word string, d time.Duration) (string, error) {
	if d > 0 {
		if err := workflow.Sleep(ctx, d); err != nil {
			return "", err
		}
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})
	var out string
	err := workflow.ExecuteActivity(ctx, "say", word).Get(ctx, &out)
	return out, err
}

func TestRunWorkflowWithSearchAttribute(t *testing.T) {
	s := shared(t)
	c, err := client.Dial(s.ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := newWorker(c)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "run-1", TaskQueue: testQueue, TypedSearchAttributes: temporal.NewSearchAttributes(opKey.ValueSet("port-show")),
	}, "nap", "hello", time.Duration(0))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := run.Get(t.Context(), &got); err != nil || got != "hello" {
		t.Fatalf("got %q, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = repeat(ctx, "visibility", func() error {
		n, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: `FabricOp = "port-show" AND ExecutionStatus = "Completed"`})
		if err == nil && n.Count < 1 {
			err = errors.New("not listed yet")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNamespaceHasRetention(t *testing.T) {
	shared(t)
	c := dialDir(t, sharedDir)
	d, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: engine.DefaultNamespace})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Config.WorkflowExecutionRetentionTtl.AsDuration(); got != DefaultRetention {
		t.Errorf("retention %s, want %s", got, DefaultRetention)
	}
}

func TestRecord(t *testing.T) {
	s := shared(t)
	b, err := os.ReadFile(filepath.Join(sharedDir, engine.MetaFile))
	if err != nil {
		t.Fatal(err)
	}
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if m != s.Meta() {
		t.Errorf("recorded %+v, running %+v", m, s.Meta())
	}
	if m.ServerVersion != "1.32.1" || m.SQLiteSchema != "0.11" || m.HistoryShards != 4 || m.Created.IsZero() || m.LastStarted.IsZero() {
		t.Errorf("record %+v", m)
	}
}

// TestDatabaseIsDurable wants the settings under which an acknowledged approval survives a power cut.
func TestDatabaseIsDurable(t *testing.T) {
	shared(t)
	wal := filepath.Join(sharedDir, databaseFile+"-wal")
	if _, err := os.Stat(wal); err != nil {
		t.Errorf("no write-ahead log: %v", err)
	}
	attr := storage("/x", 4).DataStores["sqlite"].SQL
	if attr.ConnectAttributes["synchronous"] != "full" || attr.ConnectAttributes["journal_mode"] != "wal" || attr.MaxConns != 1 {
		t.Errorf("storage %+v", attr)
	}
}

// TestFilesArePrivate walks the data directory: nothing in it may be open to another user.
func TestFilesArePrivate(t *testing.T) {
	shared(t)
	n := 0
	err := filepath.Walk(sharedDir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			if os.IsNotExist(err) { // SQLite's companions come and go
				return nil
			}
			return err
		}
		n++
		if p := info.Mode().Perm(); p&0o077 != 0 {
			t.Errorf("%s has mode %04o", path, p)
		}
		return nil
	})
	if err != nil || n < 9 {
		t.Errorf("walked %d files: %v", n, err)
	}
}
