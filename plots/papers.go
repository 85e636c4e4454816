package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// heading returns the axis label of a quantity, "" where it is not in the
// registry.
func heading(quantity string) string {
	c, err := results.FindColumn(quantity)
	if err != nil || c.Title == "" {
		return ""
	}
	return c.Heading()
}

// axes maps x to axis labels.
var axes = map[string]string{"epsilon": "ε", "beta": "β"}

// crowd returns the mechanism with most instances where there are more curves
// than a panel names.
func crowd(cells []results.Cell) string {
	n, all, most := map[string]int{}, 0, ""
	for _, i := range results.Distinct(cells, func(c results.Cell) results.Instance { return c.Instance() }) {
		if i.Mechanism == "" || i.Mechanism == results.BaselineMechanism {
			continue
		}
		all++
		if n[i.Mechanism]++; n[i.Mechanism] > max(1, n[most]) {
			most = i.Mechanism
		}
	}
	if all <= maxCurves {
		return ""
	}
	return most
}

// grouping returns what separates different figures of one quantity in the
// sources, as an ending of their names: a mechanism that crowds out others,
// panels without an x axis, and errors against β (with a panel per ε) by
// embedding and data set.
func grouping(cells []results.Cell) func(results.Cell) string {
	apart, xs := crowd(cells), map[string][]string{}
	for _, c := range cells {
		if x := c.X.String(); c.X.Known() && !slices.Contains(xs[c.Panel], x) {
			xs[c.Panel] = append(xs[c.Panel], x)
		}
	}
	return func(c results.Cell) (end string) {
		if c.Mechanism != "" && c.Mechanism == apart {
			end = "-" + tables.Slug(c.Mechanism)
		}
		switch {
		case len(xs[c.Panel]) < 2:
			end += "-by-panel"
		case c.XName == "beta":
			end += "-" + tables.Slug(strings.TrimSpace(fmt.Sprintf("%s %s %dd", c.Dataset, c.Embedding, c.Dimension)))
		}
		return end
	}
}

// paperFigures draws the figures of paper studies: every quantity against its x
// with one panel per data set, and the adversary's error against the utility loss
// where both were measured. Curves carry t intervals over repetitions (for N_w and
// S_w: over words).
func paperFigures(v *view) ([]Figure, error) {
	all := results.Where(v.Cells, func(c results.Cell) bool { return c.Panel != "" })
	group := grouping(all)
	var figures []Figure
	for _, q := range results.MeasuredColumns(all) {
		own := results.Where(all, func(c results.Cell) bool { return c.Has(q.Name) && !q.Derived })
		for _, end := range results.Distinct(own, group) {
			shown := results.Where(own, func(c results.Cell) bool { return group(c) == end })
			if q.OfWords { // embeddings are compared in one panel
				shown = panelsAsSeries(shown)
			}
			about, panels := v.curvePanels(q.Name, shown)
			f, err := Curves("papers", strings.ReplaceAll(q.Name, "_", "-")+end,
				title(about, results.Space{}, results.Task{}, shown), panels, pointNotes(q.Name, shown)...)
			if err == nil {
				figures = append(figures, f)
			}
			if q.Name != "e_m_map" {
				continue
			}
			both := results.Where(all, func(c results.Cell) bool { return group(c) == end })
			if f, err := v.againstLoss("e-m-against-loss"+end, both); err == nil {
				figures = append(figures, f)
			}
		}
	}
	return reason(figures, "no cell is of a figure of a paper")
}

func panelsOf(cells []results.Cell) []string {
	return results.Distinct(cells, func(c results.Cell) string { return c.Panel })
}

func seriesOf(cells []results.Cell) []string {
	return results.Distinct(cells, func(c results.Cell) string { return c.Series })
}

// seriesCurve is a curve without points: in the look of its mechanism if all its
// cells and no other series' are of one instance, else in that of its place.
func (v *view) seriesCurve(series string, all []results.Cell) Curve {
	own := results.Where(all, func(c results.Cell) bool { return c.Series == series })
	c := Curve{Label: series, Name: series, Style: seriesStyle(slices.Index(seriesOf(all), series))}
	instance := own[0].Instance()
	if instance.Mechanism != "" && !slices.ContainsFunc(all, func(c results.Cell) bool {
		return (c.Instance() == instance) != (c.Series == series)
	}) {
		// Parameters of papers differ between figures, shades only within one.
		c.Style = styleOf(instance, results.Distinct(all, func(c results.Cell) results.Instance { return c.Instance() }))
	}
	if mark := results.Mark(own); mark != "" {
		c.Style.Hollow = mark == results.UnprovedMark
		c.Label += " " + mark
	}
	return c
}

// seriesCurves makes one curve per series out of the cells of a panel: quantity y
// over the panel's own x or, where it has a name, over quantity x at the same own
// x. Styles agree between panels of a figure. Cells without x become levels.
func (v *view) seriesCurves(panel, x, y string, all []results.Cell) (curves []Curve, levels []Level) {
	for _, series := range seriesOf(all) {
		own := results.Where(all, func(c results.Cell) bool { return c.Panel == panel && c.Series == series })
		level := results.Where(own, func(c results.Cell) bool { return !c.X.Known() })
		if p, ok := mean(level, y); ok && x == "" {
			levels = append(levels, Level{Label: series, Y: p.Y, Low: p.Low, High: p.High})
		}
		points := pointsOf(results.Where(own, func(c results.Cell) bool { return c.X.Known() }),
			func(c results.Cell) results.Float { return c.X }, x, y)
		if len(points) > 0 {
			c := v.seriesCurve(series, all)
			c.Points = points
			curves = append(curves, c)
		}
	}
	return curves, levels
}

// curvePanels returns one panel per panel of the study.
func (v *view) curvePanels(quantity string, shown []results.Cell) (title string, panels []Panel) {
	names := panelsOf(shown)
	short, common := withoutCommon(names)
	for i, name := range names {
		p := Panel{Title: short[i], Y: Axis{Label: heading(quantity)}}
		p.Curves, p.Levels = v.seriesCurves(name, "", quantity, shown)
		var xs []float64
		for _, c := range shown {
			if c.Panel != name {
				continue
			}
			if p.X.Label = cmp.Or(axes[c.XName], c.XName); c.X.Known() {
				xs = append(xs, float64(c.X))
			}
		}
		p.X.Log = len(xs) > 0 && slices.Min(xs) > 0 && slices.Max(xs)/slices.Min(xs) >= 20
		p.InPlace = quantity == "distance" // percentiles do not hide each other
		panels = append(panels, p)
	}
	return heading(quantity) + common, panels
}

// withoutCommon removes the common beginning and end of names, in parts between
// commas; common is for a title.
func withoutCommon(names []string) (short []string, common string) {
	parts := list.Map(names, func(n string) []string { return strings.Split(n, ", ") })
	same := func(at func([]string) string) bool {
		return !slices.ContainsFunc(parts, func(p []string) bool {
			return len(names) < 2 || len(p) < 2 || at(p) != at(parts[0])
		})
	}
	first := func(p []string) string { return p[0] }
	last := func(p []string) string { return p[len(p)-1] }
	for len(parts) > 0 && same(first) {
		common += ", " + parts[0][0]
		for i, p := range parts {
			parts[i] = p[1:]
		}
	}
	for len(parts) > 0 && same(last) {
		common += ", " + last(parts[0])
		for i, p := range parts {
			parts[i] = p[:len(p)-1]
		}
	}
	for _, p := range parts {
		short = append(short, strings.Join(p, ", "))
	}
	return short, common
}

// panelsAsSeries turns the panels into curves of one panel.
func panelsAsSeries(shown []results.Cell) []results.Cell {
	several := len(seriesOf(shown)) > 1
	out := slices.Clone(shown)
	for i, c := range out {
		out[i].Panel, out[i].Series = " ", c.Panel // not "", which is a cell of a study
		if several {
			out[i].Series += ": " + c.Series
		}
	}
	return out
}

// againstLoss draws the adversary's error over the mean utility loss at the
// same ε: the privacy gained for a loss.
func (v *view) againstLoss(name string, shown []results.Cell) (Figure, error) {
	var panels []Panel
	for _, panel := range panelsOf(shown) {
		p := Panel{Title: panel, X: Axis{Label: heading("loss")}, Y: Axis{Label: heading("e_m_map")}, InPlace: true}
		p.Curves, _ = v.seriesCurves(panel, "loss", "e_m_map", shown)
		panels = append(panels, p)
	}
	return Curves("papers", name, title("Adversary’s error against utility loss", results.Space{},
		results.Task{}, shown), panels,
		append([]string{"Up and left is better. Each line runs over ε."}, pointNotes("e_m_map", shown)...)...)
}

// pointNotes explains the bars, where some value was measured more than once.
func pointNotes(quantity string, shown []results.Cell) (notes []string) {
	own := results.Where(shown, func(c results.Cell) bool { return c.Has(quantity) })
	if slices.ContainsFunc(results.GroupCells(own), func(g results.Cells) bool { return len(g.Cells) > 1 }) {
		notes = append(notes, "Bars: 95% t interval.")
	}
	return append(notes, promiseNotes(shown)...)
}
