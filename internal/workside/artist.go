package workside

import (
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/pictures"
)

// artist draws for the activities.
type artist struct{}

// Topology draws a fabric and marks what changed since before.
func (artist) Topology(now, before *fabric.Topology, title string, at, since time.Time) (png, svg []byte, alt string, err error) {
	o := pictures.Options{Fabric: title, Taken: at, Since: since}
	if before != nil {
		o.Diff = fabric.Compare(before, now, fabric.DiffOptions{})
		o.Old = before
	}
	p, err := pictures.Topology(now, o)
	return p.PNG, p.SVG, p.Alt, err
}
