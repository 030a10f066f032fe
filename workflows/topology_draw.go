package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// TopologyDrawInput picks the picture.
type TopologyDrawInput struct {
	At    string          `json:"at,omitempty"`
	Since string          `json:"since,omitempty"`
	Look  fabric.HostExpr `json:"look,omitempty"`
}

// TopologyDrawResult is what the picture shows.
type TopologyDrawResult struct {
	Summary string `json:"summary"`
}

var _ = declare(Operation[TopologyDrawInput, TopologyDrawResult]{
	Spec: op.Spec[TopologyDrawInput]{
		Name: "topology draw", Summary: "draw the fabric as a picture", Class: op.ReadOnly,
		Detail:   "Posts a PNG for the channel and an SVG beside it. With -since the changes since that backup are marked.",
		Examples: []string{"", "-since 2026-11-30", "-at 3f9d2c41"},
		Params: func(p *op.Params, in *TopologyDrawInput) {
			p.Text(&in.At, "at", "", "a backup to draw: a commit, a run or a date; the fabric as it is now without", "3f9d2c41")
			p.Text(&in.Since, "since", "", "mark what changed since this backup; \"last\" is the newest", "last")
			p.Var(&in.Look, "look", op.KindHosts, "look from one of these hosts instead of any", "node001")
		},
	},
	Body:   topologyDraw,
	Sample: TopologyDrawResult{Summary: "16 hosts on 4 leaves and 2 spines; every link at full speed"},
})

func topologyDraw(ctx workflow.Context, r *Run, in TopologyDrawInput) (TopologyDrawResult, error) {
	var out TopologyDrawResult
	ask := activities.DrawInput{Run: r.Req.Run, Cluster: r.Site.Cluster, At: in.At, Since: in.Since}
	if in.At == "" {
		from, err := r.vantage(ctx, activities.VantageInput{From: in.Look})
		if err != nil {
			return out, err
		}
		state, err := r.sweep(ctx, from, "discover the fabric")
		if err != nil {
			return out, err
		}
		ask.Sweep = state.Discover
	}
	var drawn activities.Drawn
	if err := r.Step(ctx, "", "draw", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 5*time.Minute), hosts.DrawTopology, ask).Get(ctx, &drawn)
		return drawn.Alt, err
	}); err != nil {
		return out, err
	}
	r.Attach(ctx, drawn.Files...)
	out.Summary = drawn.Alt
	return out, nil
}
