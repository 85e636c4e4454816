package plots

import (
	"image/color"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	gfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Widths of figures: one column of a two-column paper (the default), and both.
const (
	columnWidth = 3.4 * vg.Inch
	pageWidth   = 7 * vg.Inch
)

// Theme is how a figure is put on paper.
type Theme struct {
	Width vg.Length // 0: columnWidth
	Bare  bool      // without title and notes
}

// Sizes of text, in points on paper.
const (
	titleSize  = 8.5 * vg.Length(1)
	labelSize  = 7.5 * vg.Length(1)
	tickSize   = 7 * vg.Length(1)
	legendSize = 7 * vg.Length(1)
	noteSize   = 6.5 * vg.Length(1)
)

// Colours of everything that is not data.
var (
	ink     = color.RGBA{0x1b, 0x1b, 0x1b, 0xff} // text and axes
	faint   = color.RGBA{0x6e, 0x6e, 0x6e, 0xff} // notes and the baseline
	subdued = color.RGBA{0xc9, 0xc9, 0xc9, 0xff} // curves that are not named
	rule    = color.RGBA{0xe2, 0xe2, 0xe2, 0xff} // grid lines
	paper   = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// regular is Liberation Sans, which has the metrics of Arial.
func regular(size vg.Length) gfont.Font {
	return gfont.Font{
		Typeface: "Liberation",
		Variant:  "Sans",
		Size:     size,
	}
}

// bold is the bold face of regular.
func bold(size vg.Length) gfont.Font {
	face := regular(size)
	face.Weight = font.WeightBold
	return face
}

// textStyle is that of text in a face, below and to the right of a point.
func textStyle(face gfont.Font) text.Style {
	return text.Style{
		Color:   ink,
		Font:    face,
		XAlign:  draw.XLeft,
		YAlign:  draw.YTop,
		Handler: handler,
	}
}

// newPlot returns an empty panel in the theme.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = regular(labelSize)
		a.Label.TextStyle.Color = ink
		a.Label.TextStyle.Handler = handler
		a.Label.Padding = 1
		a.Tick.Label.Font = regular(tickSize)
		a.Tick.Label.Color = ink
		a.Tick.Label.Handler = handler
		a.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
		a.Tick.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
		a.Tick.Length = 2.5
		a.Padding = 2
	}
	p.X.Label.Text = xLabel
	p.Y.Label.Text = yLabel
	return p
}
