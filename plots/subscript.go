package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"mldpbench/results"
)

// subscripts is a text handler that sets N_w as usual in the literature: the
// letters after an underscore are small and lowered. Only underscores after a
// single capital letter count, so names with underscores are unchanged. Texts have
// one line.
type subscripts struct{ text.Plain }

var handler = subscripts{text.Plain{Fonts: plot.DefaultTextHandler.Cache()}}

// span is a piece of a line, lowered or not.
type span struct {
	text  string
	lower bool
}

func spans(line string) (out []span) {
	at := 0
	for _, m := range results.Subscripted.FindAllStringSubmatchIndex(line, -1) {
		out, at = append(out, span{line[at:m[3]], false}, span{line[m[4]:m[5]], true}), m[5]
	}
	if at < len(line) || len(out) == 0 {
		out = append(out, span{line[at:], false})
	}
	return out
}

func (h subscripts) face(fnt font.Font, s span) font.Face {
	if s.lower {
		return h.Fonts.Lookup(fnt, fnt.Size*0.72)
	}
	return h.Fonts.Lookup(fnt, fnt.Size)
}

// Box returns the size of a line.
func (h subscripts) Box(line string, fnt font.Font) (width, height, depth vg.Length) {
	for _, s := range spans(line) {
		face := h.face(fnt, s)
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
		face, down := h.face(sty.Font, s), vg.Length(0)
		if s.lower {
			down = sty.Font.Size * 0.22
		}
		// SVG drops a piece's leading space: move instead of drawing it.
		visible := strings.TrimLeft(s.text, " ")
		indent := face.Width(s.text[:len(s.text)-len(visible)])
		if visible != "" {
			c.FillString(face, vg.Point{X: x + indent, Y: y - down}, visible)
		}
		x += face.Width(s.text)
	}
}
