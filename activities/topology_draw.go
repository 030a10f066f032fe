package activities

import (
	"bytes"
	"context"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
)

// Artist draws fabrics.
type Artist interface {
	// Topology draws a fabric; before may be nil, else what changed since is
	// marked. at and since are when the two were taken. alt says what the picture
	// shows.
	Topology(now, before *fabric.Topology, title string, at, since time.Time) (png, svg []byte, alt string, err error)
}

// DrawInput picks the fabric to draw: a sweep's blob, or a stored snapshot.
type DrawInput struct {
	Run     string `json:"run"`
	Cluster string `json:"cluster"`
	Sweep   string `json:"sweep,omitempty"`
	At      string `json:"at,omitempty"`
	Since   string `json:"since,omitempty"`
}

// Drawn is a picture in the archive.
type Drawn struct {
	Alt   string `json:"alt"`
	Files []File `json:"files"`
}

// DrawTopology draws and stores the picture. Idempotent: stored by content.
func (h *Hosts) DrawTopology(ctx context.Context, in DrawInput) (Drawn, error) {
	defer beat(ctx)()
	var d Drawn
	var now, before *fabric.Topology
	var since time.Time
	at, err := h.clock().Now(), error(nil)
	if in.Sweep != "" {
		now, err = h.topologyBlob(ctx, in.Sweep)
	} else {
		var id string
		if id, at, err = h.snapshot(ctx, in.Run, in.At); err == nil {
			now, err = h.storedTopology(ctx, id)
		}
	}
	if err == nil && in.Since != "" {
		what := in.Since
		if what == "last" {
			what = ""
		}
		var id string
		if id, since, err = h.snapshot(ctx, in.Run, what); err == nil {
			before, err = h.storedTopology(ctx, id)
		}
	}
	if err != nil {
		return d, err
	}
	png, svg, alt, err := h.Artist.Topology(now, before, in.Cluster, at, since)
	if err != nil {
		return d, final("the fabric could not be drawn: %v", err)
	}
	d.Alt = alt
	for _, f := range []struct {
		name string
		body []byte
	}{{"topology.png", png}, {"topology.svg", svg}} {
		blob, size, err := h.Archive.PutBlob(ctx, bytes.NewReader(f.body))
		if err != nil {
			return d, err
		}
		d.Files = append(d.Files, File{Name: f.name, Title: "Topology of " + in.Cluster, Alt: alt, Blob: blob, Bytes: size})
	}
	return d, nil
}
