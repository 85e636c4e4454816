package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
)

// heading returns the axis label of what a row measures, "" where it is not in
// the registry.
func heading(quantity string) string {
	c, err := results.FindColumn(quantity)
	if err != nil {
		return ""
	}
	return c.Heading()
}

// axes maps x to axis labels.
var axes = map[string]string{"epsilon": "ε", "beta": "β", "k": "k"}

// pointGroup is the content of one figure: one quantity of mechanisms and
// panels that belong together.
type pointGroup struct{ quantity, name string }

// grouping sorts points into figures.
type grouping struct {
	single map[string]bool // panels with one value of x, or none
	apart  string          // mechanism with figures of its own, "" for none
}

func newGrouping(points []results.Record) grouping {
	places := map[string]map[results.Float]bool{}
	for _, p := range points {
		if heading(p.Quantity) == "" {
			continue
		}
		if places[p.Panel] == nil {
			places[p.Panel] = map[results.Float]bool{}
		}
		if p.X.Known() {
			places[p.Panel][p.X] = true
		}
	}
	g := grouping{map[string]bool{}, crowd(points)}
	for panel, xs := range places {
		g.single[panel] = len(xs) < 2
	}
	return g
}

// crowd returns the mechanism with most instances where there are more curves
// than colours.
func crowd(points []results.Record) string {
	instances := results.Instances(results.Where(points,
		func(p results.Record) bool { return p.Mechanism != "" && p.Mechanism != baseline }))
	if len(instances) <= len(palette) {
		return ""
	}
	n := map[string]int{}
	most := ""
	for _, i := range instances {
		if n[i.Mechanism]++; n[i.Mechanism] > max(1, n[most]) {
			most = i.Mechanism
		}
	}
	return most
}

// of separates what are different figures in the sources: the k-th neighbours
// from the mechanisms, panels without an x axis from the others, and errors
// against β (with a panel per ε) by embedding and data set.
func (g grouping) of(p results.Record) pointGroup {
	name := strings.ReplaceAll(p.Quantity, "_", "-")
	if p.Mechanism != "" && p.Mechanism == g.apart {
		name += "-" + slug(p.Mechanism)
	}
	switch {
	case g.single[p.Panel]:
		name += "-by-panel"
	case p.XName == "beta":
		name += "-" + slug(strings.TrimSpace(fmt.Sprintf("%s %s %dd", p.Dataset, p.Embedding, p.Dimension)))
	}
	return pointGroup{p.Quantity, name}
}

// Papers draws the points of paper studies: every quantity against its x with
// one panel per data set, the adversary's error against the utility loss where
// both were measured, and histograms over words of N_w and S_w, one panel per
// ε. Curves carry t intervals over repetitions (for N_w and S_w: over words).
func Papers(points []results.Record) ([]Figure, []Skip) {
	var figures []Figure
	var skipped []Skip
	add := func(name string, f Figure, err error) {
		if err != nil {
			skipped = append(skipped, Skip{name, err.Error()})
			return
		}
		figures = append(figures, f)
	}
	figures, skipped = attackFigures(points)
	points = results.PanelsApart(points)
	groupOf := newGrouping(points).of
	var groups []pointGroup
	for _, p := range points {
		if g := groupOf(p); heading(p.Quantity) != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		shown := slices.DeleteFunc(slices.Clone(points), func(p results.Record) bool { return groupOf(p) != g })
		if overWords(g.quantity) {
			shown = panelsAsSeries(shown)
		}
		title, panels := curvePanels(g.quantity, shown)
		if strings.HasSuffix(g.name, "-by-panel") {
			title, panels = sideBySide(g.quantity, shown)
		}
		f, err := Curves(g.name, pointTitle(title, shown), panels, pointNotes(shown)...)
		add(g.name, f, err)
		if overWords(g.quantity) {
			f, err := Curves(g.name+"-histogram", pointTitle("Words by "+heading(g.quantity), shown),
				histogramPanels(g.quantity, shown), promiseNotes(shown)...)
			add(g.name+"-histogram", f, err)
		}
		if g.quantity == "e_m_map" {
			lossName := strings.Replace(g.name, "e-m-map", "loss", 1)
			f, err := againstLoss(g.name, slices.DeleteFunc(slices.Clone(points), func(p results.Record) bool {
				return groupOf(p) != g && groupOf(p).name != lossName
			}))
			add(strings.Replace(g.name, "e-m-map", "e-m-against-loss", 1), f, err)
		}
	}
	return figures, skipped
}

func panelsOf(points []results.Record) []string {
	var names []string
	for _, p := range points {
		if !slices.Contains(names, p.Panel) {
			names = append(names, p.Panel)
		}
	}
	return names
}

func seriesOf(points []results.Record) []string {
	var names []string
	for _, p := range points {
		if !slices.Contains(names, p.Series) {
			names = append(names, p.Series)
		}
	}
	return names
}

// pointCurves makes one curve per series out of the rows of a panel, in the
// order of the series in the whole figure, so styles agree between panels. Rows
// without x become levels.
func pointCurves(panel, quantity string, all []results.Record) (curves []Curve, levels []Level) {
	for i, series := range seriesOf(all) {
		values := map[float64][]float64{}
		var xs, level []float64
		hollow, scoped := false, false
		for _, p := range all {
			if p.Panel != panel || p.Quantity != quantity || p.Series != series || !p.Value.Known() {
				continue
			}
			hollow, scoped = hollow || unproved(p), scoped || p.GuaranteeScope != ""
			if !p.X.Known() {
				level = append(level, float64(p.Value))
				continue
			}
			x := float64(p.X)
			if _, ok := values[x]; !ok {
				xs = append(xs, x)
			}
			values[x] = append(values[x], float64(p.Value))
		}
		if len(level) > 0 {
			p := meanPoint(0, level)
			levels = append(levels, Level{Label: series, Y: p.Y, Low: p.Low, High: p.High})
		}
		if len(xs) == 0 {
			continue
		}
		slices.Sort(xs)
		c := Curve{Label: series, Style: StyleOf(i)}
		c.mark(hollow, scoped)
		for _, x := range xs {
			c.Points = append(c.Points, meanPoint(x, values[x]))
		}
		curves = append(curves, c)
	}
	return curves, levels
}

// mark marks a curve whose mechanism guarantees nothing, or something between
// some words only.
func (c *Curve) mark(hollow, scoped bool) {
	if c.Style.Hollow = hollow; hollow {
		c.Label += " †"
	} else if scoped {
		c.Label += " " + results.ScopeMark
	}
}

// curvePanels returns one panel per panel of the study.
func curvePanels(quantity string, shown []results.Record) (title string, panels []Panel) {
	names := panelsOf(shown)
	short, common := withoutCommon(names)
	for i, name := range names {
		p := curvePanel(name, quantity, shown)
		p.Title = short[i]
		panels = append(panels, p)
	}
	return heading(quantity) + common, panels
}

// sideBySide returns one panel with the study's panels along its x axis.
func sideBySide(quantity string, shown []results.Record) (title string, panels []Panel) {
	names := panelsOf(shown)
	short, common := withoutCommon(names)
	p := Panel{X: Axis{Label: "data set"}, Y: Axis{Label: heading(quantity)}}
	for i, name := range short {
		p.X.Ticks = append(p.X.Ticks, Tick{float64(i), name})
	}
	for i, series := range seriesOf(shown) {
		c := Curve{Label: series, Style: StyleOf(i)}
		c.Style.NoLine = true
		for j, name := range names {
			var values []float64
			for _, q := range shown {
				if q.Panel == name && q.Series == series && q.Value.Known() {
					values = append(values, float64(q.Value))
				}
			}
			if len(values) > 0 {
				c.Points = append(c.Points, meanPoint(float64(j), values))
			}
		}
		p.Curves = append(p.Curves, c)
	}
	for _, q := range shown {
		if q.X.Known() {
			common += fmt.Sprintf(", %s = %v", cmp.Or(axes[q.XName], q.XName), float64(q.X))
			break
		}
	}
	return heading(quantity) + common, []Panel{p}
}

// withoutCommon removes the common beginning and end of names, in parts between
// commas; common is for a title.
func withoutCommon(names []string) (short []string, common string) {
	parts := make([][]string, len(names))
	for i, n := range names {
		parts[i] = strings.Split(n, ", ")
	}
	same := func(at func([]string) string) bool {
		for _, p := range parts {
			if len(names) < 2 || len(p) < 2 || at(p) != at(parts[0]) {
				return false
			}
		}
		return len(parts) > 0
	}
	first := func(p []string) string { return p[0] }
	last := func(p []string) string { return p[len(p)-1] }
	for same(first) {
		common += ", " + parts[0][0]
		for i, p := range parts {
			parts[i] = p[1:]
		}
	}
	for same(last) {
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

func curvePanel(name, quantity string, shown []results.Record) Panel {
	p := Panel{Title: name, Y: Axis{Label: heading(quantity)}}
	p.Curves, p.Levels = pointCurves(name, quantity, shown)
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
	return p
}

// overWords reports whether the rows of a quantity are words. The panels of the
// study, its embeddings, are then compared in one panel.
func overWords(quantity string) bool { return quantity == "n_w" || quantity == "s_w" }

// panelsAsSeries turns the panels into curves of one panel.
func panelsAsSeries(shown []results.Record) []results.Record {
	several := len(seriesOf(shown)) > 1
	out := slices.Clone(shown)
	for i, p := range out {
		out[i].Panel, out[i].Series = "", p.Panel
		if several {
			out[i].Series += ": " + p.Series
		}
	}
	return out
}

// histogramPanels returns one panel per ε: the share of words in each of twenty
// bins of equal width, the same bins everywhere.
func histogramPanels(quantity string, shown []results.Record) []Panel {
	const bins = 20
	var epsilons []float64
	top := 100.0 // of a percentage
	for _, p := range shown {
		if p.Value.Known() && p.X.Known() {
			epsilons = append(epsilons, float64(p.X))
			if quantity == "s_w" {
				top = max(top, float64(p.Value))
			}
		}
	}
	slices.Sort(epsilons)
	var out []Panel
	for _, e := range slices.Compact(epsilons) {
		p := Panel{Title: fmt.Sprintf("ε = %v", e), X: Axis{Label: heading(quantity)},
			Y: Axis{Label: "share of words in %", Max: 100}, InPlace: true}
		for i, series := range seriesOf(shown) {
			var n [bins]float64
			total := 0.0
			mark := ""
			for _, q := range shown {
				if q.Series == series && float64(q.X) == e && q.Value.Known() {
					n[min(bins-1, int(float64(q.Value)/top*bins))]++
					total++
					if unproved(q) {
						mark = " †"
					}
				}
			}
			if total == 0 {
				continue
			}
			c := Curve{Label: series + mark, Style: StyleOf(i)}
			c.Style.Marker, c.Style.Stairs = -1, true
			for b, k := range n {
				c.Points = append(c.Points, Exactly(float64(b)*top/bins, 100*k/total))
			}
			c.Points = append(c.Points, Exactly(top, 0)) // the right edge of the last bin
			p.Curves = append(p.Curves, c)
		}
		out = append(out, p)
	}
	return out
}

// againstLoss draws the adversary's error over the mean utility loss at the
// same ε: the privacy gained for a loss.
func againstLoss(of string, shown []results.Record) (Figure, error) {
	var panels []Panel
	for _, name := range panelsOf(shown) {
		p := Panel{Title: name, X: Axis{Label: heading("loss")}, Y: Axis{Label: heading("e_m_map")}, InPlace: true}
		errors, _ := pointCurves(name, "e_m_map", shown)
		losses, _ := pointCurves(name, "loss", shown)
		for _, c := range errors {
			if c.Points = against(c, losses); len(c.Points) > 0 {
				p.Curves = append(p.Curves, c)
			}
		}
		panels = append(panels, p)
	}
	name := strings.Replace(of, "e-m-map", "e-m-against-loss", 1)
	return Curves(name, pointTitle("Adversary’s error against utility loss", shown), panels,
		append([]string{"Up and left is better. Each line runs over ε."}, pointNotes(shown)...)...)
}

func pointTitle(title string, shown []results.Record) string {
	if first := title[:1]; !strings.ContainsAny(title[1:2], "_") {
		title = strings.ToUpper(first) + title[1:]
	}
	for _, p := range shown {
		if p.Generated {
			return title + " — generated data"
		}
	}
	return title
}

// pointNotes explains the bars, where some value was measured more than once.
func pointNotes(shown []results.Record) []string {
	type place struct {
		panel, series, quantity string
		x                       float64
	}
	seen := map[place]bool{}
	for _, p := range shown {
		at := place{p.Panel, p.Series, p.Quantity, float64(p.X)}
		if seen[at] {
			return append([]string{"Bars: 95% t interval."}, promiseNotes(shown)...)
		}
		seen[at] = true
	}
	return promiseNotes(shown)
}

// unproved reports whether a row is of a variant that guarantees nothing.
func unproved(p results.Record) bool {
	return p.Mechanism != "" && p.Mechanism != baseline && p.GuaranteeMetric == "" && p.GuaranteeReason != ""
}

func promiseNotes(shown []results.Record) (notes []string) {
	if slices.ContainsFunc(shown, unproved) {
		notes = append(notes, "† This variant guarantees nothing.")
	}
	if note := strings.TrimSpace(results.ScopeNote(shown)); note != "" {
		notes = append(notes, note)
	}
	return notes
}
