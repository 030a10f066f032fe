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

// TopologyBackupInput picks where to look from and which hosts to ask.
type TopologyBackupInput struct {
	From    fabric.HostExpr `json:"from,omitempty"`
	Hosts   fabric.HostExpr `json:"hosts,omitempty"`
	Smaller bool            `json:"smaller,omitempty"`
}

// TopologyBackupResult says what was stored and what changed.
type TopologyBackupResult struct {
	Summary string                   `json:"summary"`
	Commit  string                   `json:"commit"`
	Files   int                      `json:"files"`
	Fabric  activities.FabricState   `json:"fabric"`
	Delta   activities.TopologyDelta `json:"delta"`
	// Asked and Answered count hosts for ibstat; Silent lists some without an
	// answer.
	Asked    int                      `json:"asked"`
	Answered int                      `json:"answered"`
	Silent   []activities.HostTrouble `json:"silent,omitempty"`
	// Missing names texts that could not be had.
	Missing  []string             `json:"missing,omitempty"`
	Findings []activities.Finding `json:"findings,omitempty"`
}

var _ = declare(Operation[TopologyBackupInput, TopologyBackupResult]{
	Spec: op.Spec[TopologyBackupInput]{
		Name: "topology backup", Summary: "store the fabric's topology, records and SM configuration in the archive", Class: op.ReadOnly,
		Detail: "Looks from any healthy port: ibnetdiscover, iblinkinfo, node and SM records, ibstat of every host, the subnet managers' " +
			"configuration without its keys. One commit per run, with checksums; the message names what changed since the last one. " +
			"Hosts are only read.",
		Examples: []string{"", "-from node001"},
		Params: func(p *op.Params, in *TopologyBackupInput) {
			p.Var(&in.From, "from", op.KindHosts, "look from one of these hosts instead of any", "node001")
			p.Var(&in.Hosts, "hosts", op.KindHosts, "ask these hosts for ibstat instead of all that are not in maintenance", "@rack:r7")
			p.Bool(&in.Smaller, "smaller", "store also a fabric much smaller than the last one")
		},
	},
	Body: topologyBackup,
	Sample: TopologyBackupResult{
		Summary: "16 adapters, 8 switches, 40 links stored; 1 cable lost since 2026-11-30 06:00 UTC", Commit: "3f9d2c41aa07", Files: 26,
		Fabric: activities.FabricState{Counts: fabric.Counts{CAs: 16, Switches: 8, Links: 40}, Active: 40},
		Asked:  16, Answered: 15, Silent: []activities.HostTrouble{{Host: "node009", Text: "unreachable: connection refused"}},
		Delta: activities.TopologyDelta{Since: "91b2", Summary: "1 cable lost", Lines: []string{"cable lost: node007 – leaf02 port 7 (4X NDR)"}},
	},
})

// hostBatch is how many hosts one act asks: bounded so that a lost worker
// repeats little, large so that history stays small.
const hostBatch = 100

func topologyBackup(ctx workflow.Context, r *Run, in TopologyBackupInput) (TopologyBackupResult, error) {
	var out TopologyBackupResult
	if err := workflow.ExecuteActivity(lookOptions(ctx, time.Minute), hosts.CheckArchive).Get(ctx, nil); err != nil {
		return out, err
	}
	from, err := r.vantage(ctx, activities.VantageInput{From: in.From})
	if err != nil {
		return out, err
	}
	if out.Fabric, err = r.sweep(ctx, from, "discover the fabric"); err != nil {
		return out, err
	}
	var records, conf activities.Records
	if err := r.Step(ctx, from.Host, "read node, SM and multicast records", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 18*time.Minute), hosts.SweepRecords, from).Get(ctx, &records)
		return count(len(records.Texts), "text"), err
	}); err != nil {
		return out, err
	}
	texts, err := r.askPorts(ctx, in.Hosts, &out)
	if err != nil {
		return out, err
	}
	if err := r.Step(ctx, "", "read the subnet managers' configuration", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 5*time.Minute), hosts.SMFiles).Get(ctx, &conf)
		return count(len(conf.Texts), "file") + ", keys withheld", err
	}); err != nil {
		return out, err
	}
	out.Missing = slices.Concat(records.Missing, conf.Missing)
	var done activities.StoreDone
	if err := r.Step(ctx, "", "store and compare with the last backup", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 5*time.Minute), hosts.StoreTopology, activities.StoreInput{
			Run: r.Req.Run, Cluster: r.Site.Cluster, By: r.Req.By, State: out.Fabric,
			Texts: slices.Concat(records.Texts, conf.Texts), Hosts: texts, Smaller: in.Smaller,
		}).Get(ctx, &done)
		return done.Delta.Summary, err
	}); err != nil {
		return out, err
	}
	out.Commit, out.Files, out.Delta = done.Commit, done.Files, done.Delta
	if done.Delta.Text != "" {
		r.Attach(ctx, activities.File{Name: "changes.txt", Title: "All changes since the last backup", Blob: done.Delta.Text})
	}
	out.sum()
	if len(out.Silent) > 0 {
		return out, &PartlyError{fmt.Sprintf("the fabric is stored; %d of %d hosts did not answer", out.Asked-out.Answered, out.Asked)}
	}
	return out, nil
}

// askPorts asks every host for ibstat in batches and returns the blobs.
func (r *Run) askPorts(ctx workflow.Context, expr fabric.HostExpr, out *TopologyBackupResult) ([]string, error) {
	var names, blobs []string
	if err := workflow.ExecuteActivity(lookOptions(ctx, 30*time.Second), hosts.ResolveOrAll, expr).Get(ctx, &names); err != nil {
		return nil, err
	}
	out.Asked = len(names)
	err := r.Step(ctx, "", "ask "+count(len(names), "host")+" for ibstat", func() (string, error) {
		for batch := range slices.Chunk(names, hostBatch) {
			var p activities.HostPorts
			if err := workflow.ExecuteActivity(lookOptions(ctx, 10*time.Minute), hosts.AskHostPorts, batch).Get(ctx, &p); err != nil {
				return "", err
			}
			out.Answered += p.Answered
			if room := exceptionsMost - len(out.Silent); room > 0 {
				out.Silent = append(out.Silent, p.Silent[:min(room, len(p.Silent))]...)
			}
			blobs = append(blobs, p.Texts)
			r.Progress(ctx, min(len(blobs)*hostBatch, len(names)), len(names), "hosts")
		}
		return fmt.Sprintf("%d of %d answered", out.Answered, out.Asked), nil
	})
	return blobs, err
}

// exceptionsMost bounds the hosts named in a result; the archive has them all.
const exceptionsMost = 20

func (out *TopologyBackupResult) sum() {
	out.Summary = inventory(out.Fabric) + " stored"
	switch {
	case out.Delta.Since == "":
		out.Summary += "; this is the first backup"
	default:
		out.Summary += "; " + out.Delta.Summary + " since " + out.Delta.SinceAt.UTC().Format("2006-01-02 15:04 MST")
	}
	if out.Fabric.Trouble != "" {
		out.Findings = append(out.Findings, activities.Finding{Severity: activities.Unknown, Text: "the discovery is partial: " + out.Fabric.Trouble})
	}
	if n := out.Fabric.Initializing + out.Fabric.Armed; n > 0 {
		out.Findings = append(out.Findings, activities.Finding{Severity: activities.Fail, Text: count(n, "port") + " up but not Active", Action: "sm status"})
	}
	for _, m := range out.Missing {
		out.Findings = append(out.Findings, activities.Finding{Severity: activities.Warn, Text: "not stored: " + m})
	}
}
