package workflows

import (
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// RunInput names a run, and says why where that matters.
type RunInput struct {
	Run    string `json:"run"`
	Reason string `json:"reason,omitempty"`
}

// ListInput picks runs.
type ListInput struct {
	State string `json:"state"`
	Most  int    `json:"most"`
}

// ReasonInput is the reason of a freeze.
type ReasonInput struct {
	Reason string `json:"reason"`
}

// HostsInput picks hosts of the inventory.
type HostsInput struct {
	Hosts fabric.HostExpr `json:"hosts"`
}

// HelpInput names the operation to explain.
type HelpInput struct {
	Topic string `json:"topic"`
}

// runSpec declares a word about one run; why is an example of its reason,
// empty where none is asked for.
func runSpec(name, summary, why string) op.Spec[RunInput] {
	example, reason := "4f2c09a1", why != ""
	if reason {
		example += " " + why
	}
	return op.Spec[RunInput]{
		Name: name, Summary: summary, Class: op.Control, Examples: []string{example},
		Params: func(p *op.Params, in *RunInput) {
			p.Text(&in.Run, "run", "", "the run's id, or its beginning", "4f2c09a1")
			p.Require("run")
			p.Positional("run")
			if reason {
				p.Text(&in.Reason, "reason", "", "why, for the record", "")
				p.Rest("reason")
			}
		},
	}
}

// controlEntries declares the words that steer runs and the bot; what they do
// is in internal/runs.
func controlEntries() []op.Entry {
	return []op.Entry{
		runSpec("runs show", "show a run with its steps, plan and result", "").Entry(),
		runSpec("runs cancel", "stop a run at the next safe point", "the maintenance window is over").Entry(),
		runSpec("runs pause", "hold a run at the next safe point", "a job still runs on node007").Entry(),
		runSpec("runs resume", "let a paused run go on", "").Entry(),
		runSpec("approve", "approve the plan that a run shows now", "seen with the storage team").Entry(),
		runSpec("deny", "refuse the plan that a run shows now", "not during the review").Entry(),
		op.Spec[ListInput]{
			Name: "runs list", Summary: "list runs, newest first", Class: op.Control, Examples: []string{"", "-state running"},
			Params: func(p *op.Params, in *ListInput) {
				p.Choice(&in.State, "state", "all", []string{"all", "running", "ended"}, "which runs")
				p.Int(&in.Most, "most", 15, 1, 100, "how many")
			},
		}.Entry(),
		op.Spec[ReasonInput]{
			Name: "freeze", Summary: "stop every change until unfreeze", Class: op.Control, Examples: []string{"conference deadline until Friday"},
			Detail: "Runs that only look go on. Runs that change hosts and have not begun to act are refused.",
			Params: func(p *op.Params, in *ReasonInput) {
				p.Text(&in.Reason, "reason", "", "why, shown to everybody who asks for a change", "")
				p.Require("reason")
				p.Rest("reason")
			},
		}.Entry(),
		op.Spec[struct{}]{Name: "unfreeze", Summary: "allow changes again", Class: op.Control, Examples: []string{""}}.Entry(),
		op.Spec[HostsInput]{
			Name: "hosts", Summary: "list hosts and groups of the inventory", Class: op.Control, Examples: []string{"-hosts node[001-004]", ""},
			Params: func(p *op.Params, in *HostsInput) {
				p.Var(&in.Hosts, "hosts", op.KindHosts, "which hosts; all groups without", "@rack:r7")
			},
		}.Entry(),
		op.Spec[HelpInput]{
			Name: "help", Summary: "explain the operations", Class: op.Control, Examples: []string{"", "sm restart"},
			Params: func(p *op.Params, in *HelpInput) {
				p.Text(&in.Topic, "topic", "", "operation to explain", "sm restart")
				p.Rest("topic")
			},
		}.Entry(),
	}
}
