package plots

import (
	"math"
	"strings"

	"mldpbench/results/quantity"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// subscripts is a text handler that sets N_w as usual in the literature: the
// letters after an underscore are small and lowered. Only underscores after a
// single capital letter count, so names with underscores are unchanged. Texts have
// one line.
type subscripts struct{ text.Plain }

var handler = subscripts{text.Plain{Fonts: plot.DefaultTextHandler.Cache()}}

// span is a piece of a line, and the size of its letters and how far they are lowered, in
// sizes of the font.
type span struct {
	text       string
	size, down vg.Length
}

func spans(line string) (out []span) {
	at := 0
	for _, m := range quantity.Subscripted.FindAllStringSubmatchIndex(line, -1) {
		out = append(out, span{line[at:m[3]], 1, 0}, span{line[m[4]:m[5]], 0.72, 0.22})
		at = m[5]
	}
	if at < len(line) || len(out) == 0 {
		out = append(out, span{line[at:], 1, 0})
	}
	return out
}

// Box returns the size of a line.
func (h subscripts) Box(line string, fnt font.Font) (width, height, depth vg.Length) {
	for _, s := range spans(line) {
		face := h.Fonts.Lookup(fnt, fnt.Size*s.size)
		width += face.Width(s.text)
	}
	e := h.Extents(fnt)
	return width, e.Ascent, e.Descent
}

// Draw places a line as text.Plain does.
func (h subscripts) Draw(c vg.Canvas, line string, sty text.Style, pt vg.Point) {
	if line == "" {
		return
	}
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin, cos := math.Sincos(sty.Rotation)
	width, _, _ := h.Box(line, sty.Font)
	x := pt.Y*vg.Length(sin) + pt.X*vg.Length(cos) + vg.Length(sty.XAlign)*width
	y := pt.Y*vg.Length(cos) - pt.X*vg.Length(sin) + sty.Height(line)*vg.Length(sty.YAlign) -
		h.Extents(sty.Font).Ascent + sty.Font.Size
	for _, s := range spans(line) {
		face := h.Fonts.Lookup(sty.Font, sty.Font.Size*s.size)
		down := sty.Font.Size * s.down
		// SVG drops a piece's leading space: move instead of drawing it.
		visible := strings.TrimLeft(s.text, " ")
		indent := face.Width(s.text[:len(s.text)-len(visible)])
		if visible != "" {
			c.FillString(face, vg.Point{X: x + indent, Y: y - down}, visible)
		}
		x += face.Width(s.text)
	}
}
