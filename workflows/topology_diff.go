package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// TopologyDiffInput names the two pictures to compare.
type TopologyDiffInput struct {
	From string          `json:"from,omitempty"`
	To   string          `json:"to,omitempty"`
	Look fabric.HostExpr `json:"look,omitempty"`
}

// TopologyDiffResult is what changed, in sentences.
type TopologyDiffResult struct {
	Summary string                   `json:"summary"`
	Delta   activities.TopologyDelta `json:"delta"`
	// Live says that the newer picture was taken just now.
	Live     bool                 `json:"live"`
	Findings []activities.Finding `json:"findings,omitempty"`
}

var _ = declare(Operation[TopologyDiffInput, TopologyDiffResult]{
	Spec: op.Spec[TopologyDiffInput]{
		Name: "topology diff", Summary: "say what changed on the fabric since a backup", Class: op.ReadOnly,
		Detail: "Compares the newest backup with the fabric as it is now, or two backups. Names instead of GUIDs: nodes lost, new, moved or " +
			"replaced, cables lost, new or re-cabled, links slower or faster, renamed nodes, changed LIDs. Hosts under maintenance are folded into one line.",
		Examples: []string{"", "-from 2026-11-30", "-from 3f9d2c41 -to 91b2e0ac"},
		Params: func(p *op.Params, in *TopologyDiffInput) {
			p.Text(&in.From, "from", "", "older picture: a commit, a run, or a date (the last backup of that day); the newest backup without", "2026-11-30")
			p.Text(&in.To, "to", "", "newer picture, named likewise; the fabric as it is now without", "91b2e0ac")
			p.Var(&in.Look, "look", op.KindHosts, "look from one of these hosts instead of any", "node001")
		},
	},
	Body: topologyDiff,
	Sample: TopologyDiffResult{
		Summary: "1 cable lost, 1 link slower", Live: true,
		Delta: activities.TopologyDelta{Since: "3f9d2c41aa07", Summary: "1 cable lost, 1 link slower", Lines: []string{
			"cable lost: node007 – leaf02 port 7 (4X NDR)", "link slower: leaf01 port 20 – spine02 port 1, 4X NDR → 1X NDR",
		}},
	},
})

func topologyDiff(ctx workflow.Context, r *Run, in TopologyDiffInput) (TopologyDiffResult, error) {
	var out TopologyDiffResult
	ask := activities.DiffInput{Run: r.Req.Run, From: in.From, To: in.To}
	if in.To == "" {
		from, err := r.vantage(ctx, activities.VantageInput{From: in.Look})
		if err != nil {
			return out, err
		}
		state, err := r.sweep(ctx, from, "discover the fabric")
		if err != nil {
			return out, err
		}
		out.Live, ask.ToSweep = true, state.Discover
	}
	if err := r.Step(ctx, "", "compare", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 3*time.Minute), hosts.DiffTopology, ask).Get(ctx, &out.Delta)
		return out.Delta.Summary, err
	}); err != nil {
		return out, err
	}
	out.Summary = out.Delta.Summary + " since " + out.Delta.SinceAt.UTC().Format("2006-01-02 15:04 MST")
	if out.Delta.Suspicious != "" {
		out.Findings = append(out.Findings, activities.Finding{Severity: activities.Unknown, Text: out.Delta.Suspicious})
	}
	if out.Delta.Text != "" {
		r.Attach(ctx, activities.File{Name: "changes.txt", Title: "All changes", Blob: out.Delta.Text})
	}
	return out, nil
}
