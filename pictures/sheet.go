package pictures

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/fabricbot/fabricbot/fabric/layout"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Sizes of the sheet around the drawing, in points.
const (
	margin      = 22.0
	minWidth    = 430.0
	headSize    = 17.0
	factSize    = 10.5
	headHeight  = 48.0
	findHeight  = 17.0
	legendLine  = 18.0
	legendAbove = 20.0
)

// sheet is one finished page: heading, drawing, legend.
type sheet struct {
	*layout.Layout
	heading
	fonts         *font.Cache
	width, height float64
	left, top     float64 // of the drawing
	legend        [][]legendItem
	lines         []headLine
	drawn         map[layout.Mark]bool // marks that lines of the drawing have
	usual         map[[2]int]int       // cables per edge by tiers
	labels        []area
	zoom          float64 // text of the sheet grows with wide drawings
}

// area is a rectangle that is taken.
type area struct{ x0, y0, x1, y1 float64 }

func (a area) meets(b area) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

// headLine is one line under the title; a sentence is bold to its end.
type headLine struct {
	text string
	bold bool
}

type legendItem struct {
	mark  layout.Mark
	line  bool // whether a line of the drawing looks so, not only a sign
	text  string
	width float64
}

func newSheet(l *layout.Layout, h heading, f *findings, fonts *font.Cache) *sheet {
	s := &sheet{Layout: l, heading: h, fonts: fonts}
	s.usual = usualBundles(l)
	s.zoom = max(1, min(2.2, l.W/900))
	s.width = max(minWidth, l.W+2*margin)
	room := s.width - 2*margin
	s.lines = nil
	for i, find := range h.findings {
		s.lines = append(s.lines, s.wrap(find, factSize*s.zoom, room-14*s.zoom, i == 0)...)
	}
	for _, example := range h.examples {
		s.lines = append(s.lines, s.wrap(example, factSize*s.zoom, room-14*s.zoom, false)...)
	}
	s.drawn = map[layout.Mark]bool{}
	for i := range l.Edges {
		s.drawn[l.Edges[i].Mark] = true
	}
	for i := range l.Boxes {
		s.drawn[l.Boxes[i].Mark] = true
	}
	s.top = margin + (headHeight+findHeight*float64(len(s.lines)))*s.zoom
	if len(s.lines) > 0 {
		s.top += 8 * s.zoom
	}
	s.left = (s.width - l.W) / 2
	s.legend = s.flow(s.legendItems(f), room)
	s.height = s.top + l.H + margin
	if len(s.legend) > 0 {
		s.height += (legendAbove + legendLine*float64(len(s.legend)-1)) * s.zoom
	}
	return s
}

func (s *sheet) textWidth(text string, size float64, bold bool) float64 {
	f := face(s.fonts, size, bold)
	return f.Width(text).Points()
}

// wrap breaks text at blanks.
func (s *sheet) wrap(text string, size, room float64, bold bool) []headLine {
	var lines []headLine
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && s.textWidth(line+" "+word, size, bold) > room {
			lines, line = append(lines, headLine{line, bold}), word
			continue
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, headLine{line, bold})
}

// usualBundles is the commonest number of cables per edge between two tiers.
func usualBundles(l *layout.Layout) map[[2]int]int {
	count := map[[2]int]map[int]int{}
	for i := range l.Edges {
		e := &l.Edges[i]
		k := tiersOf(l, e)
		if count[k] == nil {
			count[k] = map[int]int{}
		}
		count[k][e.Cables]++
	}
	usual := map[[2]int]int{}
	for k, by := range count {
		best, most := 0, 0
		for cables, n := range by {
			if n > most || n == most && cables > best {
				best, most = cables, n
			}
		}
		usual[k] = best
	}
	return usual
}

func tiersOf(l *layout.Layout, e *layout.Edge) [2]int {
	a, b := l.Boxes[e.From].Tier, l.Boxes[e.To].Tier
	return [2]int{min(a, b), max(a, b)}
}

func (s *sheet) legendItems(f *findings) []legendItem {
	var items []legendItem
	for _, m := range [...]layout.Mark{layout.Lost, layout.Down, layout.Slow, layout.New, layout.Changed} {
		if f.marks[m] {
			items = append(items, legendItem{mark: m, line: s.drawn[m], text: looks[m].word})
		}
	}
	for tiers := 1; tiers < len(s.Tiers); tiers++ {
		if n := s.usual[[2]int{tiers, tiers + 1}]; n > 0 {
			lower, upper := layout.TierName(tiers-1, len(s.Tiers)), layout.TierName(tiers, len(s.Tiers))
			text := fmt.Sprintf("%s – %s: %s each", lower, upper, layout.Count(n, "cable"))
			if s.Compact {
				text = fmt.Sprintf("%s to all %ss: %s each", lower, upper, layout.Count(n, "cable"))
			}
			items = append(items, legendItem{text: text + " unless numbered"})
		}
	}
	if among := s.amongEachOther(); among > 0 {
		items = append(items, legendItem{text: "the shared lines stand for " + layout.Count(among, "cable") + " among the switches"})
	}
	for i := range items {
		items[i].width = s.textWidth(items[i].text, factSize*s.zoom, false) + 24*s.zoom
		items[i].width += items[i].indent() * s.zoom
	}
	return items
}

// indent is the room that sign and line take before the text.
func (it legendItem) indent() float64 {
	switch {
	case it.mark == layout.Plain:
		return 0
	case it.line:
		return 34
	}
	return 14
}

// amongEachOther counts the cables inside one tier that are drawn as shared lines.
func (s *sheet) amongEachOther() int {
	n := 0
	for i := range s.Edges {
		if k := tiersOf(s.Layout, &s.Edges[i]); s.Edges[i].Bus && k[0] == k[1] {
			n += s.Edges[i].Cables
		}
	}
	return n
}

// flow breaks the legend into lines.
func (s *sheet) flow(items []legendItem, room float64) [][]legendItem {
	var lines [][]legendItem
	x := room
	for _, it := range items {
		if x+it.width > room+24*s.zoom || len(lines) == 0 {
			lines = append(lines, nil)
			x = 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], it)
		x += it.width
	}
	return lines
}

// text writes from a left end, with its middle at y.
func (p *pen) text(x, y, size float64, bold bool, c color.Color, text string) {
	p.SetColor(c)
	f := face(p.fonts, size, bold)
	p.FillString(f, p.at(x, y+size*0.35), text)
}

// centered writes around a middle.
func (p *pen) centered(x, y, size float64, bold bool, c color.Color, text string) {
	f := face(p.fonts, size, bold)
	p.text(x-f.Width(text).Points()/2, y, size, bold, c, text)
}

// box draws a rectangle with round corners, filled and outlined.
func (p *pen) box(x, y, w, h, radius float64, fill, line color.Color, width float64, dash []vg.Length) {
	var path vg.Path
	const k = 0.5523 // control points of a quarter circle
	r := min(radius, w/2, h/2)
	path.Move(p.at(x+r, y))
	path.Line(p.at(x+w-r, y))
	path.CubeTo(p.at(x+w-r+k*r, y), p.at(x+w, y+r-k*r), p.at(x+w, y+r))
	path.Line(p.at(x+w, y+h-r))
	path.CubeTo(p.at(x+w, y+h-r+k*r), p.at(x+w-r+k*r, y+h), p.at(x+w-r, y+h))
	path.Line(p.at(x+r, y+h))
	path.CubeTo(p.at(x+r-k*r, y+h), p.at(x, y+h-r+k*r), p.at(x, y+h-r))
	path.Line(p.at(x, y+r))
	path.CubeTo(p.at(x, y+r-k*r), p.at(x+r-k*r, y), p.at(x+r, y))
	path.Close()
	p.SetColor(fill)
	p.Fill(path)
	p.SetColor(line)
	p.SetLineWidth(vg.Length(width))
	p.SetLineDash(dash, 0)
	p.Stroke(path)
	p.SetLineDash(nil, 0)
}
