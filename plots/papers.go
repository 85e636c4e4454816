package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
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

// position is a value of a cell in a figure of a paper.
type position struct {
	results.Cell
	quantity string
	value    float64
}

// positions lists what cells of figures of papers hold.
func (v *view) positions() []position {
	var out []position
	for _, c := range v.Cells {
		for _, q := range c.Quantities() {
			column, _ := results.FindColumn(q)
			if x := c.Get(q); c.Panel != "" && !column.Derived && heading(q) != "" && x.Known() {
				out = append(out, position{c, q, float64(x)})
			}
		}
	}
	return out
}

// pointGroup is the content of one figure: one quantity of mechanisms and
// panels that belong together.
type pointGroup struct{ quantity, name string }

// singles are the panels with one value of x, or none.
func singles(points []position) map[string]bool {
	at := map[string]map[string]bool{}
	for _, p := range points {
		if at[p.Panel] == nil {
			at[p.Panel] = map[string]bool{}
		}
		if p.X.Known() {
			at[p.Panel][p.X.String()] = true
		}
	}
	single := map[string]bool{}
	for panel, xs := range at {
		single[panel] = len(xs) < 2
	}
	return single
}

// crowd returns the mechanism with most instances where there are more curves
// than a panel names.
func crowd(points []position) string {
	n, all, most := map[string]int{}, 0, ""
	for _, i := range results.Distinct(points, func(p position) results.Instance { return p.Instance() }) {
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

// grouping returns what separates different figures in the sources: a mechanism
// that crowds out others, panels without an x axis, and errors against β (with a
// panel per ε) by embedding and data set.
func grouping(points []position) func(position) pointGroup {
	single, apart := singles(points), crowd(points)
	return func(p position) pointGroup {
		name := strings.ReplaceAll(p.quantity, "_", "-")
		if p.Mechanism != "" && p.Mechanism == apart {
			name += "-" + slug(p.Mechanism)
		}
		switch {
		case single[p.Panel]:
			name += "-by-panel"
		case p.XName == "beta":
			name += "-" + slug(strings.TrimSpace(fmt.Sprintf("%s %s %dd", p.Dataset, p.Embedding, p.Dimension)))
		}
		return pointGroup{p.quantity, name}
	}
}

// paperFigures draws the figures of paper studies: every quantity against its x
// with one panel per data set, and the adversary's error against the utility loss
// where both were measured. Curves carry t intervals over repetitions (for N_w and
// S_w: over words).
func paperFigures(v *view) ([]Figure, error) {
	points := v.positions()
	groupOf := grouping(points)
	var figures []Figure
	add := func(f Figure, err error) {
		if err == nil {
			figures = append(figures, f)
		}
	}
	for _, g := range results.Distinct(points, groupOf) {
		shown := results.Where(points, func(p position) bool { return groupOf(p) == g })
		if g.quantity == "n_w" || g.quantity == "s_w" { // over words: embeddings are compared in one panel
			shown = panelsAsSeries(shown)
		}
		title, panels := v.curvePanels(g.quantity, shown)
		add(Curves("papers", g.name, pointTitle(title, shown), panels, pointNotes(shown)...))
		if g.quantity == "e_m_map" {
			lossName := strings.Replace(g.name, "e-m-map", "loss", 1)
			add(v.againstLoss(g.name, results.Where(points, func(p position) bool {
				return groupOf(p) == g || groupOf(p).name == lossName
			})))
		}
	}
	return reason(figures, "no cell is of a figure of a paper")
}

func cellsOf(points []position) []results.Cell {
	return list.Map(points, func(p position) results.Cell { return p.Cell })
}

func panelsOf(points []position) []string {
	return results.Distinct(points, func(p position) string { return p.Panel })
}

func seriesOf(points []position) []string {
	return results.Distinct(points, func(p position) string { return p.Series })
}

// seriesCurve is a curve without points: in the look of its mechanism if all its
// points and no other series' are of one instance, else in that of its place.
func (v *view) seriesCurve(series string, all []position) Curve {
	own := results.Where(all, func(p position) bool { return p.Series == series })
	c := Curve{Label: series, Name: series, Style: seriesStyle(slices.Index(seriesOf(all), series))}
	instances := results.Distinct(own, func(p position) results.Instance { return p.Instance() })
	if len(instances) == 1 && instances[0].Mechanism != "" && !slices.ContainsFunc(all, func(p position) bool {
		return p.Instance() == instances[0] && p.Series != series
	}) {
		var of []results.Instance // parameters of papers differ between figures, shades only within one
		for _, p := range all {
			if p.Mechanism == instances[0].Mechanism && !slices.Contains(of, p.Instance()) {
				of = append(of, p.Instance())
			}
		}
		c.Style = styleOf(instances[0], of)
	}
	cells := cellsOf(own)
	if c.Style.Hollow = slices.ContainsFunc(cells, unproved); c.Style.Hollow {
		c.Label += " " + dagger
	} else if slices.ContainsFunc(cells, scoped) {
		c.Label += " " + doubleDagger
	}
	return c
}

// pointCurves makes one curve per series out of the rows of a panel. Styles
// agree between panels of a figure. Rows without x become levels.
func (v *view) pointCurves(panel, quantity string, all []position) (curves []Curve, levels []Level) {
	for _, series := range seriesOf(all) {
		values := map[float64][]position{}
		var xs []float64
		var level []position
		for _, p := range all {
			if p.Panel != panel || p.quantity != quantity || p.Series != series {
				continue
			}
			if !p.X.Known() {
				level = append(level, p)
				continue
			}
			x := float64(p.X)
			if _, ok := values[x]; !ok {
				xs = append(xs, x)
			}
			values[x] = append(values[x], p)
		}
		if len(level) > 0 {
			p := meanOf(0, level)
			levels = append(levels, Level{Label: series, Y: p.Y, Low: p.Low, High: p.High})
		}
		if len(xs) == 0 {
			continue
		}
		slices.Sort(xs)
		c := v.seriesCurve(series, all)
		for _, x := range xs {
			c.Points = append(c.Points, meanOf(x, values[x]))
		}
		curves = append(curves, c)
	}
	return curves, levels
}

// meanOf is the mean of positions at x with its t interval; of one, with its own.
func meanOf(x float64, at []position) Point {
	values := list.Map(at, func(p position) float64 { return p.value })
	q := meanPoint(x, values)
	if m, ok := at[0].At(at[0].quantity); ok && len(at) == 1 {
		q.Low, q.High = float64(m.Low), float64(m.High)
	}
	return q
}

// curvePanels returns one panel per panel of the study.
func (v *view) curvePanels(quantity string, shown []position) (title string, panels []Panel) {
	names := panelsOf(shown)
	short, common := withoutCommon(names)
	for i, name := range names {
		p := Panel{Title: short[i], Y: Axis{Label: heading(quantity)}}
		p.Curves, p.Levels = v.pointCurves(name, quantity, shown)
		low, high := math.Inf(1), math.Inf(-1)
		for _, q := range shown {
			if q.Panel == name {
				p.X.Label = cmp.Or(axes[q.XName], q.XName)
				if q.X.Known() {
					low, high = min(low, float64(q.X)), max(high, float64(q.X))
				}
			}
		}
		p.X.Log = low > 0 && high/low >= 20
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
func panelsAsSeries(shown []position) []position {
	several := len(seriesOf(shown)) > 1
	out := slices.Clone(shown)
	for i, p := range out {
		out[i].Panel, out[i].Series = " ", p.Panel // not "", which is a cell of a study
		if several {
			out[i].Series += ": " + p.Series
		}
	}
	return out
}

// againstLoss draws the adversary's error over the mean utility loss at the
// same ε: the privacy gained for a loss.
func (v *view) againstLoss(of string, shown []position) (Figure, error) {
	var panels []Panel
	for _, name := range panelsOf(shown) {
		p := Panel{Title: name, X: Axis{Label: heading("loss")}, Y: Axis{Label: heading("e_m_map")}, InPlace: true}
		errors, _ := v.pointCurves(name, "e_m_map", shown)
		losses, _ := v.pointCurves(name, "loss", shown)
		for _, c := range errors {
			if c.Points = against(c, losses); len(c.Points) > 0 {
				p.Curves = append(p.Curves, c)
			}
		}
		panels = append(panels, p)
	}
	return Curves("papers", strings.Replace(of, "e-m-map", "e-m-against-loss", 1),
		pointTitle("Adversary’s error against utility loss", shown), panels,
		append([]string{"Up and left is better. Each line runs over ε."}, pointNotes(shown)...)...)
}

// against moves the points of c from ε to the mean of another curve at that ε.
func against(c Curve, others []Curve) []Point {
	i := slices.IndexFunc(others, func(e Curve) bool { return e.Label == c.Label })
	if i < 0 {
		return nil
	}
	var out []Point
	for _, p := range c.Points {
		for _, e := range others[i].Points {
			if e.X == p.X {
				p.At, p.X = "ε "+short(p.X), e.Y
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func pointTitle(what string, shown []position) string {
	mark := ""
	if slices.ContainsFunc(shown, func(p position) bool { return p.Generated }) {
		mark = " — generated data"
	}
	return title(what, results.Space{}, results.Task{}, nil) + mark
}

// pointNotes explains the bars, where some value was measured more than once.
func pointNotes(shown []position) []string {
	type place struct {
		panel, series, quantity string
		x                       float64
	}
	seen := map[place]bool{}
	for _, p := range shown {
		at := place{p.Panel, p.Series, p.quantity, float64(p.X)}
		if seen[at] {
			return append([]string{"Bars: 95% t interval."}, promiseNotes(cellsOf(shown))...)
		}
		seen[at] = true
	}
	return promiseNotes(cellsOf(shown))
}
