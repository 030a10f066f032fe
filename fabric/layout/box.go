package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

const (
	maxListRows = 16
	columnGap   = 12.0
)

// size computes width and height from the text.
func (p *placer) size(b *Box) {
	text := p.o.Measure(b.Title, TitleSize)
	text = max(text, p.o.Measure(b.Sub, TextSize))
	b.rowWidth = 0
	for _, r := range b.Rows {
		b.rowWidth = max(b.rowWidth, p.o.Measure(r.Text, TextSize)+r.indent())
	}
	b.columns = max(1, (len(b.Rows)+maxListRows-1)/maxListRows)
	rows := (len(b.Rows) + b.columns - 1) / b.columns
	b.W = 2*Pad + max(text, b.rowWidth*float64(b.columns)+columnGap*float64(b.columns-1))
	b.H = 2*Pad + float64(rows)*lineHeight
	if b.Title != "" {
		b.H += lineHeight
	}
	if b.Sub != "" {
		b.H += lineHeight
	}
}

// indent leaves room for the sign of a marked row.
func (r *Row) indent() float64 {
	if r.Mark == Plain && !r.Indent {
		return 0
	}
	return MarkIndent
}

// MarkIndent is the width of the sign in front of a marked row.
const MarkIndent = 12.0

// head is how far down the rows begin.
func (b *Box) head() float64 {
	y := Pad
	if b.Title != "" {
		y += lineHeight
	}
	if b.Sub != "" {
		y += lineHeight
	}
	return y
}

func (b *Box) placeRows() {
	if len(b.Rows) == 0 {
		return
	}
	perColumn := (len(b.Rows) + b.columns - 1) / b.columns
	content := b.rowWidth*float64(b.columns) + columnGap*float64(b.columns-1)
	left := b.X + (b.W-content)/2
	for i := range b.Rows {
		column, row := i/perColumn, i%perColumn
		b.Rows[i].Point = Point{left + float64(column)*(b.rowWidth+columnGap), b.Y + b.head() + (float64(row)+0.5)*lineHeight}
	}
}

// TitleAt and SubAt are the middles of the two headings.
func (b *Box) TitleAt() Point { return Point{b.X + b.W/2, b.Y + Pad + lineHeight/2} }

// SubAt is the middle of the second heading.
func (b *Box) SubAt() Point {
	y := b.Y + Pad + lineHeight/2
	if b.Title != "" {
		y += lineHeight
	}
	return Point{b.X + b.W/2, y}
}

func (b *Box) center() float64 { return b.X + b.W/2 }

func worst(notes []Note) Mark {
	m := Plain
	for _, n := range notes {
		m = max(m, n.Mark)
	}
	return m
}

// Words joins the texts of notes on so many cables; where a note is not about all of
// them it says about how many.
func Words(notes []Note, cables int) string {
	var words []string
	count := map[string]int{}
	for _, n := range notes {
		if count[n.Text]++; n.Text != "" && count[n.Text] == 1 {
			words = append(words, n.Text)
		}
	}
	const shown = 2
	rest := len(words) - shown
	words = words[:min(shown, len(words))]
	for i, w := range words {
		if cables > 1 {
			words[i] = fmt.Sprintf("%s (%d of %d)", w, count[w], cables)
		}
	}
	text := strings.Join(words, ", ")
	if rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// hostRows lists hosts: all of them in a small fabric, otherwise those with
// notes, worst first as far as there is room.
func (p *placer) hostRows(hosts []*host) []Row {
	var rows []Row
	for _, h := range hosts {
		if len(h.notes) == 0 {
			if p.Named {
				rows = append(rows, Row{Text: h.name})
			}
			continue
		}
		text := h.name
		if words := Words(h.notes, max(1, h.cables)); words != "" {
			text += ": " + words
		}
		rows = append(rows, Row{Text: text, Mark: worst(h.notes)})
	}
	if !p.Named {
		return p.cut(rows)
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Mark != Plain }) {
		for i := range rows {
			rows[i].Indent = true
		}
	}
	return rows
}

// maxRowWidth is where a row in a large fabric is broken after its colon, so that one
// long sentence does not widen every box.
const maxRowWidth = 140.0

func (p *placer) broken(rows []Row) []Row {
	var out []Row
	for _, r := range rows {
		head, rest, ok := strings.Cut(r.Text, ": ")
		if !ok || p.o.Measure(r.Text, TextSize) <= maxRowWidth {
			out = append(out, r)
			continue
		}
		out = append(out, Row{Text: head + ":", Mark: r.Mark}, Row{Text: rest, Indent: true})
	}
	return out
}

// hostCount counts hosts, the lost ones apart.
func hostCount(hosts []*host) string {
	lost := 0
	for _, h := range hosts {
		if h.lost {
			lost++
		}
	}
	switch {
	case lost == 0:
		return Count(len(hosts), "host")
	case lost == len(hosts):
		return Count(lost, "host") + " lost"
	}
	return fmt.Sprintf("%s, %d lost", Count(len(hosts)-lost, "host"), lost)
}

func (p *placer) cut(rows []Row) []Row {
	if len(rows) <= p.o.MaxNotes {
		return rows
	}
	rest := rows[p.o.MaxNotes-1:]
	mark := Plain
	for _, r := range rest {
		mark = max(mark, r.Mark)
	}
	return append(rows[:p.o.MaxNotes-1:p.o.MaxNotes-1], Row{Text: fmt.Sprintf("and %d more", len(rest)), Mark: mark})
}

// switchBox is one switch with its name and notes.
func (p *placer) switchBox(s fabric.GUID) *Box {
	b := &Box{Kind: Switch, Tier: p.tier[s] + 1, Title: p.names.Of(s), Nodes: append([]fabric.GUID{s}, p.inside[s]...), Mark: worst(p.notes[s])}
	for _, n := range p.notes[s] {
		if n.Text != "" {
			b.Rows = append(b.Rows, Row{Text: n.Text, Mark: n.Mark})
		}
	}
	return b
}

// hostBox is a panel of hosts that hang on the same switches.
func (p *placer) hostBox(hosts []*host) *Box {
	b := &Box{Kind: Hosts, Rows: p.hostRows(hosts)}
	adapters := 0
	for _, h := range hosts {
		b.Nodes = append(b.Nodes, h.nodes...)
		adapters += len(h.nodes)
		b.Inside = max(b.Inside, worst(h.notes))
	}
	if text := hostCount(hosts); adapters > len(hosts) {
		b.Sub = text + ", " + Count(adapters, "adapter")
	} else if !p.Named {
		b.Sub = text
	}
	if len(hosts[0].at) == 0 && hosts[0].cables == 0 {
		b.Title = "not cabled"
	}
	return b
}

// add sizes a box and takes it into the layout.
func (p *placer) add(b *Box) int {
	if b.H == 0 {
		p.size(b)
	}
	i := len(p.Boxes)
	p.Boxes = append(p.Boxes, *b)
	for _, g := range b.Nodes {
		p.boxOf[g] = i
	}
	return i
}

// Count writes a number with its noun, in the plural where it must be.
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "leaf":
		return fmt.Sprintf("%d leaves", n)
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// TierName says what switches of this tier are called in a fabric of so many;
// leaves are tier 0.
func TierName(tier, tiers int) string {
	switch {
	case tiers == 1:
		return "switch"
	case tier == 0:
		return "leaf"
	case tier == 1:
		return "spine"
	case tier == 2:
		return "core"
	}
	return fmt.Sprintf("tier-%d switch", tier+1)
}

func fold(names []string) string {
	if set, err := fabric.NewHostSet(names...); err == nil {
		return set.String()
	}
	return strings.Join(names, ", ")
}
