package plots

import (
	"bytes"
	"fmt"
	"html"
	"image/png"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is one drawing. It is immutable and may be rendered many times.
type Figure struct {
	// Name is the file name without extension.
	Name string
	// Title is drawn above the panels; it states when data are generated.
	Title string
	// Caption describes what is shown, how it was computed, and its limits.
	Caption string
	// Description is the text for readers who cannot see the figure.
	Description string

	width, height vg.Length // as drawn
	scale         vg.Length // on paper ÷ as drawn
	draw          func(draw.Canvas)
	layout        layout
}

// Resized returns the figure at another width on paper and another size of
// labels, in points.
func (f Figure) Resized(width vg.Length, fontSize float64) Figure {
	scale := vg.Length(fontSize) / labelSize
	r := f.layout.sized(width / scale)
	r.Name, r.Title, r.Caption, r.Description, r.scale = f.Name, f.Title, f.Caption, f.Description, scale
	return r
}

// Size returns the figure's size on paper.
func (f Figure) Size() (width, height vg.Length) { return f.width * f.scale, f.height * f.scale }

// paint draws on a canvas of the figure's size on paper.
func (f Figure) paint(c vg.Canvas) {
	if f.scale != 1 {
		c.Scale(float64(f.scale), float64(f.scale))
	}
	f.draw(draw.NewCanvas(c, f.width, f.height))
}

// pngDPI is print resolution.
const pngDPI = 300

// Render draws the figure as "png", "svg" or "pdf". The same figure gives the
// same bytes in every run.
func (f Figure) Render(format string) ([]byte, error) {
	var buf bytes.Buffer
	width, height := f.Size()
	switch format {
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI), vgimg.UseBackgroundColor(Paper))
		f.paint(c)
		encoder := png.Encoder{CompressionLevel: png.BestSpeed} // 4% larger, a quarter faster
		err := encoder.Encode(&buf, c.Image())
		return buf.Bytes(), err
	case "svg":
		c := vgsvg.New(width, height)
		f.paint(c)
		if _, err := c.WriteTo(&buf); err != nil {
			return nil, err
		}
		return f.finishSVG(buf.Bytes()), nil
	case "pdf":
		c := newPDF(width, height)
		f.paint(c)
		return c.bytes()
	}
	return nil, fmt.Errorf("format = %q: must be one of %q", format, Formats)
}

// smaller removes attributes from each text that the whole drawing sets once or
// that are the default, half of its bytes.
var smaller = strings.NewReplacer("font-family:Liberation Sans;", "", "font-variant:normal;", "", "font-weight:normal;",
	"", "font-style:normal;", "", "\n\tstyle=", " style=")

// transparent matches the invisible background of a panel.
var transparent = regexp.MustCompile(`<path [^>]*fill-opacity:0" />\n?`)

// finishSVG gives the drawing a title and a description for screen readers,
// and names fonts of the same widths for machines without Liberation Sans.
func (f Figure) finishSVG(svg []byte) []byte {
	s := measured(smaller.Replace(transparent.ReplaceAllString(groupSVG(string(svg)), "")))
	open := strings.Index(s, "<svg")
	end := open + strings.Index(s[open:], ">") + 1
	id := "figure-" + f.Name
	head := strings.TrimSuffix(s[open:end], ">") + fmt.Sprintf(
		" style=\"font-family:'Liberation Sans',Arial,Helvetica,sans-serif\" role=\"img\" "+
			"aria-labelledby=\"%s-title %s-desc\">\n", id, id)
	head += fmt.Sprintf("<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>", id,
		html.EscapeString(f.Title), id, html.EscapeString(f.Description))
	return []byte(s[:open] + head + s[end:])
}

// legendEntry explains one style.
type legendEntry struct {
	label string
	style Style
	bar   bool // a filled box instead of line and marker
	level bool // the line of a Level
}

// layout is the common structure of all figures: a title, a grid of panels, one
// legend for all of them, notes.
type layout struct {
	title       string
	panels      []*plot.Plot
	titles      []string // one per panel
	columns     int
	width       vg.Length
	panelHeight vg.Length
	head        vg.Length // space above a panel in addition to its title
	legend      []legendEntry
	notes       []string
}

const margin = 4 * vg.Length(1)

// figure returns the drawing for one column, without name and texts.
func (l layout) figure() Figure { return l.sized(ColumnWidth) }

// sized fixes the size.
func (l layout) sized(width vg.Length) Figure {
	l.width = width
	inner := width - 2*margin
	title := wrap(l.title, titleSize, true, inner)
	legendRows, legendColumns := l.legendGrid(inner)
	var notes []string
	for _, n := range l.notes {
		notes = append(notes, wrap(n, noteSize, false, inner)...)
	}
	rows := (len(l.panels) + l.columns - 1) / l.columns
	inside := l.legendFitsInside(inner)
	if inside {
		legendRows = 0
	}

	panelHeight := l.panelHeight + l.headHeight()
	titleHeight := vg.Length(len(title))*titleSize*1.2 + 4
	legendHeight := vg.Length(legendRows) * legendSize * 1.45
	notesHeight := vg.Length(len(notes)) * noteSize * 1.2
	if legendRows > 0 {
		legendHeight += 4
	}
	if len(notes) > 0 {
		notesHeight += 3
	}
	height := 2*margin + titleHeight + vg.Length(rows)*panelHeight + legendHeight + notesHeight

	return Figure{
		Title: l.title,
		width: width, height: height, scale: 1, layout: l,
		draw: func(c draw.Canvas) {
			top := c.Max.Y - margin
			for i, line := range title {
				c.FillText(textStyle(titleSize, true), vg.Point{X: margin, Y: top - vg.Length(i)*titleSize*1.2}, line)
			}
			panels := draw.Crop(c, margin, -margin, margin+notesHeight+legendHeight, -margin-titleHeight)
			l.drawPanels(panels, rows)
			if inside {
				cell := inner / vg.Length(l.columns)
				l.drawLegend(c, margin+inner-cell+16, margin+notesHeight+l.panelHeight+4, 1, cell-16)
			} else {
				l.drawLegend(c, margin, margin+notesHeight+legendHeight-4, legendColumns, inner)
			}
			faint := textStyle(noteSize, false)
			faint.Color = Faint
			for i, line := range notes {
				c.FillText(faint, vg.Point{X: margin, Y: margin + notesHeight - 3 - vg.Length(i)*noteSize*1.2}, line)
			}
		},
	}
}

// add appends a panel under a separate title: plot titles would misalign the
// panels of a row.
func (l *layout) add(title string, p *plot.Plot) {
	l.titles = append(l.titles, title)
	l.panels = append(l.panels, p)
}

const titleLine = labelSize * 1.15

// headHeight returns the space for panel titles: two lines where one may not be
// enough.
func (l layout) headHeight() vg.Length {
	cell := (l.width - 2*margin) / vg.Length(l.columns)
	lines := 0
	for _, title := range l.titles {
		switch {
		case title == "":
		case textStyle(labelSize, true).Width(title) > 0.7*cell:
			lines = max(lines, 2)
		default:
			lines = max(lines, 1)
		}
	}
	return vg.Length(lines)*titleLine + 4 + l.head
}

func (l layout) drawPanels(c draw.Canvas, rows int) {
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, l.columns)
		for j := range grid[i] {
			if k := i*l.columns + j; k < len(l.panels) {
				grid[i][j] = l.panels[k]
			}
		}
	}
	head := l.headHeight()
	tiles := draw.Tiles{Rows: rows, Cols: l.columns, PadX: 8, PadTop: head, PadY: head + 3, PadRight: 4}
	canvases := plot.Align(grid, tiles, c)
	for i := range grid {
		for j, p := range grid[i] {
			if p == nil {
				continue
			}
			p.Draw(canvases[i][j])
			data := p.DataCanvas(canvases[i][j])
			left := data.Min.X - 4
			lines := breakTitle(l.titles[i*l.columns+j], data.Max.X+4-left)
			for k, line := range lines {
				up := vg.Length(len(lines)-k)*titleLine + 2
				c.FillText(textStyle(labelSize, true), vg.Point{X: left, Y: data.Max.Y + up}, line)
			}
		}
	}
}

// breakTitle breaks a panel's title after hyphens and spaces until it fits.
func breakTitle(title string, width vg.Length) []string {
	style := textStyle(labelSize, true)
	var lines []string
	for _, word := range strings.Fields(title) {
		for i, piece := range strings.SplitAfter(word, "-") {
			if i == 0 && len(lines) > 0 {
				piece = " " + piece
			}
			if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+piece) <= width {
				lines[last] += piece
			} else {
				lines = append(lines, strings.TrimSpace(piece))
			}
		}
	}
	return lines
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
		widest = max(widest, textStyle(legendSize, false).Width(e.label))
	}
	columns = max(1, int(width/(swatch+widest+4)))
	columns = min(columns, len(l.legend), 4)
	return (len(l.legend) + columns - 1) / columns, columns
}

// legendFitsInside reports whether the last cell of the grid is free and the
// legend fits there in one column.
func (l layout) legendFitsInside(width vg.Length) bool {
	if l.columns < 2 || len(l.panels)%l.columns == 0 ||
		slices.ContainsFunc(l.legend, func(e legendEntry) bool { return e.bar }) {
		return false // next to bars it would look like one of them
	}
	cell := width/vg.Length(l.columns) - 16
	for _, e := range l.legend {
		if swatch+textStyle(legendSize, false).Width(e.label) > cell {
			return false
		}
	}
	return vg.Length(len(l.legend))*legendLine < l.panelHeight+l.headHeight()-4
}

func (l layout) drawLegend(c draw.Canvas, left, top vg.Length, columns int, width vg.Length) {
	if columns == 0 {
		return
	}
	rows := (len(l.legend) + columns - 1) / columns
	for i, e := range l.legend {
		// Down the columns first: neighbours in order stay together.
		x := left + vg.Length(i/rows)*width/vg.Length(columns)
		y := top - vg.Length(i%rows)*legendLine
		middle := y - legendSize*0.55
		group(c, "legend", func() { e.draw(c, x, y, middle) }, "series", e.label)
	}
}

// draw draws an entry of a legend.
func (e legendEntry) draw(c draw.Canvas, x, y, middle vg.Length) {
	switch {
	case e.bar:
		c.FillPolygon(e.style.Color, rectangle(x+4, middle-3, x+swatch-4, middle+3))
	case e.level:
		c.StrokeLine2(levelStyle, x, middle, x+swatch-3, middle)
	case e.style.Step:
		c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 3}, x, middle, x+swatch-3, middle)
	default:
		if !e.style.NoLine {
			c.StrokeLine2(e.style.line(), x, middle, x+swatch-3, middle)
		}
		if e.style.Marker >= 0 {
			drawMarker(c, e.style, vg.Point{X: x + (swatch-3)/2, Y: middle})
		}
	}
	c.FillText(textStyle(legendSize, false), vg.Point{X: x + swatch, Y: y}, e.label)
}

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// wrap breaks text into lines no wider than width.
func wrap(s string, size vg.Length, bold bool, width vg.Length) []string {
	style := textStyle(size, bold)
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && style.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
