package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// subscripts is a text handler that sets N_w as usual in the literature: the
// letters after an underscore are small and lowered. Only underscores after a
// single capital letter count, so names with underscores are unchanged.
type subscripts struct{}

// span is a piece of a line, lowered or not.
type span struct {
	text  string
	lower bool
}

func spans(line string) []span {
	var out []span
	start := 0
	for i := 1; i < len(line); i++ {
		capital := line[i-1] >= 'A' && line[i-1] <= 'Z' && (i == 1 || !isLetter(line[i-2]))
		if line[i] != '_' || !capital {
			continue
		}
		end := i + 1
		for end < len(line) && isLetter(line[end]) {
			end++
		}
		if end == i+1 {
			continue
		}
		out = append(out, span{line[start:i], false}, span{line[i+1 : end], true})
		start = end
	}
	if start < len(line) || len(out) == 0 {
		out = append(out, span{line[start:], false})
	}
	return out
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func (subscripts) plain() text.Plain { return text.Plain{Fonts: plot.DefaultTextHandler.Cache()} }

func (h subscripts) Cache() *font.Cache                 { return h.plain().Cache() }
func (h subscripts) Extents(fnt font.Font) font.Extents { return h.plain().Extents(fnt) }
func (h subscripts) Lines(txt string) []string          { return h.plain().Lines(txt) }
func (h subscripts) face(fnt font.Font, s span) font.Face {
	size := fnt.Size
	if s.lower {
		size *= 0.72
	}
	return h.Cache().Lookup(fnt, size)
}

func (h subscripts) Box(txt string, fnt font.Font) (width, height, depth vg.Length) {
	for _, s := range spans(txt) {
		face := h.face(fnt, s)
		width += face.Width(s.text)
	}
	e := h.Extents(fnt)
	return width, e.Ascent, e.Descent
}

// Draw places lines as text.Plain does.
func (h subscripts) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	txt = strings.TrimRight(txt, "\n")
	if txt == "" {
		return
	}
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin, cos := math.Sincos(sty.Rotation)
	pt.X, pt.Y = pt.Y*vg.Length(sin)+pt.X*vg.Length(cos), pt.Y*vg.Length(cos)-pt.X*vg.Length(sin)
	lines := h.Lines(txt)
	pt.Y += sty.Height(txt)*vg.Length(sty.YAlign) - h.Extents(sty.Font).Ascent
	for i, line := range lines {
		width, _, _ := h.Box(line, sty.Font)
		at := pt.Add(vg.Point{X: vg.Length(sty.XAlign) * width, Y: vg.Length(len(lines)-i) * sty.Font.Size})
		for _, s := range spans(line) {
			face := h.face(sty.Font, s)
			down := vg.Length(0)
			if s.lower {
				down = sty.Font.Size * 0.22
			}
			// SVG drops a piece's leading space: move instead of drawing it.
			visible := strings.TrimLeft(s.text, " ")
			indent := face.Width(s.text[:len(s.text)-len(visible)])
			if visible != "" {
				c.FillString(face, vg.Point{X: at.X + indent, Y: at.Y - down}, visible)
			}
			at.X += face.Width(s.text)
		}
	}
}
