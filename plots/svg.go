package plots

import (
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"

	gfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// An SVG marks up its shapes: a curve is a group of class series; a datum in it
// is a group of class point with its values and a title, which a browser shows
// as a tooltip; an entry of the legend is a group of class legend. The canvas
// has no groups, so they are written as texts of private characters, which
// groupSVG replaces. Other formats have no such groups.
const (
	openMark, closeMark = "\ue000", "\ue001"
	attributeMark       = "\ue002"
)

// datum is the data of a point in a figure.
type datum struct {
	panel, series, x string
	y, low, high     float64
	tell             func(float64) string
}

func (d datum) tip() string {
	s := d.series + ": " + d.tell(d.y)
	if finite(d.low) && d.high > d.low {
		s += " (" + d.tell(d.low) + " to " + d.tell(d.high) + ")"
	}
	if d.x != "" {
		s += " at " + d.x
	}
	if d.panel != "" {
		s += ", " + d.panel
	}
	return s
}

// point draws the shapes of a datum.
func (d datum) point(c draw.Canvas, show func()) {
	number := func(v float64) string {
		if !finite(v) {
			return ""
		}
		return short(v)
	}
	group(c, "point", show, "panel", d.panel, "series", d.series, "x", d.x, "y", d.tell(d.y),
		"low", number(d.low), "high", number(d.high), "tip", d.tip())
}

// group draws a group of a class with attributes, names and values in turn.
func group(c draw.Canvas, class string, show func(), attributes ...string) {
	inner := c.Canvas
	for {
		tile, nested := inner.(draw.Canvas) // of a grid of panels
		if !nested {
			break
		}
		inner = tile.Canvas
	}
	svg, ok := inner.(*vgsvg.Canvas)
	if !ok {
		show()
		return
	}
	text := openMark + class
	for i := 0; i < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			text += attributeMark + attributes[i] + "=" + attributes[i+1]
		}
	}
	face := gfont.DefaultCache.Lookup(typeface(noteSize, false), noteSize)
	svg.FillString(face, vg.Point{}, text)
	show()
	svg.FillString(face, vg.Point{}, closeMark)
}

var marked = regexp.MustCompile(`<text [^>]*>(` + openMark + `|` + closeMark + `)([^<]*)</text>\n?`)

// groupSVG turns marks into groups. Their texts are escaped already.
func groupSVG(svg string) string {
	return marked.ReplaceAllStringFunc(svg, func(text string) string {
		m := marked.FindStringSubmatch(text)
		if m[1] == closeMark {
			return "</g>\n"
		}
		fields := strings.Split(m[2], attributeMark)
		out, title := `<g class="`+fields[0]+`"`, ""
		for _, f := range fields[1:] {
			name, value, _ := strings.Cut(f, "=")
			if name == "tip" {
				title = "<title>" + value + "</title>"
				continue
			}
			out += ` data-` + name + `="` + value + `"`
		}
		return out + ">" + title + "\n"
	})
}

var lettering = regexp.MustCompile(`(<text [^>]*?)style="([^"]*?font-size:([0-9.]+)px[^"]*)"([^>]*)>([^<]*)<`)

// measured sets the width of each text to its width in the layout, so a browser
// without this font does not move subscripts into words or labels out of the
// drawing.
func measured(svg string) string {
	return lettering.ReplaceAllStringFunc(svg, func(text string) string {
		m := lettering.FindStringSubmatch(text)
		size, err := strconv.ParseFloat(m[3], 64)
		if err != nil || m[5] == "" {
			return text
		}
		face := gfont.DefaultCache.Lookup(typeface(vg.Length(size), strings.Contains(m[2], "font-weight:bold")),
			vg.Length(size))
		width := strconv.FormatFloat(float64(face.Width(html.UnescapeString(m[5]))), 'f', 1, 64)
		return m[1] + `textLength="` + width + `" lengthAdjust="spacingAndGlyphs" style="` + m[2] + `"` + m[4] + ">" +
			m[5] + "<"
	})
}

// noBound is the missing end of an interval.
var noBound = math.NaN()
