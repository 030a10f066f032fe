package layout

import "github.com/fabricbot/fabricbot/fabric"

// Mark says what is special about a thing; the larger one wins where several
// meet.
type Mark uint8

// The marks.
const (
	Plain Mark = iota
	Changed
	New
	Slow
	Down
	Lost
)

// Note is an exception to be written at a node or a cable.
type Note struct {
	Text string
	Mark Mark
}

// Options steers Of. The zero value is a plain layout.
type Options struct {
	// Measure returns the width in points of text at a font size in points. Nil
	// means an estimate.
	Measure func(text string, size float64) float64
	// Node returns the exceptions of a node, Cable those of a cable. Nil means none.
	Node  func(fabric.GUID) []Note
	Cable func(fabric.Link) []Note
	// NamedHosts is the largest number of hosts that are all named; 0 means
	// DefaultNamedHosts.
	NamedHosts int
	// MaxNotes is how many exceptions one box may list in a large fabric before it
	// counts the rest; 0 means DefaultMaxNotes.
	MaxNotes int
}

// Defaults of Options, chosen by looking at pictures 720 pixels wide.
const (
	DefaultNamedHosts = 80
	DefaultMaxNotes   = 5
)

// Sizes in points.
const (
	TitleSize  = 12.0
	TextSize   = 10.5
	lineHeight = 14.5
	Pad        = 7.0
	gapX       = 18.0
	gapY       = 16.0
	rowGap     = 84.0
	panelGap   = 30.0
)

// Kind is the role of a box.
type Kind uint8

// The roles: a switch, several switches drawn as one, a leaf with its hosts
// counted inside, and a panel of hosts.
const (
	Switch Kind = iota
	Switches
	Leaf
	Hosts
)

// Point is a place, x to the right and y downwards.
type Point struct{ X, Y float64 }

// Row is one line of text in a box; its place is the left end of its middle.
type Row struct {
	Point
	Text string
	Mark Mark
	// Indent is set when an unmarked row stands in line with marked ones.
	Indent bool
}

// Box is one rectangle with text. X and Y are its upper left corner.
type Box struct {
	Kind       Kind
	Tier       int
	Title, Sub string
	Rows       []Row
	// Mark is that of the switch itself, Inside the worst of what the rows tell.
	Mark, Inside Mark
	// Nodes are all nodes that the box stands for.
	Nodes      []fabric.GUID
	X, Y, W, H float64

	columns  int
	rowWidth float64
}

// Edge is a bundle of cables between two boxes, by index. Path begins at the
// rim of From and ends at the rim of To; Curved paths are four control points
// of a Bézier curve.
type Edge struct {
	From, To int
	Cables   int
	Notes    []Note
	Mark     Mark
	Path     []Point
	Curved   bool
	// Bus is set where many bundles share a line.
	Bus bool
	// At is where the multiplicity or the note is best written.
	At Point
}

// Frame is a rectangle behind the boxes of one part of the fabric.
type Frame struct {
	Title      string
	X, Y, W, H float64
}

// Layout is a placed fabric. Compact is set when switches are grouped.
type Layout struct {
	Boxes   []Box
	Edges   []Edge
	Frames  []Frame
	W, H    float64
	Compact bool
	Named   bool
	// Hosts counts hosts by name; Tiers counts switches, the leaves first.
	Hosts int
	Tiers []int
}

// Of places the nodes of a topology.
func Of(t *fabric.Topology, o Options) *Layout {
	if o.Measure == nil {
		o.Measure = func(text string, size float64) float64 { return float64(len([]rune(text))) * size * 0.56 }
	}
	if o.NamedHosts == 0 {
		o.NamedHosts = DefaultNamedHosts
	}
	if o.MaxNotes == 0 {
		o.MaxNotes = DefaultMaxNotes
	}
	g := newGraph(t, o)
	l := &Layout{Hosts: len(g.hosts), Tiers: g.tierCounts(), Named: len(g.hosts) <= o.NamedHosts}
	p := &placer{graph: g, Layout: l, o: o, boxOf: map[fabric.GUID]int{}}
	if g.fitsRows() {
		p.rows()
	} else {
		l.Compact = true
		p.blocks()
	}
	p.fit()
	return l
}

// Tally counts the hosts by name and the switches per tier, the leaves first.
func Tally(t *fabric.Topology) (hosts int, tiers []int) {
	g := newGraph(t, Options{})
	return len(g.hosts), g.tierCounts()
}

// placer is the work of one Of.
type placer struct {
	*graph
	*Layout
	o     Options
	boxOf map[fabric.GUID]int
}

// fit moves everything so that the upper left corner is at 0,0 and puts the
// rows of text in their places.
func (p *placer) fit() {
	if len(p.Boxes) == 0 {
		return
	}
	left, top, right, bottom := p.Boxes[0].X, p.Boxes[0].Y, 0.0, 0.0
	reach := func(x, y float64) {
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	for i := range p.Boxes {
		b := &p.Boxes[i]
		reach(b.X, b.Y)
		reach(b.X+b.W, b.Y+b.H)
	}
	for _, f := range p.Frames {
		reach(f.X, f.Y)
		reach(f.X+f.W, f.Y+f.H)
	}
	for _, e := range p.Edges {
		for _, q := range e.Path {
			reach(q.X, q.Y)
		}
	}
	for i := range p.Boxes {
		b := &p.Boxes[i]
		b.X, b.Y = b.X-left, b.Y-top
		b.placeRows()
	}
	for i := range p.Frames {
		p.Frames[i].X -= left
		p.Frames[i].Y -= top
	}
	for i := range p.Edges {
		e := &p.Edges[i]
		for j := range e.Path {
			e.Path[j].X -= left
			e.Path[j].Y -= top
		}
		e.At.X -= left
		e.At.Y -= top
	}
	p.W, p.H = right-left, bottom-top
}
