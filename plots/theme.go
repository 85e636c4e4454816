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
	ColumnWidth = 3.4 * vg.Inch
	PageWidth   = 7 * vg.Inch
)

// Theme is how a figure is put on paper.
type Theme struct {
	Width vg.Length // 0: ColumnWidth
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
	Ink     = color.RGBA{0x1b, 0x1b, 0x1b, 0xff} // text and axes
	Faint   = color.RGBA{0x6e, 0x6e, 0x6e, 0xff} // notes and the baseline
	Subdued = color.RGBA{0xc9, 0xc9, 0xc9, 0xff} // curves that are not named
	Rule    = color.RGBA{0xe2, 0xe2, 0xe2, 0xff} // grid lines
	Paper   = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// typeface is Liberation Sans, which has the metrics of Arial.
func typeface(size vg.Length, bold bool) gfont.Font {
	f := gfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = font.WeightBold
	}
	return f
}

func textStyle(size vg.Length, bold bool) text.Style {
	return text.Style{Color: Ink, Font: typeface(size, bold), XAlign: draw.XLeft, YAlign: draw.YTop,
		Handler: handler}
}

// newPlot returns an empty panel in the theme.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = typeface(labelSize, false)
		a.Label.TextStyle.Color = Ink
		a.Label.TextStyle.Handler = handler
		a.Label.Padding = 1
		a.Tick.Label.Font = typeface(tickSize, false)
		a.Tick.Label.Color = Ink
		a.Tick.Label.Handler = handler
		a.LineStyle = draw.LineStyle{Color: Ink, Width: 0.6}
		a.Tick.LineStyle = draw.LineStyle{Color: Ink, Width: 0.6}
		a.Tick.Length = 2.5
		a.Padding = 2
	}
	p.X.Label.Text = xLabel
	p.Y.Label.Text = yLabel
	return p
}
