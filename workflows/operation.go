package workflows

import (
	"fmt"
	"sort"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
)

// Task queues. Chat is served where the Slack token is, Hosts where the SSH
// keys are, Fabric runs the workflows.
const (
	QueueFabric = "fabric"
	QueueHosts  = "hosts"
	QueueChat   = "chat"
)

// Operation is the whole truth about one operation: In is what a person asks
// for, Out what the run found or did.
type Operation[In, Out any] struct {
	op.Spec[In]
	// Subnet says that it acts on subnet management as a whole, whichever
	// hosts it changes: one such run at a time.
	Subnet bool
	// Plan looks at every target and says what would change. Required for
	// classes above read-only, absent otherwise.
	Plan func(ctx workflow.Context, r *Run, in In) (activities.Plan, error)
	// Body does the work. For planned operations r.Plan is what was approved
	// and r.Lease holds every host of the plan.
	Body func(ctx workflow.Context, r *Run, in In) (Out, error)
	// Sample is a believable result; it feeds goldens, docs and previews.
	Sample Out
}

// Entry is an operation with its types erased, as the programs use it.
type Entry struct {
	op.Entry
	// Sample is the declaration's sample result.
	Sample any

	planned    bool
	run        func(workflow.Context, activities.Request) (activities.Outcome, error)
	readResult func(activities.Data) (any, error)
	readInput  func(activities.Data) (any, error)
}

// Input gives a request's input its type back.
func (e Entry) Input(d activities.Data) (any, error) { return e.readInput(d) }

// Result gives a run's result its type back.
func (e Entry) Result(d activities.Data) (any, error) { return e.readResult(d) }

var catalog []Entry

// declare adds an operation to the catalog; called from package variables
// only, so the catalog is complete before main and read-only afterwards.
func declare[In, Out any](o Operation[In, Out]) bool {
	catalog = append(catalog, Entry{
		Entry:   o.Spec.Entry(),
		Sample:  o.Sample,
		planned: o.Plan != nil,
		run: func(ctx workflow.Context, req activities.Request) (activities.Outcome, error) {
			return frame(ctx, &o, req)
		},
		readInput: func(d activities.Data) (any, error) {
			var in In
			err := d.Unpack(&in)
			return in, err
		},
		readResult: func(d activities.Data) (any, error) {
			var out Out
			err := d.Unpack(&out)
			return out, err
		},
	})
	return true
}

// Catalog returns all operations sorted by name.
func Catalog() []Entry {
	c := append([]Entry(nil), catalog...)
	sort.Slice(c, func(i, j int) bool { return c[i].Name < c[j].Name })
	return c
}

// Lookup finds an operation by its exact name.
func Lookup(name string) (Entry, bool) {
	for _, e := range catalog {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Index indexes the operations and the control words together: the whole
// grammar.
func Index() (*op.Index, error) {
	entries := controlEntries()
	for _, e := range Catalog() {
		if e.Class.NeedsPlan() != e.planned {
			return nil, fmt.Errorf("operation %q: class %v and its plan do not fit together", e.Name, e.Class)
		}
		entries = append(entries, e.Entry)
	}
	return op.NewIndex(entries)
}

// Register registers every operation's workflow by the operation's name, and
// the workflows beneath them.
func Register(w worker.WorkflowRegistry) {
	for _, e := range catalog {
		w.RegisterWorkflowWithOptions(e.run, workflow.RegisterOptions{Name: e.Name})
	}
	w.RegisterWorkflowWithOptions(Hold, workflow.RegisterOptions{Name: HoldWorkflow})
	w.RegisterWorkflowWithOptions(Record, workflow.RegisterOptions{Name: RecordWorkflow})
}
