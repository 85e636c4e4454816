package plots

import (
	"hash/fnv"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/mechanisms"
)

// Look is what tells a mechanism from the others: it follows from the registry
// alone, so that a mechanism looks the same in every figure and page, whatever
// else is shown. Related mechanisms (orders with the same tens) share colour and
// marker and differ in dash and shade; no two share marker and dash.
type Look struct {
	Color  color.RGBA
	Marker int // index of a shape
	Dash   int // index of a dash pattern
}

// palette begins with that of Okabe and Ito (2008) without its yellow, which is
// invisible on white; the others are chosen to stay apart from them and from
// each other in deuteranopia and protanopia (CIEDE2000 of 7 and more).
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x73, 0x77, 0x7c, 0xff}, // grey
	{0x75, 0x48, 0x6d, 0xff}, // plum
	{0x3a, 0x20, 0xc8, 0xff}, // ultramarine
	{0x77, 0x06, 0x03, 0xff}, // dark red
	{0x38, 0x03, 0x4f, 0xff}, // deep purple
	{0x30, 0x08, 0x00, 0xff}, // blackish brown
}

// trivial mechanisms (orders from 900) are references, drawn in dark grey.
const trivial = 900

var darkGrey = color.RGBA{0x3c, 0x3c, 0x3c, 0xff}

var dashes = [][]vg.Length{
	nil,
	{4, 2},
	{1, 1.5},
	{5, 1.5, 1, 1.5},
	{2, 1},
	{7, 2},
	{5, 1.5, 1, 1.5, 1, 1.5},
	{3, 3},
	{1, 3},
	{7, 1.5, 2, 1.5},
	{2, 3},
	{4, 1},
}

// shades of members of a family, and of several parameters of one mechanism.
var shades = []float64{0, 0.35, -0.35, 0.55, -0.6}

// lookOf returns the look of a mechanism. One that is not in the registry has
// one that follows from its name.
func lookOf(mechanism string) Look {
	d, err := mechanisms.Find(mechanism)
	if err != nil {
		h := fnv.New32a()
		h.Write([]byte(mechanism))
		n := int(h.Sum32() % math.MaxInt16)
		return Look{palette[n%len(palette)], n / len(palette) % len(shapes), len(dashes) - 1}
	}
	family := max(0, d.Order/10-1)
	member := d.Order % 10
	look := Look{shade(palette[family%len(palette)], shades[member%len(shades)]), family % len(shapes),
		(family/len(shapes) + member) % (len(dashes) - 1)}
	if d.Order >= trivial {
		look.Color = darkGrey
	}
	return look
}

// Style is the look of one curve.
type Style struct {
	Look           // Marker is negative for none
	Hollow    bool // the variant guarantees nothing
	NoLine    bool // points only
	Level     bool // a line at one height, without points
	Reference bool // ε has no effect on it: a point that does not stretch the axes
	Subdued   bool // one of the many: a thin grey line without markers
}

// seriesStyle is the look of the i-th curve of a figure whose curves are not
// mechanisms (percentiles, spaces).
func seriesStyle(i int) Style {
	round := i / len(palette)
	return Style{Look: Look{shade(palette[i%len(palette)], shades[round%len(shades)]), (i + 3*round) % len(shapes),
		round % len(dashes)}}
}

// shade returns a colour lighter (by > 0) or darker (by < 0).
func shade(c color.RGBA, by float64) color.RGBA {
	target := 255.0
	if by < 0 {
		target = 0
		by = -by
	}
	mix := func(v uint8) uint8 { return uint8(math.Round(float64(v)*(1-by) + target*by)) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}

// shapes are closed, so that each has a hollow form; nil is a circle.
var shapes = [][]vg.Point{
	nil,
	polygon(4, math.Pi/4, 1.15),
	polygon(3, math.Pi/2, 1.2),
	polygon(4, 0, 1.2),
	polygon(3, -math.Pi/2, 1.2),
	star(5, 1.5, 0.6),
	polygon(3, 0, 1.2),
	polygon(3, math.Pi, 1.2),
	cross(0),
	cross(math.Pi / 4),
	{{X: -1, Y: -1.15}, {X: 1, Y: -1.15}, {X: -1, Y: 1.15}, {X: 1, Y: 1.15}},
	{{X: -1.15, Y: -1}, {X: -1.15, Y: 1}, {X: 1.15, Y: -1}, {X: 1.15, Y: 1}},
}

func polygon(corners int, start, radius float64) []vg.Point {
	var p []vg.Point
	for i := range corners {
		a := start + 2*math.Pi*float64(i)/float64(corners)
		p = append(p, vg.Point{X: vg.Length(radius * math.Cos(a)), Y: vg.Length(radius * math.Sin(a))})
	}
	return p
}

func star(points int, outer, inner float64) []vg.Point {
	a := polygon(points, math.Pi/2, outer)
	b := polygon(points, math.Pi/2+math.Pi/float64(points), inner)
	var p []vg.Point
	for i := range a {
		p = append(p, a[i], b[i])
	}
	return p
}

// cross is a plus sign turned by an angle.
func cross(turn float64) []vg.Point {
	var p []vg.Point
	for i := range 4 {
		a := turn + float64(i)*math.Pi/2
		sin, cos := math.Sincos(a)
		at := func(x, y float64) vg.Point {
			return vg.Point{X: vg.Length(x*cos - y*sin), Y: vg.Length(x*sin + y*cos)}
		}
		p = append(p, at(1.25, -0.4), at(1.25, 0.4), at(0.4, 0.4))
	}
	return p
}

const markerRadius = 2.3 * vg.Length(1)

// marker is a plot glyph of a style.
type marker struct{ Style }

// DrawGlyph draws the shape around a point. A circle is four Bézier quarters,
// because the PDF canvas paints an arc as a separate path.
func (m marker) DrawGlyph(c *draw.Canvas, _ draw.GlyphStyle, at vg.Point) {
	if m.Marker < 0 {
		return
	}
	var path vg.Path
	r := markerRadius
	if shape := shapes[m.Marker%len(shapes)]; shape != nil {
		for i, corner := range shape {
			p := at.Add(vg.Point{X: corner.X * r, Y: corner.Y * r})
			if i == 0 {
				path.Move(p)
			} else {
				path.Line(p)
			}
		}
	} else {
		const k = 0.5522847498 // 4/3·(√2−1)
		corner := []vg.Point{{X: r, Y: 0}, {X: 0, Y: r}, {X: -r, Y: 0}, {X: 0, Y: -r}, {X: r, Y: 0}}
		path.Move(at.Add(corner[0]))
		for i := range 4 {
			a := corner[i]
			b := corner[i+1]
			path.CubeTo(at.Add(a.Add(b.Scale(k))), at.Add(b.Add(a.Scale(k))), at.Add(b))
		}
	}
	path.Close()
	c.SetColor(m.Color)
	if m.Hollow {
		c.SetColor(paper)
	}
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: m.Color, Width: 0.9})
	c.Stroke(path)
}

// line is how a curve is drawn: subdued, as a level, or in the color of its mechanism.
func (s Style) line() draw.LineStyle {
	switch {
	case s.Subdued:
		return draw.LineStyle{Color: subdued, Width: 0.6}
	case s.Level:
		return draw.LineStyle{
			Color:  faint,
			Width:  1,
			Dashes: []vg.Length{3, 2},
		}
	}
	return draw.LineStyle{
		Color:  s.Color,
		Width:  1.1,
		Dashes: dashes[s.Dash%len(dashes)],
	}
}
