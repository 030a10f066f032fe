package pictures

import (
	"fmt"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/layout"
)

// Options says what Topology writes and marks beside the fabric itself. All of
// it may be left out.
type Options struct {
	// Fabric is the fabric's name in the title.
	Fabric string
	// Taken is when the discovery ran; if zero the discovery's own date line is
	// written.
	Taken time.Time
	// Diff is marked in the picture; Old is the topology that it compares with, needed
	// to draw what is lost.
	Diff *fabric.Diff
	Old  *fabric.Topology
	// Since is when Old was taken; if zero the picture says "before".
	Since time.Time
	// NamedHosts is the largest number of hosts that are all named; 0 means
	// layout.DefaultNamedHosts.
	NamedHosts int
}

// Topology draws a fabric. Links slower than their siblings and ports that are
// not active are marked, and so is what o.Diff says.
func Topology(t *fabric.Topology, o Options) (Picture, error) {
	drawn := t
	if o.Diff != nil && o.Old != nil {
		drawn = withLost(t, o.Old, o.Diff)
	}
	fonts := newFonts()
	f := find(drawn, o.Diff)
	l := layout.Of(drawn, layout.Options{
		Measure: func(text string, size float64) float64 {
			face := face(fonts, size, size == layout.TitleSize)
			return face.Width(text).Points()
		},
		Node: func(g fabric.GUID) []layout.Note { return f.nodes[g] },
		Cable: func(c fabric.Link) []layout.Note {
			notes := f.cables[keyOf(c.A, c.B)]
			if len(notes) == 0 && f.isLost(c) {
				return []layout.Note{{Mark: layout.Lost}}
			}
			return notes
		},
		NamedHosts: o.NamedHosts,
	})
	h := headings(t, o, f)
	s := newSheet(l, h, f, fonts)
	return render(s.width, s.height, h.alt(), fonts, s.paint)
}

// heading is the text around the drawing.
type heading struct {
	title  string
	counts string
	// findings are whole sentences without a full stop, the first the most important.
	findings []string
	mark     layout.Mark
	// examples are the first changes in words, for those who cannot see them.
	examples []string
	of       string
}

func headings(t *fabric.Topology, o Options, f *findings) heading {
	h := heading{title: "InfiniBand fabric"}
	if o.Fabric != "" {
		h.title = "Fabric " + o.Fabric
	}
	hosts, tiers := layout.Tally(t)
	var switches []string
	for tier, n := range tiers {
		if n > 0 {
			switches = append(switches, layout.Count(n, layout.TierName(tier, len(tiers))))
		}
	}
	h.of = layout.Count(hosts, "host")
	parts := append([]string{h.of}, switches...)
	if len(switches) > 0 {
		h.of += " on " + and(switches)
	}
	parts = append(parts, layout.Count(cables(t), "cable"))
	if f.rate != "" {
		parts = append(parts, f.rate)
	}
	if date := taken(t, o); date != "" {
		parts = append(parts, date)
	}
	h.counts = strings.Join(parts, "  ·  ")
	if o.Diff != nil {
		if o.Diff.Suspicious != "" {
			h.findings, h.mark = append(h.findings, strings.TrimSuffix(o.Diff.Suspicious, ".")), layout.Lost
		}
		h.findings = append(h.findings, "Compared with "+before(o)+": "+strings.TrimPrefix(o.Diff.Summary(), "suspicious discovery: "))
		d := *o.Diff
		d.Suspicious = ""
		if len(d.Changes) > 0 {
			h.examples = d.Lines(5)
		}
		for m := range f.marks {
			h.mark = max(h.mark, m)
		}
		return h
	}
	if len(f.down) > 0 {
		h.findings, h.mark = append(h.findings, sentence(f.down, "link", "not active")), layout.Down
	}
	if len(f.slow) > 0 {
		h.findings, h.mark = append(h.findings, sentence(f.slow, "link", "slow")), max(h.mark, layout.Slow)
	}
	return h
}

// before names the older picture of a comparison.
func before(o Options) string {
	if o.Since.IsZero() {
		return "before"
	}
	return o.Since.UTC().Format("2006-01-02 15:04 UTC")
}

// cables counts cables; what leads to the reduction engine inside a switch is none.
func cables(t *fabric.Topology) int {
	n := 0
	for _, l := range t.Links() {
		a, b := t.Node(l.A.Node), t.Node(l.B.Node)
		if (a == nil || !a.IsAggregation()) && (b == nil || !b.IsAggregation()) {
			n++
		}
	}
	return n
}

func taken(t *fabric.Topology, o Options) string {
	if !o.Taken.IsZero() {
		return o.Taken.UTC().Format("2006-01-02 15:04 UTC")
	}
	return strings.TrimSpace(t.Generated)
}

func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// alt is the finding first understood without the picture.
func (h heading) alt() string {
	// A cable that was pulled is in no discovery: only a comparison knows of it.
	findings := "no link is slow"
	if len(h.findings) > 0 {
		findings = strings.Join(h.findings, "; ")
		findings = strings.ToLower(findings[:1]) + findings[1:]
	}
	if len(h.examples) > 0 {
		findings += " (" + strings.Join(h.examples, "; ") + ")"
	}
	return fmt.Sprintf("%s: %s; %s", h.title, h.of, findings)
}
