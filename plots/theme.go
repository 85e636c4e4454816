package plots

import (
	"image/color"
	"math"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	gfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Widths of figures: one column of a two-column paper (the default), and both.
const (
	ColumnWidth = 3.4 * vg.Inch
	PageWidth   = 7 * vg.Inch
)

// FontSize is the default size of labels in points. Other texts are in
// proportion.
const FontSize = 7.5

// Sizes of text, in points on paper.
const (
	titleSize  = 8.5 * vg.Length(1)
	labelSize  = FontSize * vg.Length(1)
	tickSize   = 7 * vg.Length(1)
	legendSize = 7 * vg.Length(1)
	noteSize   = 6.5 * vg.Length(1)
)

// Colours of everything that is not data. The report maps them by value to its
// own light and dark schemes.
var (
	Ink   = color.RGBA{0x1b, 0x1b, 0x1b, 0xff} // text and axes
	Faint = color.RGBA{0x6e, 0x6e, 0x6e, 0xff} // notes and the baseline
	Rule  = color.RGBA{0xdd, 0xdd, 0xdd, 0xff} // grid lines
	Paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// palette is that of Okabe and Ito (2008) with Tol's wine instead of its
// yellow, which is invisible on white. The colours are distinct under the
// common kinds of colour blindness. Marker and dash repeat the information.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x7a, 0x7a, 0x7a, 0xff}, // grey
	{0x88, 0x22, 0x55, 0xff}, // wine
}

var dashes = [][]vg.Length{
	nil,
	{4, 2},
	{1, 1.5},
	{5, 1.5, 1, 1.5},
	{2, 1},
}

// Style is the look of one curve.
type Style struct {
	Color  color.RGBA
	Marker int  // index of a shape; negative for none
	Dash   int  // index of a dash pattern
	Hollow bool // the variant guarantees nothing
	Scoped bool // its guarantee holds between some words only; drawn like others
	NoLine bool // points only
	Step   bool // a thick line that falls at each point
	Stairs bool // a histogram: each point is the left edge of a bin
}

// StyleOf returns the look of the i-th curve of a figure that is not made
// from records.
func StyleOf(i int) Style {
	round := i / len(palette)
	return Style{
		Color:  shade(palette[i%len(palette)], []float64{0, -0.45, 0.45}[round%3]),
		Marker: (i + 3*round) % len(shapes),
		Dash:   round % len(dashes),
	}
}

// shade returns a colour lighter (by > 0) or darker (by < 0).
func shade(c color.RGBA, by float64) color.RGBA {
	target := 255.0
	if by < 0 {
		target, by = 0, -by
	}
	mix := func(v uint8) uint8 { return uint8(math.Round(float64(v)*(1-by) + target*by)) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}

func polygon(corners int, start float64) []vg.Point {
	var p []vg.Point
	for i := range corners {
		a := start + 2*math.Pi*float64(i)/float64(corners)
		p = append(p, vg.Point{X: vg.Length(math.Cos(a)), Y: vg.Length(math.Sin(a))})
	}
	return p
}

func star() []vg.Point {
	outer, inner := polygon(5, math.Pi/2), polygon(5, math.Pi/2+math.Pi/5)
	var p []vg.Point
	for i := range outer {
		p = append(p, scaled(outer[i], 1.25), scaled(inner[i], 0.55))
	}
	return p
}

func scaled(p vg.Point, by vg.Length) vg.Point { return vg.Point{X: p.X * by, Y: p.Y * by} }

// shapes are closed, so that each has a hollow form; nil is a circle.
var shapes = [][]vg.Point{
	nil,
	polygon(4, math.Pi/4),
	polygon(3, math.Pi/2),
	polygon(4, 0),
	polygon(3, -math.Pi/2),
	star(),
	polygon(3, 0),
	polygon(3, math.Pi),
}

const markerRadius = 2.4 * vg.Length(1)

// drawMarker draws the marker of a style around a point.
func drawMarker(c draw.Canvas, s Style, at vg.Point) {
	shape := shapes[s.Marker%len(shapes)]
	r := markerRadius
	var path vg.Path
	if shape == nil {
		circle(&path, at, r)
	} else {
		for i, corner := range shape {
			p := at.Add(scaled(corner, r*1.2))
			if i == 0 {
				path.Move(p)
			} else {
				path.Line(p)
			}
		}
	}
	path.Close()
	fill := s.Color
	if s.Hollow {
		fill = Paper
	}
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 0.9})
	c.Stroke(path)
}

// circle adds four cubic Bézier quarters, because vgpdf paints an arc as a
// separate path and so breaks the path around it.
func circle(path *vg.Path, at vg.Point, r vg.Length) {
	const k = 0.5522847498 // 4/3·(√2−1)
	corner := []vg.Point{{X: r, Y: 0}, {X: 0, Y: r}, {X: -r, Y: 0}, {X: 0, Y: -r}, {X: r, Y: 0}}
	path.Move(at.Add(corner[0]))
	for i := range 4 {
		a, b := corner[i], corner[i+1]
		path.CubeTo(at.Add(a.Add(scaled(b, k))), at.Add(b.Add(scaled(a, k))), at.Add(b))
	}
}

func (s Style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.Color, Width: 1.1, Dashes: dashes[s.Dash%len(dashes)]}
}

func typeface(size vg.Length, bold bool) gfont.Font {
	f := gfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = font.WeightBold
	}
	return f
}

func textStyle(size vg.Length, bold bool) text.Style {
	return text.Style{
		Color:   Ink,
		Font:    typeface(size, bold),
		XAlign:  draw.XLeft,
		YAlign:  draw.YTop,
		Handler: subscripts{},
	}
}

// newPlot returns an empty panel in the theme.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = typeface(labelSize, false)
		a.Label.TextStyle.Color = Ink
		a.Label.TextStyle.Handler = subscripts{}
		a.Label.Padding = 1
		a.Tick.Label.Font = typeface(tickSize, false)
		a.Tick.Label.Color = Ink
		a.Tick.Label.Handler = subscripts{}
		a.LineStyle = draw.LineStyle{Color: Ink, Width: 0.6}
		a.Tick.LineStyle = draw.LineStyle{Color: Ink, Width: 0.6}
		a.Tick.Length = 2.5
		a.Padding = 2
	}
	p.X.Label.Text = xLabel
	p.Y.Label.Text = yLabel
	return p
}
