package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// SMStatusInput picks the host to look from.
type SMStatusInput struct {
	From fabric.HostExpr `json:"from,omitempty"`
}

// SMStatusResult lists every subnet manager of the subnet and what is wrong.
type SMStatusResult struct {
	Summary  string               `json:"summary"`
	Survey   activities.SMSurvey  `json:"survey"`
	Findings []activities.Finding `json:"findings,omitempty"`
}

var _ = declare(Operation[SMStatusInput, SMStatusResult]{
	Spec: op.Spec[SMStatusInput]{
		Name: "sm status", Summary: "list every subnet manager with state, priority and activity", Class: op.ReadOnly,
		Detail: "Finds the master that the port believes in and every other port with an SM, asks each directly, and reports " +
			"no master, two masters, a master that hangs, strays, equal priorities and missing standbys.",
		Examples: []string{"", "-from node001"},
		Params: func(p *op.Params, in *SMStatusInput) {
			p.Var(&in.From, "from", op.KindHosts, "look from one of these hosts instead of any", "node001")
		},
	},
	Body: smStatus,
	Sample: SMStatusResult{
		Summary: "node001 is master, 1 standby",
		Survey: activities.SMSurvey{
			From: activities.Vantage{Host: "node001", CA: "mlx5_0", Port: 1, LID: 1, SMLID: 1, State: fabric.PortActive},
			SMs: []activities.SMSeen{
				{GUID: 0x100001, LID: 1, Priority: 14, State: fabric.SMMaster, Activity: 4711, Growing: true, Node: "node001 mlx5_0", Host: "node001", Planned: true},
				{GUID: 0x100011, LID: 5, Priority: 13, State: fabric.SMStandby, Activity: 12, Node: "node002 mlx5_0", Host: "node002", Planned: true},
			},
			Believed: 0x100001,
		},
	},
})

func smStatus(ctx workflow.Context, r *Run, in SMStatusInput) (SMStatusResult, error) {
	var out SMStatusResult
	from, err := r.vantage(ctx, activities.VantageInput{From: in.From})
	if err != nil {
		return out, err
	}
	if out.Survey, err = r.survey(ctx, from); err != nil {
		return out, err
	}
	if err := workflow.ExecuteActivity(lookOptions(ctx, time.Minute), hosts.FindSMTrouble, out.Survey).Get(ctx, &out.Findings); err != nil {
		return out, err
	}
	out.Summary = smSummary(out.Survey)
	return out, nil
}

// vantage finds the port to look from, as a visible step.
func (r *Run) vantage(ctx workflow.Context, in activities.VantageInput) (activities.Vantage, error) {
	var v activities.Vantage
	err := r.Step(ctx, "", "find a port to look from", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 3*time.Minute), hosts.FindVantage, in).Get(ctx, &v)
		return v.String(), err
	})
	return v, err
}

// survey lists the subnet managers, as a visible step.
func (r *Run) survey(ctx workflow.Context, from activities.Vantage) (activities.SMSurvey, error) {
	var s activities.SMSurvey
	err := r.Step(ctx, from.Host, "ask every subnet manager", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 3*time.Minute), hosts.SurveySMs, from).Get(ctx, &s)
		return smSummary(s), err
	})
	return s, err
}

func smSummary(s activities.SMSurvey) string {
	masters, standbys := s.Masters(), s.Standbys()
	switch len(masters) {
	case 0:
		return "no master answers"
	case 1:
		return fmt.Sprintf("%s is master, %d standby", masters[0].Name(), len(standbys))
	}
	return fmt.Sprintf("%d masters, %d standby", len(masters), len(standbys))
}
