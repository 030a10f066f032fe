package pictures

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	xfont "golang.org/x/image/font"
)

// Picture is one drawing in both formats. Alt says in plain text what a viewer
// would conclude from it.
type Picture struct {
	PNG []byte
	SVG []byte
	Alt string
}

// Limits of the PNG in pixels: Slack scales what is wider, and twice the points
// is enough for any screen.
const (
	maxPixels       = 4000
	pointsPerInch   = 72.0
	sharpestPerInch = 2 * pointsPerInch
)

// svgFont is how the library names the font; alone it leaves viewers without it
// to their serif. Arial and Helvetica have the same widths.
const svgFont = "font-family:Liberation Sans"

// pen draws with the origin in the upper left corner and y downwards, which is
// how layouts are given; the library has y upwards.
type pen struct {
	vg.Canvas
	height float64
	fonts  *font.Cache
}

func newFonts() *font.Cache { return font.NewCache(liberation.Collection()) }

func face(fonts *font.Cache, size float64, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return fonts.Lookup(f, vg.Length(size))
}

func (p *pen) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(p.height - y)}
}

// render draws the same thing on both canvases. Width and height are points.
func render(width, height float64, alt string, fonts *font.Cache, draw func(*pen)) (Picture, error) {
	pic := Picture{Alt: alt}
	// The longer side counts too: what is higher than wide is scaled by Slack all the same.
	dpi := min(sharpestPerInch, (maxPixels-1)*pointsPerInch/max(width, height))
	size := vgimg.UseWH(vg.Length(width), vg.Length(height))
	img := vgimg.NewWith(size, vgimg.UseDPI(int(dpi)), vgimg.UseBackgroundColor(color.White))
	draw(&pen{img, height, fonts})
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := encoder.Encode(&out, img.Image()); err != nil {
		return pic, fmt.Errorf("encoding a picture of %.0f by %.0f points as PNG: %w", width, height, err)
	}
	pic.PNG = out.Bytes()

	svg := vgsvg.NewWith(vgsvg.UseWH(vg.Length(width), vg.Length(height)))
	draw(&pen{svg, height, fonts})
	var text bytes.Buffer
	if _, err := svg.WriteTo(&text); err != nil {
		return pic, fmt.Errorf("writing a picture of %.0f by %.0f points as SVG: %w", width, height, err)
	}
	pic.SVG = withTitle(bytes.ReplaceAll(text.Bytes(), []byte(svgFont+";"), []byte(svgFont+",Arial,Helvetica,sans-serif;")), alt)
	return pic, nil
}

// withTitle puts the alternative text where screen readers look for it.
func withTitle(svg []byte, alt string) []byte {
	start := bytes.Index(svg, []byte("<svg"))
	if start < 0 {
		return svg
	}
	end := bytes.IndexByte(svg[start:], '>')
	if end < 0 {
		return svg
	}
	cut := start + end + 1
	title := "\n<title>" + html.EscapeString(alt) + "</title>"
	return append(append(append([]byte(nil), svg[:cut]...), title...), svg[cut:]...)
}
