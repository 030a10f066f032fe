package workflows

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/engine"
)

var record = flag.Bool("record", false, "record the histories in testdata/histories anew, with the engine that FABRICBOT_ENGINE names")

// histories are the runs whose histories must replay for ever: one for each
// operation under its slug, and endings that take another way. A change that
// breaks one would break the runs that are waiting for an approval at a site
// while it is upgraded; it needs workflow.GetVersion.
var histories = []struct {
	name, op, input string
	decide          *bool
}{
	{"host-inspect", "host inspect", `{"hosts":"node[001-003]"}`, nil},
	{"sm-status", "sm status", `{}`, nil},
	{"sm-restart", "sm restart", `{}`, new(true)},
	{"sm-restart-denied", "sm restart", `{}`, new(false)},
	{"topology-backup", "topology backup", `{}`, nil},
	{"topology-diff", "topology diff", `{}`, nil},
	{"topology-draw", "topology draw", `{"since":"last"}`, nil},
}

const historiesDir = "testdata/histories"

// TestHistories replays every recorded history against today's workflows.
func TestHistories(t *testing.T) {
	if *record {
		recordHistories(t)
	}
	files, err := filepath.Glob(filepath.Join(historiesDir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < len(histories) {
		t.Errorf("%d histories in %s, want at least %d: run `make histories`", len(files), historiesDir, len(histories))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			Register(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet{}, file); err != nil {
				t.Errorf("%v\nruns that began before this change could not go on after it: version the change with workflow.GetVersion", err)
			}
		})
	}
}

// recordHistories plays the runs against a real engine and the fake site. It
// never replaces a history that is there: an old one is worth more.
func recordHistories(t *testing.T) {
	dir := os.Getenv("FABRICBOT_ENGINE")
	if dir == "" {
		t.Fatal("FABRICBOT_ENGINE names no engine: run `make histories`")
	}
	config, err := engine.FromDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	config.Identity = "recorder"
	temporal, err := engine.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer temporal.Close()
	site := newFakeSite()
	for _, queue := range []string{QueueFabric, QueueHosts, QueueChat} {
		w := worker.New(temporal, queue, worker.Options{})
		switch queue {
		case QueueFabric:
			Register(w)
		case QueueHosts:
			w.RegisterActivity(site.hosts())
		case QueueChat:
			w.RegisterActivity(&activities.Chat{Voice: site})
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
	}
	for _, h := range histories {
		path := filepath.Join(historiesDir, h.name+".json")
		history := play(t, temporal, h.name, h.op, h.input, h.decide)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		// The SDK names a worker's own queue after its machine.
		machine, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(history)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(`"`+machine+`:`), []byte(`"worker:`))
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("recorded %s: %d events", path, len(history.Events))
	}
}

// play lets one run happen, decides on it as asked, and returns its history.
func play(t *testing.T, temporal client.Client, name, op, input string, decide *bool) *historypb.History {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run, err := temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: name, TaskQueue: QueueFabric}, op, activities.Request{
		Run: name, Op: op, Input: activities.Data(input), Words: op, By: asker,
		Place: activities.Place{Team: "T1", Channel: "C1"}, At: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Same: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	if decide != nil {
		decideOn(ctx, t, temporal, name, *decide)
	}
	var out activities.Outcome
	if err := run.Get(ctx, &out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if want := map[bool]activities.State{true: activities.Done, false: activities.Denied}[decide == nil || *decide]; out.State != want {
		t.Fatalf("%s ended %s: %s", name, out.State, out.Error)
	}
	events := temporal.GetWorkflowHistory(ctx, name, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	history := &historypb.History{}
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		history.Events = append(history.Events, e)
	}
	return history
}

// decideOn waits for the gate to open and decides.
func decideOn(ctx context.Context, t *testing.T, temporal client.Client, name string, yes bool) {
	t.Helper()
	for ctx.Err() == nil {
		var v activities.View
		if answer, err := temporal.QueryWorkflow(ctx, name, "", QueryView); err == nil && answer.Get(&v) == nil && v.Gate != nil {
			h, err := temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
				WorkflowID: name, UpdateName: UpdateDecide, WaitForStage: client.WorkflowUpdateStageCompleted,
				Args: []any{activities.Decision{By: boss, Yes: yes, Gate: v.Gate.ID, Hash: v.Gate.Hash}},
			})
			if err == nil {
				err = h.Get(ctx, nil)
			}
			if err != nil {
				t.Fatalf("%s: deciding: %v", name, err)
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s never asked for approval", name)
}
