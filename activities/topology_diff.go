package activities

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
)

// TopologyDelta is what changed between two snapshots, ready for people.
type TopologyDelta struct {
	// Since is the older snapshot, empty when there is none.
	Since   string    `json:"since,omitempty"`
	SinceAt time.Time `json:"since_at,omitzero"`
	// Summary is one sentence; Lines are the changes, the most important
	// first, at most deltaMost, and More counts the rest.
	Summary string            `json:"summary"`
	Lines   []string          `json:"lines,omitempty"`
	More    int               `json:"more,omitempty"`
	Counts  fabric.DiffCounts `json:"counts"`
	// Suspicious says why the newer one may be half a discovery.
	Suspicious string `json:"suspicious,omitempty"`
	// Text is the blob of the full list when it is longer than Lines.
	Text string `json:"text,omitempty"`
}

// deltaMost bounds the lines that travel through a run's history and message.
const deltaMost = 40

func (h *Hosts) deltaSince(ctx context.Context, id string, at time.Time, now *fabric.Topology) (TopologyDelta, error) {
	old, err := h.storedTopology(ctx, id)
	if err != nil {
		return TopologyDelta{}, err
	}
	return h.delta(ctx, id, at, old, now)
}

func (h *Hosts) storedTopology(ctx context.Context, id string) (*fabric.Topology, error) {
	b, err := h.Archive.Read(ctx, id, discoverFile)
	if err != nil {
		return nil, err
	}
	topo, err := parse.IBNetDiscover(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %.12s: %w", id, err)
	}
	return topo, nil
}

func (h *Hosts) delta(ctx context.Context, id string, at time.Time, old, now *fabric.Topology) (TopologyDelta, error) {
	d := fabric.Compare(old, now, fabric.DiffOptions{InMaintenance: func(host string) bool {
		info, ok := h.Site.Info(host)
		return ok && info.Maintenance
	}})
	out := TopologyDelta{Since: id, SinceAt: at, Summary: d.Summary(), Counts: d.Counts, Suspicious: d.Suspicious}
	for i, c := range d.Changes {
		if i == deltaMost {
			out.More = len(d.Changes) - i
			var all strings.Builder
			for _, c := range d.Changes {
				all.WriteString(c.Text + "\n")
			}
			var err error
			out.Text, _, err = h.Archive.PutBlob(ctx, strings.NewReader(all.String()))
			return out, err
		}
		out.Lines = append(out.Lines, c.Text)
	}
	return out, nil
}

// DiffInput names two pictures of the fabric: What of an archive snapshot (a
// commit, a run, a date; empty for the newest), or the blob of a sweep.
type DiffInput struct {
	Run     string `json:"run"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	ToSweep string `json:"to_sweep,omitempty"`
}

// DiffTopology compares two pictures. Only looks.
func (h *Hosts) DiffTopology(ctx context.Context, in DiffInput) (TopologyDelta, error) {
	id, at, err := h.snapshot(ctx, in.Run, in.From)
	if err != nil {
		return TopologyDelta{}, err
	}
	var now *fabric.Topology
	if in.ToSweep != "" {
		now, err = h.topologyBlob(ctx, in.ToSweep)
	} else {
		var to string
		if to, _, err = h.snapshot(ctx, in.Run, in.To); err == nil {
			now, err = h.storedTopology(ctx, to)
		}
	}
	if err != nil {
		return TopologyDelta{}, err
	}
	return h.deltaSince(ctx, id, at, now)
}

// snapshot finds the stored snapshot that a person means.
func (h *Hosts) snapshot(ctx context.Context, run, what string) (string, time.Time, error) {
	if what != "" {
		id, at, err := h.Archive.Find(ctx, TopologyKind, what)
		if err != nil {
			return "", at, final("%v", err)
		}
		return id, at, nil
	}
	id, at, ok, err := h.Archive.Last(ctx, TopologyKind, run)
	if err == nil && !ok {
		err = final("there is no backup of this fabric yet; run topology backup first")
	}
	return id, at, err
}
