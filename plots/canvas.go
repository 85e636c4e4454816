package plots

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/internal/list"
)

// svgCanvas writes small SVG: a third of the bytes of gonum's, with groups that
// carry data, and letters as outlines where the reader's fonts are unknown.
// Coordinates are in tenths of a point, from the top.
type svgCanvas struct {
	height  vg.Length
	out     bytes.Buffer
	stack   []svgState
	pending stroke
	lacking []rune // letters of texts that the font does not have
}

type svgState struct {
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	m      [6]float64 // x' = m0·x + m2·y + m4, y' = m1·x + m3·y + m5
}

// stroke is the last path, which the next one of the same style continues.
type stroke struct{ fill, style, d string }

func newSVG(height vg.Length) *svgCanvas {
	first := svgState{
		color: color.Black,
		width: 1,
		m:     [6]float64{1, 0, 0, 1, 0, 0},
	}
	return &svgCanvas{height: height, stack: []svgState{first}}
}

func (c *svgCanvas) top() *svgState                         { return &c.stack[len(c.stack)-1] }
func (c *svgCanvas) SetLineWidth(w vg.Length)               { c.top().width = w }
func (c *svgCanvas) Push()                                  { c.stack = append(c.stack, *c.top()) }
func (c *svgCanvas) Pop()                                   { c.stack = c.stack[:len(c.stack)-1] }
func (c *svgCanvas) Translate(p vg.Point)                   { c.multiply(1, 0, 0, 1, float64(p.X), float64(p.Y)) }
func (c *svgCanvas) Scale(x, y float64)                     { c.multiply(x, 0, 0, y, 0, 0) }
func (c *svgCanvas) SetLineDash(d []vg.Length, _ vg.Length) { c.top().dashes = d }

func (c *svgCanvas) SetColor(clr color.Color) {
	if clr == nil {
		clr = color.Black
	}
	c.top().color = clr
}

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.multiply(cos, sin, -sin, cos, 0, 0)
}

// DrawImage does nothing: no figure has images.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) {}

func (c *svgCanvas) multiply(a, b, d, e, x, y float64) {
	m := &c.top().m
	*m = [6]float64{m[0]*a + m[2]*b, m[1]*a + m[3]*b, m[0]*d + m[2]*e, m[1]*d + m[3]*e,
		m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]}
}

// at returns a point in tenths from the upper left corner.
func (c *svgCanvas) at(p vg.Point) (x, y int) {
	m := c.top().m
	return int(math.Round(10 * (m[0]*float64(p.X) + m[2]*float64(p.Y) + m[4]))),
		int(math.Round(10 * (float64(c.height) - m[1]*float64(p.X) - m[3]*float64(p.Y) - m[5])))
}

func (c *svgCanvas) scale() float64 { return math.Hypot(c.top().m[0], c.top().m[1]) }

func tenths(v int) string      { return strconv.FormatFloat(float64(v)/10, 'f', -1, 64) }
func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// curveCommand is that of a Bézier curve of so many control points, one or two.
func curveCommand(controls int) string {
	if controls == 1 {
		return "q"
	}
	return "c"
}

// data returns the path with relative coordinates.
func (c *svgCanvas) data(path vg.Path) string {
	var b strings.Builder
	var x0, y0 int
	for _, comp := range path {
		switch comp.Type {
		case vg.MoveComp:
			x0 = 0
			y0 = 0
			b.WriteString("M")
		case vg.LineComp:
			b.WriteString("l")
		case vg.CurveComp:
			b.WriteString(curveCommand(len(comp.Control)))
		case vg.CloseComp:
			b.WriteString("z")
			continue
		}
		for i, p := range append(slices.Clip(comp.Control), comp.Pos) {
			x, y := c.at(p)
			if i > 0 {
				b.WriteString(" ")
			}
			b.WriteString(tenths(x-x0) + " " + tenths(y-y0))
		}
		x0, y0 = c.at(comp.Pos)
	}
	return b.String()
}

// paint returns a colour as the value of attribute name.
func paint(name string, clr color.Color) string {
	n := color.NRGBAModel.Convert(clr).(color.NRGBA)
	s := fmt.Sprintf(` %s="#%02x%02x%02x"`, name, n.R, n.G, n.B)
	if n.A < 0xff {
		s += fmt.Sprintf(` %s-opacity="%s"`, name, decimal(float64(n.A)/255))
	}
	return s
}

// Stroke draws a line along a path. A fill of the same path, or lines of the same style, become one element with it.
func (c *svgCanvas) Stroke(path vg.Path) {
	s := c.top()
	if s.width <= 0 {
		return
	}
	style := paint("stroke", s.color) + ` stroke-width="` + decimal(float64(s.width)*c.scale()) + `"`
	if len(s.dashes) > 0 {
		parts := list.Map(s.dashes, func(d vg.Length) string {
			return decimal(float64(d) * c.scale())
		})
		style += ` stroke-dasharray="` + strings.Join(parts, " ") + `"`
	}
	d := c.data(path)
	switch p := &c.pending; {
	case p.d == d && p.fill != "" && p.style == "":
		p.style = style
	case p.d != "" && p.fill == "" && p.style == style:
		p.d += d
	default:
		c.flush()
		c.pending = stroke{"", style, d}
	}
}

func (c *svgCanvas) Fill(path vg.Path) {
	c.flush()
	if _, _, _, a := c.top().color.RGBA(); a > 0 {
		c.pending = stroke{paint("fill", c.top().color), "", c.data(path)}
	}
}

// flush writes the pending path.
func (c *svgCanvas) flush() {
	p := c.pending
	c.pending = stroke{}
	if p.d == "" {
		return
	}
	if p.fill == "" {
		p.fill = ` fill="none"`
	}
	fmt.Fprintf(&c.out, "<path%s%s d=\"%s\"/>\n", p.fill, p.style, p.d)
}

// FillString writes a text; letters that the font lacks are noted.
func (c *svgCanvas) FillString(face font.Face, at vg.Point, s string) {
	if s = wellFormed(s); strings.TrimSpace(s) == "" {
		return
	}
	for _, r := range s {
		if !has(face, r) && !slices.Contains(c.lacking, r) {
			c.lacking = append(c.lacking, r)
		}
	}
	c.flush()
	x, y := c.at(at)
	m := c.top().m
	turn := -math.Atan2(m[1], m[0]) * 180 / math.Pi
	size := float64(face.Font.Size) * c.scale()
	style := ""
	if face.Font.Weight == stdfont.WeightBold {
		style = ` font-weight="bold"`
	}
	if c.top().color != ink {
		style += paint("fill", c.top().color)
	}
	if math.Abs(turn) > 0.01 {
		style += fmt.Sprintf(` transform="rotate(%s %s %s)"`, decimal(turn), tenths(x), tenths(y))
	}
	// The reader's font may be wider than ours, and a subscript follows.
	if width := float64(face.Width(s)) * c.scale(); width > 4*size {
		style += fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, decimal(width))
	}
	fmt.Fprintf(&c.out, "<text x=\"%s\" y=\"%s\" font-size=\"%s\"%s>%s</text>\n", tenths(x), tenths(y), decimal(size),
		style, html.EscapeString(s))
}

// begin opens a group of a class with attributes, names and values in turn.
func (c *svgCanvas) begin(class string, attributes ...string) {
	c.flush()
	fmt.Fprintf(&c.out, "<g class=\"%s\"", class)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			fmt.Fprintf(&c.out, " %s=\"%s\"", attributes[i], html.EscapeString(wellFormed(attributes[i+1])))
		}
	}
	c.out.WriteString(">\n")
}

func (c *svgCanvas) end() {
	c.flush()
	c.out.WriteString("</g>\n")
}

// group draws the shapes of a group, which an SVG marks up: a curve is a group
// of class series, its points in it one of class points.
func group(c draw.Canvas, class string, show func(), attributes ...string) {
	inner := c.Canvas
	for tile, nested := inner.(draw.Canvas); nested; tile, nested = inner.(draw.Canvas) { // of a grid of panels
		inner = tile.Canvas
	}
	svg, ok := inner.(*svgCanvas)
	if !ok {
		show()
		return
	}
	svg.begin(class, attributes...)
	show()
	svg.end()
}

// wellFormed replaces what XML does not allow, so that no name of a data set or
// mechanism makes a broken file.
func wellFormed(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff:
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
