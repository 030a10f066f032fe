package pictures

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric/layout"
	"gonum.org/v1/plot/vg"
)

// paint draws the sheet; it is called once for each format.
func (s *sheet) paint(p *pen) {
	s.labels = nil
	p.box(0, 0, s.width, s.height, 0, color.White, color.White, 0, nil)
	s.paintHeading(p)
	p.Push()
	p.Translate(vg.Point{X: vg.Length(s.left), Y: vg.Length(-s.top)})
	for _, f := range s.Frames {
		p.box(f.X, f.Y, f.W, f.H, 6, frame, rim, 0.8, nil)
	}
	s.paintEdges(p)
	for i := range s.Boxes {
		s.paintBox(p, &s.Boxes[i])
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		s.labels = append(s.labels, area{b.X, b.Y, b.X + b.W, b.Y + b.H})
	}
	for i := range s.Edges {
		s.paintLabel(p, &s.Edges[i])
	}
	p.Pop()
	s.paintLegend(p)
}

func (s *sheet) paintHeading(p *pen) {
	z := s.zoom
	y := margin + 8*z
	p.text(margin, y, headSize*z, true, ink, s.title)
	y += 22 * z
	p.text(margin, y, factSize*z, false, faint, s.counts)
	y += 20 * z
	for i, line := range s.lines {
		if i == 0 && s.mark != layout.Plain {
			p.sign(s.mark, margin+5*z, y, z)
		}
		p.text(margin+14*z, y, factSize*z, line.bold, ink, line.text)
		y += findHeight * z
	}
}

func (s *sheet) paintLegend(p *pen) {
	z := s.zoom
	y := s.top + s.H + legendAbove*z
	for _, line := range s.legend {
		x := margin
		for _, it := range line {
			if it.mark != layout.Plain {
				p.sign(it.mark, x+5*z, y, z)
			}
			if it.line {
				l := looks[it.mark]
				l.width *= z
				p.stroke(l)
				p.polyline([]layout.Point{{X: x + 12*z, Y: y}, {X: x + 30*z, Y: y}}, false)
				p.SetLineDash(nil, 0)
			}
			p.text(x+it.indent()*z, y, factSize*z, false, faint, it.text)
			x += it.width
		}
		y += legendLine * z
	}
}

func (p *pen) stroke(l look) {
	p.SetColor(l.color)
	p.SetLineWidth(vg.Length(l.width))
	p.SetLineDash(l.dash, 0)
}

// paintEdges draws plain bundles first and marked ones above them. Of the
// lines that bundles share each piece is drawn once, in the way of the worst.
func (s *sheet) paintEdges(p *pen) {
	order := make([]int, len(s.Edges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(s.Edges[a].Mark) - int(s.Edges[b].Mark) })
	plain := looks[layout.Plain]
	if n := len(s.Edges); !s.Compact && n > 40 {
		plain.width = 0.7
	}
	type piece [2]layout.Point
	drawn := map[piece]bool{}
	for _, i := range order {
		e := &s.Edges[i]
		if !e.Bus {
			l := looks[e.Mark]
			if e.Mark == layout.Plain {
				l = plain
				l.width *= min(2.2, 0.85+0.15*float64(e.Cables))
			}
			path := e.Path
			if e.Mark != layout.Plain && e.Cables > len(e.Notes) && !e.Curved {
				// The sound cables of the bundle run beside.
				p.stroke(plain)
				p.polyline(aside(path, -apart), false)
				path = aside(path, apart)
			}
			p.stroke(l)
			p.polyline(path, e.Curved)
			continue
		}
		for k := range len(e.Path) - 1 {
			seg := piece{e.Path[k], e.Path[k+1]}
			// The own piece of a bundle shows its mark, the shared ones stay plain.
			own := k == 0
			if drawn[seg] && !own {
				continue
			}
			drawn[seg] = true
			l := plain
			l.width = 1.6
			if own {
				l.width = 1.1
				if e.Mark != layout.Plain {
					l = looks[e.Mark]
				}
			}
			p.stroke(l)
			p.polyline(e.Path[k:k+2], false)
		}
	}
	p.SetLineDash(nil, 0)
}

// apart is half the distance of two lines of one bundle.
const apart = 1.8

// aside moves a straight line across its direction.
func aside(path []layout.Point, by float64) []layout.Point {
	a, b := path[0], path[len(path)-1]
	high := math.Abs(b.Y - a.Y)
	dx, dy := 0.0, by
	if high > 1 {
		// Along the rims it ends at, and flat lines farther.
		dx, dy = by*min(5, math.Hypot(b.X-a.X, b.Y-a.Y)/high), 0
	}
	return []layout.Point{{X: a.X + dx, Y: a.Y + dy}, {X: b.X + dx, Y: b.Y + dy}}
}

func (s *sheet) paintBox(p *pen, b *layout.Box) {
	fill := tierFill[min(b.Tier, len(tierFill)-1)]
	line, width, dash := color.Color(color.NRGBA{0x9a, 0xa8, 0xb6, 255}), 0.9, []vg.Length(nil)
	// A box whose contents are marked has the colour but not the rim, which says
	// that the switch itself is lost or new.
	if s.Compact && b.Inside != layout.Plain {
		l := looks[b.Inside]
		fill, line, width = l.fill, l.color, 1.2
	}
	if b.Mark != layout.Plain {
		l := looks[b.Mark]
		fill, line, width, dash = l.fill, l.color, l.width, l.dash
	}
	p.box(b.X, b.Y, b.W, b.H, 4, fill, line, width, dash)
	if b.Title != "" {
		at := b.TitleAt()
		p.centered(at.X, at.Y, layout.TitleSize, true, ink, b.Title)
	}
	if b.Sub != "" {
		at := b.SubAt()
		p.centered(at.X, at.Y, layout.TextSize, false, faint, b.Sub)
	}
	for _, r := range b.Rows {
		x := r.X
		if r.Mark != layout.Plain {
			p.sign(r.Mark, x+4, r.Y, 1)
		}
		if r.Mark != layout.Plain || r.Indent {
			x += layout.MarkIndent
		}
		p.text(x, r.Y, layout.TextSize, false, ink, r.Text)
	}
}

// paintLabel writes the number of cables where it is not the usual one, and
// what is wrong with a bundle.
func (s *sheet) paintLabel(p *pen, e *layout.Edge) {
	text := ""
	k := tiersOf(s.Layout, e)
	switch {
	case s.Compact && k[0] == k[1]:
		return
	case k[0] == 0 && e.Cables > 1 && !s.Compact:
		text = fmt.Sprintf("× %d", e.Cables)
	case e.Cables != s.usual[k] || k[0] == k[1] && e.Cables > 1:
		text = fmt.Sprintf("× %d", e.Cables)
	}
	if !s.Compact {
		text = strings.TrimSpace(text + " " + layout.Words(e.Notes, e.Cables))
	}
	if text == "" {
		return
	}
	const size = 9.5
	w, h := s.textWidth(text, size, e.Mark != layout.Plain), size+3
	if e.Mark != layout.Plain {
		w += layout.MarkIndent
	}
	at := s.freePlace(e, w, h)
	p.box(at.X-w/2-2, at.Y-h/2, w+4, h, 2, color.White, color.White, 0, nil)
	x := at.X - w/2
	if e.Mark != layout.Plain {
		p.sign(e.Mark, x+4, at.Y, 1)
		x += layout.MarkIndent
	}
	p.text(x, at.Y, size, e.Mark != layout.Plain, ink, text)
}

// besides moves a label of w by h from a point of a straight line to one side.
func besides(path []layout.Point, at layout.Point, side, w, h float64) layout.Point {
	a, b := path[0], path[len(path)-1]
	dx, dy := b.X-a.X, b.Y-a.Y
	if math.Abs(dy) <= math.Abs(dx)*h/max(w, 1) {
		// Flat: above or below, clear of the slope under half the label.
		return layout.Point{X: at.X, Y: at.Y + side*(h/2+3*apart+math.Abs(dy/dx)*w/2)}
	}
	return layout.Point{X: at.X + side*(w/2+5*apart+math.Abs(dx/dy)*h/2), Y: at.Y}
}

// freePlace looks along an edge for a place where a label covers no box and no other
// label; when all are taken it is the first one.
func (s *sheet) freePlace(e *layout.Edge, w, h float64) layout.Point {
	places := []layout.Point{e.At}
	beside := e.Mark != layout.Plain && !e.Curved && !e.Bus
	if e.Bus {
		places = []layout.Point{{X: e.At.X + w/2 + 4, Y: e.At.Y}}
	} else if !e.Curved {
		a, b := e.Path[0], e.Path[1]
		for _, t := range [...]float64{0.38, 0.62, 0.27, 0.73, 0.18, 0.82} {
			places = append(places, layout.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)})
		}
	}
	if beside && e.Cables > len(e.Notes) {
		// The sound cables of the bundle stay in sight: the label stands beside
		// the lines where there is room, on the side of the marked one first.
		var clear []layout.Point
		for _, by := range [...]float64{1, -1} {
			for _, at := range places {
				clear = append(clear, besides(e.Path, at, by, w, h))
			}
		}
		places = append(clear, places...)
	}
	for _, at := range places {
		here := area{at.X - w/2 - 2, at.Y - h/2, at.X + w/2 + 2, at.Y + h/2}
		if !slices.ContainsFunc(s.labels, here.meets) {
			s.labels = append(s.labels, here)
			return at
		}
	}
	return places[0]
}
