package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/png"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"

	"mldpbench/internal/list"
)

// Figure is one drawing. It is immutable and may be rendered many times.
type Figure struct {
	Name  string // of its file, without extension
	Title string // above the panels; it states when data are generated
	// Caption says how what is shown was computed, and its limits.
	Caption string

	panels        []Panel
	with          string // what the figure is one of
	theme         Theme
	width, height vg.Length // on paper
	draw          func(draw.Canvas)
	layout        layout
}

// In returns the figure in another theme.
func (f Figure) In(t Theme) Figure {
	usual := columnWidth
	if len(f.panels) > 2 {
		usual = pageWidth
	}
	l := f.layout
	if t.Bare {
		l.title = ""
		l.notes = nil
	}
	t.Width = cmp.Or(t.Width, usual)
	f.theme = t
	f.width = t.Width
	f.height, f.draw = l.sized(f.width)
	return f
}

// paint draws on a canvas of the figure's size.
func (f Figure) paint(c vg.Canvas) { f.draw(draw.NewCanvas(c, f.width, f.height)) }

// pngDPI is print resolution.
const pngDPI = 300

// Render draws the figure as "png", "svg" or "pdf". The same figure gives the
// same bytes in every run. Letters of a PDF are outlines, those of an SVG text that
// takes as much room in any font.
func (f Figure) Render(format string) ([]byte, error) {
	var buf bytes.Buffer
	switch format {
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(paper))
		f.paint(c)
		encoder := png.Encoder{CompressionLevel: png.BestSpeed} // 4% larger, a quarter faster
		err := encoder.Encode(&buf, c.Image())
		return buf.Bytes(), err
	case "svg":
		return []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + f.svg(f.Caption)), nil
	case "pdf":
		c := pdfCanvas{vgpdf.New(f.width, f.height)}
		f.paint(c)
		return c.bytes()
	}
	return nil, fmt.Errorf("format = %q: must be one of %q", format, Formats)
}

// lacking are letters of the figure that the font does not have, at most ten of them.
func (f Figure) lacking() string {
	c := newSVG(f.height)
	f.paint(c)
	return string(c.lacking[:min(10, len(c.lacking))])
}

// Inline returns the drawing as an svg element of a page, with letters as text.
func (f Figure) Inline() string { return f.svg("") }

// svg is the drawing as an svg element: of a page without a description, else of a file of its own, with its size.
func (f Figure) svg(description string) string {
	c := newSVG(f.height)
	f.paint(c)
	c.flush()
	w := decimal(float64(f.width))
	h := decimal(float64(f.height))
	title := html.EscapeString(wellFormed(f.Title))
	size := ""
	label := fmt.Sprintf(` aria-label="%s"`, title)
	head := ""
	if description != "" {
		id := "figure-" + f.Name
		size = fmt.Sprintf(` width="%spt" height="%spt"`, w, h)
		label = fmt.Sprintf(` aria-labelledby="%s-title %s-desc"`, id, id)
		head = fmt.Sprintf("<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", id, title, id,
			html.EscapeString(wellFormed(description)))
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\"%s viewBox=\"0 0 %s %s\" fill=\"#1b1b1b\" "+
		"font-family=\"'Liberation Sans',Arial,Helvetica,sans-serif\" role=\"img\"%s>\n%s%s</svg>\n", size, w, h, label,
		head, c.out.String())
}

// legendEntry explains one style.
type legendEntry struct {
	label string
	style Style
}

// layout is the common structure of all figures: a title, a grid of panels, one
// legend for all of them, notes.
type layout struct {
	title       string
	panels      []*plot.Plot
	titles      []string // one per panel, set apart: plot titles would misalign the panels of a row
	columns     int      // 0: as many as fit
	width       vg.Length
	panelHeight vg.Length
	legend      []legendEntry
	notes       []string
}

const margin = 4 * vg.Length(1)

// sized fixes the width.
func (l layout) sized(width vg.Length) (height vg.Length, show func(draw.Canvas)) {
	l.width = width
	if l.columns == 0 {
		l.columns = min(len(l.panels), 2)
		if width > 5*vg.Inch {
			l.columns = min(len(l.panels), 3)
		}
	}
	inner := width - 2*margin
	title := wrap(l.title, bold(titleSize), inner)
	legendRows, legendColumns := l.legendGrid(inner)
	notes := slices.Concat(list.Map(l.notes, func(n string) []string {
		return wrap(n, regular(noteSize), inner)
	})...)
	rows := (len(l.panels) + l.columns - 1) / l.columns
	panelHeight := l.panelHeight + l.headHeight()
	block := func(lines int, size, spacing, gap vg.Length) vg.Length { // no gap without lines
		return vg.Length(lines)*size*spacing + vg.Length(min(lines, 1))*gap
	}
	titleHeight := block(len(title), titleSize, 1.2, 4)
	legendHeight := block(legendRows, legendSize, 1.45, 4)
	notesHeight := block(len(notes), noteSize, 1.2, 3)
	height = 2*margin + titleHeight + vg.Length(rows)*panelHeight + legendHeight + notesHeight
	return height, func(c draw.Canvas) {
		write := func(style text.Style, y vg.Length, lines []string) {
			for i, line := range lines {
				c.FillText(style, vg.Point{X: margin, Y: y - vg.Length(i)*style.Font.Size*1.2}, line)
			}
		}
		write(textStyle(bold(titleSize)), c.Max.Y-margin, title)
		l.drawPanels(draw.Crop(c, margin, -margin, margin+notesHeight+legendHeight, -margin-titleHeight), rows)
		l.drawLegend(c, margin, margin+notesHeight+legendHeight-4, legendRows, legendColumns, inner)
		style := textStyle(regular(noteSize))
		style.Color = faint
		write(style, margin+notesHeight-3, notes)
	}
}

const titleLine = labelSize * 1.15

// headHeight returns the space for panel titles: two lines where one may not be
// enough.
func (l layout) headHeight() vg.Length {
	cell := (l.width - 2*margin) / vg.Length(l.columns)
	lines := 0
	for _, title := range l.titles {
		lines = max(lines, len(wrap(title, bold(labelSize), 0.75*cell)))
	}
	return vg.Length(lines)*titleLine + 4
}

// drawPanels draws the panels in a grid, their titles above them.
func (l layout) drawPanels(c draw.Canvas, rows int) {
	grid := make([][]*plot.Plot, rows)
	for k, p := range append(l.trimmed(), make([]*plot.Plot, rows*l.columns-len(l.panels))...) {
		grid[k/l.columns] = append(grid[k/l.columns], p)
	}
	head := l.headHeight()
	tiles := draw.Tiles{
		Rows:     rows,
		Cols:     l.columns,
		PadX:     8,
		PadTop:   head,
		PadY:     head + 3,
		PadRight: 4,
	}
	canvases := plot.Align(grid, tiles, c)
	for i := range grid {
		for j, p := range grid[i] {
			if p == nil {
				continue
			}
			p.Draw(canvases[i][j])
			data := p.DataCanvas(canvases[i][j])
			left := data.Min.X - 4
			lines := wrap(l.titles[i*l.columns+j], bold(labelSize), data.Max.X+4-left)
			for k, line := range lines {
				up := vg.Length(len(lines)-k)*titleLine + 2
				c.FillText(textStyle(bold(labelSize)), vg.Point{X: left, Y: data.Max.Y + up}, line)
			}
		}
	}
}

const (
	swatch     = 18 * vg.Length(1)
	legendLine = legendSize * 1.4
)

// legendGrid returns how many rows and columns the legend needs.
func (l layout) legendGrid(width vg.Length) (rows, columns int) {
	if len(l.legend) == 0 {
		return 0, 0
	}
	widest := vg.Length(0)
	for _, e := range l.legend {
		widest = max(widest, textStyle(regular(legendSize)).Width(e.label))
	}
	columns = max(1, int(width/(swatch+widest+4)))
	columns = min(columns, len(l.legend), 5)
	return (len(l.legend) + columns - 1) / columns, columns
}

func (l layout) drawLegend(c draw.Canvas, left, top vg.Length, rows, columns int, width vg.Length) {
	for i, e := range l.legend {
		// Down the columns first: neighbours in order stay together.
		x := left + vg.Length(i/rows)*width/vg.Length(columns)
		y := top - vg.Length(i%rows)*legendLine
		e.style.swatch(c, x, y-legendSize*0.55)
		c.FillText(textStyle(regular(legendSize)), vg.Point{X: x + swatch, Y: y}, e.label)
	}
}

// swatch draws a sample of a style.
func (s Style) swatch(c draw.Canvas, x, middle vg.Length) {
	if !s.NoLine {
		c.StrokeLine2(s.line(), x, middle, x+swatch-3, middle)
	}
	if !s.Subdued {
		marker{s}.DrawGlyph(&c, draw.GlyphStyle{}, vg.Point{X: x + (swatch-3)/2, Y: middle})
	}
}

// Swatch returns the sample of a style as an svg element of a page.
func (s Style) Swatch() string {
	f := Figure{
		width:  swatch - 3,
		height: 10,
		draw:   func(c draw.Canvas) { s.swatch(c, 0, 5) },
	}
	return f.svg("")
}

// wrap breaks text after spaces and hyphens into lines no wider than width.
func wrap(s string, face font.Font, width vg.Length) []string {
	style := textStyle(face)
	var lines []string
	for _, word := range strings.Fields(s) {
		for i, piece := range strings.SplitAfter(word, "-") {
			if i == 0 && len(lines) > 0 {
				piece = " " + piece
			}
			last := len(lines) - 1
			if last >= 0 && style.Width(lines[last]+piece) <= width {
				lines[last] += piece
				continue
			}
			start := strings.TrimSpace(piece)
			if start != "" {
				lines = append(lines, start)
			}
		}
	}
	return lines
}
