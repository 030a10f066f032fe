package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// SMRestartInput picks the managers to restart.
type SMRestartInput struct {
	// Hosts limits the restart; empty means every planned manager.
	Hosts fabric.HostExpr `json:"hosts,omitempty"`
	// Alone allows restarting a master that has no standby.
	Alone bool `json:"alone,omitempty"`
}

// SMRestartResult proves what the restart did to the fabric.
type SMRestartResult struct {
	Summary string `json:"summary"`
	// Restarted lists the hosts in the order they were restarted.
	Restarted []string `json:"restarted"`
	// Handovers lists every change of the master.
	Handovers []Handover `json:"handovers"`
	// GapSeconds is the longest time without a proven master.
	GapSeconds float64                `json:"gap_seconds"`
	Before     activities.FabricState `json:"before"`
	After      activities.FabricState `json:"after"`
	LIDs       activities.LIDDelta    `json:"lids"`
	Survey     activities.SMSurvey    `json:"survey"`
	Findings   []activities.Finding   `json:"findings,omitempty"`
}

// Handover is one change of the master.
type Handover struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Seconds from the order to stop the old master until the new one had
	// proven itself: an upper bound of the time without one.
	Seconds float64 `json:"seconds"`
}

var _ = declare(Operation[SMRestartInput, SMRestartResult]{
	Spec: op.Spec[SMRestartInput]{
		Name: "sm restart", Summary: "restart the subnet managers, standby first, with proof after each step", Class: op.Dangerous,
		Approval: op.Approval{Count: 1},
		Detail: "Each standby is restarted and must come back as STANDBY before the master is touched. Then the master is stopped, " +
			"a standby takes over and proves itself, and the old master starts again. Traffic that is set up keeps flowing meanwhile; " +
			"new paths wait for a master. LIDs and port states are compared with those before. If a standby does not come back, the run stops there.",
		Examples: []string{"", "-hosts node002"},
		Params: func(p *op.Params, in *SMRestartInput) {
			p.Var(&in.Hosts, "hosts", op.KindHosts, "only these managers instead of all", "node002")
			p.Bool(&in.Alone, "alone", "allow restarting a master that has no standby")
		},
	},
	Subnet: true,
	Plan:   planSMRestart,
	Body:   smRestart,
	Sample: SMRestartResult{
		Summary:   "2 subnet managers restarted; 4.2 s at most without a master; 24 LIDs unchanged, all 40 ports Active",
		Restarted: []string{"node002", "node001"}, GapSeconds: 4.2,
		Handovers: []Handover{{From: "node001", To: "node002", Seconds: 4.2}, {From: "node002", To: "node001", Seconds: 1.1}},
		Before:    activities.FabricState{Counts: fabric.Counts{CAs: 16, Switches: 8, Links: 40}, Active: 40},
		After:     activities.FabricState{Counts: fabric.Counts{CAs: 16, Switches: 8, Links: 40}, Active: 40},
		LIDs:      activities.LIDDelta{Same: 24},
	},
})

// smPair is a manager as the fabric shows it and as its host runs it.
type smPair struct {
	Seen    activities.SMSeen
	Service activities.SMService
}

func (p smPair) ref() activities.SMRef {
	return activities.SMRef{LID: p.Seen.LID, GUID: p.Seen.GUID, Name: p.Seen.Name()}
}

// lookAtSMs surveys the subnet and reads the services of the planned managers.
func (r *Run) lookAtSMs(ctx workflow.Context) (activities.SMSurvey, []smPair, error) {
	from, err := r.vantage(ctx, activities.VantageInput{})
	if err != nil {
		return activities.SMSurvey{}, nil, err
	}
	survey, err := r.survey(ctx, from)
	if err != nil {
		return survey, nil, err
	}
	var names []string
	for _, m := range survey.SMs {
		if m.Host != "" && m.Planned {
			names = append(names, m.Host)
		}
	}
	slices.Sort(names)
	var services []activities.SMService
	err = r.Step(ctx, "", "read service and configuration of each manager", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 2*time.Minute), hosts.SMServices, names).Get(ctx, &services)
		return count(len(services), "host"), err
	})
	if err != nil {
		return survey, nil, err
	}
	var pairs []smPair
	for _, s := range services {
		for _, m := range survey.SMs {
			if m.Host == s.Host {
				pairs = append(pairs, smPair{m, s})
			}
		}
	}
	return survey, pairs, nil
}

func planSMRestart(ctx workflow.Context, r *Run, in SMRestartInput) (activities.Plan, error) {
	survey, pairs, err := r.lookAtSMs(ctx)
	if err != nil {
		return activities.Plan{}, err
	}
	wanted, err := r.resolveOptional(ctx, in.Hosts)
	if err != nil {
		return activities.Plan{}, err
	}
	if err := restartAllowed(survey, pairs, wanted, in.Alone); err != nil {
		return activities.Plan{}, err
	}
	p := activities.Plan{
		Rollback: "a manager that does not come back is left stopped and named; the others keep their running configuration",
		Facts:    map[string]string{},
	}
	for _, pair := range inRestartOrder(pairs, wanted) {
		p.Changes = append(p.Changes, activities.PlanLine{
			Host: pair.Service.Host, Device: pair.Seen.GUID.String(), What: "restart " + pair.Service.Unit,
			Note: fmt.Sprintf("%s, priority %d", pair.Seen.State, pair.Seen.Priority),
		})
		p.Facts["configuration of "+pair.Service.Host] = pair.Service.Conf + " sha256 " + pair.Service.ConfSum
		p.Facts["partitions of "+pair.Service.Host] = "sha256 " + pair.Service.PartitionsSum
	}
	p.Summary, p.Effects, p.Warnings = describeRestart(survey, pairs, p)
	var sealed activities.Plan
	err = workflow.ExecuteActivity(lookOptions(ctx, 10*time.Second), hosts.SealPlan, p).Get(ctx, &sealed)
	return sealed, err
}

// describeRestart words the plan: what, what people notice, what to beware of.
func describeRestart(survey activities.SMSurvey, pairs []smPair, p activities.Plan) (summary string, effects, warnings []string) {
	summary = "restart " + count(len(p.Changes), "subnet manager") + ", standby first"
	master := survey.Masters()[0]
	if slices.Contains(p.Hosts(), master.Host) {
		var slowest time.Duration
		for _, pair := range pairs {
			if pair.Seen.State == fabric.SMStandby {
				slowest = max(slowest, pair.Service.Takeover)
			}
		}
		if slowest > 0 {
			effects = append(effects, fmt.Sprintf("%s stops being master; a standby takes over within about %s by its polling settings", master.Name(), slowest.Round(time.Second)))
		} else {
			effects = append(effects, master.Name()+" has no standby: there is no master until it has started again")
		}
		effects = append(effects, "connections that exist keep running; new connections, multicast joins and link changes wait until there is a master")
	} else {
		effects = append(effects, "the master is not touched; nothing is noticed while it lives")
	}
	for i := 1; i < len(pairs); i++ {
		a, b := pairs[0].Service, pairs[i].Service
		if a.Package != b.Package {
			warnings = append(warnings, fmt.Sprintf("different versions: %s on %s, %s on %s", a.Package, a.Host, b.Package, b.Host))
		}
	}
	return summary, effects, warnings
}

// restartAllowed is the list of preconditions (domain C.4 step 1).
func restartAllowed(survey activities.SMSurvey, pairs []smPair, wanted []string, alone bool) error {
	masters := survey.Masters()
	switch {
	case len(masters) == 0:
		return refuse("no subnet manager answers as master; a restart would not mend that blindly: look at sm status and start opensm on the planned host")
	case len(masters) > 1:
		return refuse("there are %d masters; a restart now could swap the whole fabric between them: stop all but one first (see sm status)", len(masters))
	case !masters[0].Growing:
		return refuse("%s is master but hangs (its activity count stands still); stop it by hand so that a standby takes over, then run this again", masters[0].Name())
	case !masters[0].Planned:
		return refuse("the master is %s, which the inventory does not name as a subnet manager; give it role: sm or stop it first", masters[0].Name())
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(pairs, func(p smPair) bool { return p.Service.Host == w }) {
			return refuse("%s runs no planned subnet manager of this subnet", w)
		}
	}
	standbys := 0
	for _, p := range pairs {
		if p.Service.Trouble != "" {
			return refuse("the manager on %s cannot be read: %s", p.Service.Host, p.Service.Trouble)
		}
		if p.Seen.State == fabric.SMStandby {
			standbys++
		}
		if a, b := pairs[0].Service, p.Service; a.KeysSum != b.KeysSum || a.SubnetPrefix != b.SubnetPrefix || a.RoutingEngine != b.RoutingEngine || a.PartitionsSum != b.PartitionsSum {
			return refuse("%s and %s are configured differently (%s): a hand-over would change the fabric; make them equal first", a.Host, b.Host, difference(a, b))
		}
	}
	touchesMaster := len(wanted) == 0 || slices.Contains(wanted, masters[0].Host)
	if touchesMaster && standbys == 0 && !alone {
		return refuse("%s has no healthy standby; nothing would configure the fabric while it restarts. Start a standby, or repeat with -alone", masters[0].Name())
	}
	return nil
}

func difference(a, b activities.SMService) string {
	switch {
	case a.KeysSum != b.KeysSum:
		return "sm_key, sa_key or m_key"
	case a.SubnetPrefix != b.SubnetPrefix:
		return "subnet_prefix"
	case a.RoutingEngine != b.RoutingEngine:
		return "routing_engine"
	}
	return "partitions"
}

// inRestartOrder puts standbys before the master, each group by name.
func inRestartOrder(pairs []smPair, wanted []string) []smPair {
	var order []smPair
	for _, state := range []bool{false, true} {
		for _, p := range pairs {
			if (p.Seen.State == fabric.SMMaster) == state && (len(wanted) == 0 || slices.Contains(wanted, p.Service.Host)) {
				order = append(order, p)
			}
		}
	}
	return order
}

// resolveOptional resolves an expression that may be left out.
func (r *Run) resolveOptional(ctx workflow.Context, expr fabric.HostExpr) ([]string, error) {
	if expr == "" {
		return nil, nil
	}
	var names []string
	err := workflow.ExecuteActivity(lookOptions(ctx, 10*time.Second), hosts.Resolve, expr).Get(ctx, &names)
	return names, err
}
