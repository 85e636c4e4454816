package plots

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labelEnds replaces the legend of a single panel by labels at the ends of its
// lines, where all of them end at the right and there is room.
func (l *layout) labelEnds(p Panel) {
	right := math.Inf(-1)
	ends := map[string]Point{}
	for _, c := range p.Curves {
		if kept, _ := p.usable(c.Points); len(kept) > 0 {
			last := slices.MaxFunc(kept, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
			ends[c.Label] = last
			right = max(right, last.X)
		}
	}
	widest := vg.Length(0)
	var entries []endLabel
	for _, e := range l.legend {
		end, found := ends[e.label]
		for _, v := range p.Levels {
			if v.Label == e.label {
				end, found = Point{X: right, Y: v.Y}, true
			}
		}
		if e.style.Subdued {
			continue
		}
		if !found || end.X != right || e.style.NoLine {
			return
		}
		entries = append(entries, endLabel{e, end.Y})
		widest = max(widest, textStyle(legendSize, false).Width(e.label))
	}
	if widest > 0.26*ColumnWidth || vg.Length(len(entries))*legendLine > l.panelHeight-30 || len(entries) == 0 {
		return
	}
	slices.SortStableFunc(entries, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	l.right, l.legend = widest+16, nil
	l.panels[0].Add(endLabels(entries))
}

type endLabel struct {
	legendEntry
	y float64
}

// endLabels are the names of lines at their right ends, from below.
type endLabels []endLabel

func (e endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	at := make([]vg.Length, len(e))
	for i := range e {
		if at[i] = ty(e[i].y); i > 0 {
			at[i] = max(at[i], at[i-1]+legendLine)
		}
	}
	for i, limit := len(e)-1, c.Max.Y; i >= 0; i-- {
		at[i] = min(at[i], limit)
		limit = at[i] - legendLine
	}
	style := textStyle(legendSize, false)
	style.YAlign = text.YCenter
	for i, l := range e {
		if l.style.Level {
			c.StrokeLine2(l.style.line(), c.Max.X+1, at[i], c.Max.X+10, at[i])
		} else {
			marker{l.style}.DrawGlyph(&c, draw.GlyphStyle{}, vg.Point{X: c.Max.X + 6, Y: at[i]})
		}
		c.FillText(style, vg.Point{X: c.Max.X + 12, Y: at[i]}, l.label)
	}
}
