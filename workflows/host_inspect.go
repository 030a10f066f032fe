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

// HostInspectInput names the hosts.
type HostInspectInput struct {
	Hosts fabric.HostExpr `json:"hosts"`
}

// HostInspectResult counts what was found; the tables are files.
type HostInspectResult struct {
	Summary  string                   `json:"summary"`
	Hosts    int                      `json:"hosts"`
	Good     int                      `json:"good"`
	Cards    int                      `json:"cards"`
	Ports    int                      `json:"ports"`
	Active   int                      `json:"active"`
	Silent   []activities.HostTrouble `json:"silent,omitempty"`
	Findings []activities.Finding     `json:"findings,omitempty"`
	// More counts findings beyond those listed; the file has all.
	More int `json:"more,omitempty"`
}

var _ = declare(Operation[HostInspectInput, HostInspectResult]{
	Spec: op.Spec[HostInspectInput]{
		Name: "host inspect", Summary: "look at adapters, PCIe, driver, firmware and ports of hosts", Class: op.ReadOnly,
		Detail: "Cards with PCIe width and speed against what they can, NUMA node, driver and firmware, PSID, ports with state and rate, " +
			"network interfaces. A host that does not answer is named and does not stop the others.",
		Examples: []string{"-hosts node[001-004]", "-hosts @rack:r7"},
		Params: func(p *op.Params, in *HostInspectInput) {
			p.Var(&in.Hosts, "hosts", op.KindHosts, "which hosts", "node[001-016]")
			p.Require("hosts")
		},
	},
	Body: hostInspect,
	Sample: HostInspectResult{
		Summary: "4 hosts: 4 cards, 4 ports, 3 Active", Hosts: 4, Good: 4, Cards: 4, Ports: 4, Active: 3,
		Findings: []activities.Finding{{Severity: activities.Warn, Text: "node003: card 0000:3b:00.0 runs PCIe 8GT/s x8, it can 16GT/s x16"}},
	},
})

func hostInspect(ctx workflow.Context, r *Run, in HostInspectInput) (HostInspectResult, error) {
	var out HostInspectResult
	var names, blobs []string
	if err := workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.Resolve, in.Hosts).Get(ctx, &names); err != nil {
		return out, err
	}
	out.Hosts = len(names)
	if err := r.Step(ctx, "", "look at "+count(len(names), "host"), func() (string, error) {
		for batch := range slices.Chunk(names, hostBatch) {
			var d activities.InspectDone
			if err := workflow.ExecuteActivity(lookOptions(ctx, 15*time.Minute), hosts.Inspect, batch).Get(ctx, &d); err != nil {
				return "", err
			}
			out.add(d)
			blobs = append(blobs, d.Facts)
			r.Progress(ctx, min(len(blobs)*hostBatch, len(names)), len(names), "hosts")
		}
		return fmt.Sprintf("%d answered", out.Good), nil
	}); err != nil {
		return out, err
	}
	var files []activities.File
	if err := workflow.ExecuteActivity(lookOptions(ctx, 5*time.Minute), hosts.InspectFiles, blobs).Get(ctx, &files); err != nil {
		return out, err
	}
	r.Attach(ctx, files...)
	out.Summary = fmt.Sprintf("%s: %s, %s, %d Active", count(out.Good, "host"), count(out.Cards, "card"), count(out.Ports, "port"), out.Active)
	if out.Good == 0 && len(out.Silent) > 0 {
		return out, refuse("none of %d hosts answered: %s: %s", out.Hosts, out.Silent[0].Host, out.Silent[0].Text)
	}
	if silent := out.Hosts - out.Good; silent > 0 {
		return out, &PartlyError{fmt.Sprintf("%d of %d hosts did not answer", silent, out.Hosts)}
	}
	return out, nil
}

func (out *HostInspectResult) add(d activities.InspectDone) {
	out.Good += d.Good
	out.Cards += d.Cards
	out.Ports += d.Ports
	out.Active += d.Active
	if room := exceptionsMost - len(out.Silent); room > 0 {
		out.Silent = append(out.Silent, d.Silent[:min(room, len(d.Silent))]...)
	}
	room := max(0, exceptionsMost-len(out.Findings))
	shown := min(room, len(d.Findings))
	out.Findings = append(out.Findings, d.Findings[:shown]...)
	out.More += d.More + len(d.Findings) - shown
}
