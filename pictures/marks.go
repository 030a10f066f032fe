package pictures

import (
	"image/color"
	"math"

	"github.com/fabricbot/fabricbot/fabric/layout"
	"gonum.org/v1/plot/vg"
)

// look is how a mark is drawn. The colours are those of Okabe and Ito, which
// people with any colour vision tell apart; dashes and signs say the same
// without colour.
type look struct {
	word  string
	color color.NRGBA
	fill  color.NRGBA
	dash  []vg.Length
	width float64
}

var looks = map[layout.Mark]look{
	layout.Plain:   {"", color.NRGBA{0x7a, 0x86, 0x93, 255}, color.NRGBA{255, 255, 255, 255}, nil, 0.9},
	layout.Changed: {"changed", color.NRGBA{0x00, 0x72, 0xb2, 255}, color.NRGBA{0xe6, 0xf2, 0xfa, 255}, []vg.Length{9, 3}, 1.8},
	layout.New:     {"new", color.NRGBA{0x00, 0x9e, 0x73, 255}, color.NRGBA{0xe2, 0xf5, 0xef, 255}, nil, 2.4},
	layout.Slow:    {"slow", color.NRGBA{0xd9, 0x8e, 0x00, 255}, color.NRGBA{0xff, 0xf3, 0xda, 255}, []vg.Length{7, 2.5, 1.8, 2.5}, 2.2},
	layout.Down:    {"not active", color.NRGBA{0xb0, 0x55, 0x8a, 255}, color.NRGBA{0xf9, 0xe9, 0xf2, 255}, []vg.Length{1.8, 2.2}, 2.2},
	layout.Lost:    {"lost", color.NRGBA{0xd5, 0x3e, 0x00, 255}, color.NRGBA{0xfd, 0xe9, 0xe0, 255}, []vg.Length{5, 3.5}, 2},
}

var (
	ink   = color.NRGBA{0x1b, 0x25, 0x30, 255}
	faint = color.NRGBA{0x5a, 0x66, 0x73, 255}
	frame = color.NRGBA{0xf3, 0xf5, 0xf7, 255}
	rim   = color.NRGBA{0xdc, 0xe1, 0xe6, 255}
	// tierFill darkens from the hosts upwards.
	tierFill = []color.NRGBA{{255, 255, 255, 255}, {0xe4, 0xec, 0xf3, 255}, {0xcf, 0xdd, 0xe9, 255}, {0xb9, 0xcd, 0xdf, 255}}
)

// sign draws the sign of a mark around a middle: a plus, a minus in a ring, a
// triangle that points down, a cross, or a diamond; z is its size.
func (p *pen) sign(m layout.Mark, x, y, z float64) {
	l := looks[m]
	p.SetColor(l.color)
	p.SetLineDash(nil, 0)
	p.SetLineWidth(vg.Length(1.8 * z))
	r := 3.2 * z
	at := func(dx, dy float64) layout.Point { return layout.Point{X: x + dx, Y: y + dy} }
	switch m {
	case layout.New:
		p.polyline([]layout.Point{at(-r, 0), at(r, 0)}, false)
		p.polyline([]layout.Point{at(0, -r), at(0, r)}, false)
	case layout.Lost:
		p.polyline([]layout.Point{at(-r, -r), at(r, r)}, false)
		p.polyline([]layout.Point{at(-r, r), at(r, -r)}, false)
	case layout.Slow:
		p.polygon(at(-1.2*r, -0.9*r), at(1.2*r, -0.9*r), at(0, 1.2*r))
	case layout.Down:
		var ring vg.Path
		ring.Move(p.at(x+1.1*r, y))
		ring.Arc(p.at(x, y), vg.Length(1.1*r), 0, 2*math.Pi)
		ring.Close()
		p.SetLineWidth(vg.Length(1.4 * z))
		p.Stroke(ring)
		p.polyline([]layout.Point{at(-0.6*r, 0), at(0.6*r, 0)}, false)
	case layout.Changed:
		p.polygon(at(0, -1.25*r), at(1.25*r, 0), at(0, 1.25*r), at(-1.25*r, 0))
	}
}

func (p *pen) polygon(points ...layout.Point) {
	var path vg.Path
	path.Move(p.at(points[0].X, points[0].Y))
	for _, q := range points[1:] {
		path.Line(p.at(q.X, q.Y))
	}
	path.Close()
	p.Fill(path)
}

func (p *pen) polyline(points []layout.Point, curved bool) {
	var path vg.Path
	path.Move(p.at(points[0].X, points[0].Y))
	if curved {
		path.CubeTo(p.at(points[1].X, points[1].Y), p.at(points[2].X, points[2].Y), p.at(points[3].X, points[3].Y))
	} else {
		for _, q := range points[1:] {
			path.Line(p.at(q.X, q.Y))
		}
	}
	p.Stroke(path)
}
