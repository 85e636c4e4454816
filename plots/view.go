package plots

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/results"
)

// view is a prepared run with what all its figures share.
type view struct {
	*results.Prepared
	private []results.Cell     // of studies; those of figures of papers have a panel and are apart
	curves  []results.Instance // in order of legends
	labels  map[results.Instance]string
	styles  map[results.Instance]Style
	spaces  []results.Space
	tasks   []results.Task
	named   map[results.Instance]bool // the eight that are not grey where there are more
}

// rank returns the position of a mechanism in legends: the order of its
// definition; mechanisms without one come last.
func rank(mechanism string) int {
	if d, err := mechanisms.Find(mechanism); err == nil {
		return d.Order
	}
	return math.MaxInt
}

// variantRank is the position of a variant in its definition.
func variantRank(i results.Instance) int {
	d, err := mechanisms.Find(i.Mechanism)
	if err != nil {
		return 0
	}
	return max(0, slices.Index(d.Variants, mechanisms.Variant(i.Variant)))
}

// compareInstances puts curves in the order of legends; t=0.5 comes before
// t=0.75 before t=1.
func compareInstances(a, b results.Instance) int {
	return cmp.Or(cmp.Compare(rank(a.Mechanism), rank(b.Mechanism)), cmp.Compare(a.Mechanism, b.Mechanism),
		cmp.Compare(variantRank(a), variantRank(b)), cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(len(strings.Fields(a.Parameters)), len(strings.Fields(b.Parameters))),
		cmp.Compare(a.Parameters, b.Parameters))
}

// styleOf returns the style of an instance among all instances of a run: its
// mechanism's look, another dash for another variant, another shade for other
// parameters.
func styleOf(i results.Instance, all []results.Instance) Style {
	look := LookOf(i.Mechanism)
	look.Dash = (look.Dash + 3*variantRank(i)) % len(dashes)
	k := 0
	if !byDefault(i) {
		k = 1
		for _, o := range all {
			if o.Mechanism == i.Mechanism && o.Variant == i.Variant && !byDefault(o) && compareInstances(o, i) < 0 {
				k++
			}
		}
	}
	if k > 0 {
		look.Color = shade(look.Color, shades[k%len(shades)])
		look.Dash = (look.Dash + 3 + k) % len(dashes)
	}
	return Style{Look: look}
}

// byDefault reports whether all parameters have their default values.
func byDefault(i results.Instance) bool {
	d, err := mechanisms.Find(i.Mechanism)
	if err != nil {
		return true
	}
	defaults := mechanisms.Parameters{}
	for _, p := range d.Parameters {
		defaults[p.Name] = p.Default
	}
	usual := strings.Fields(defaults.String())
	return !slices.ContainsFunc(strings.Fields(i.Parameters), func(own string) bool {
		return !slices.Contains(usual, own)
	})
}

func newView(p *results.Prepared) *view {
	v := &view{Prepared: p, labels: map[results.Instance]string{}, styles: map[results.Instance]Style{},
		named: map[results.Instance]bool{}}
	v.private = results.Where(p.Cells, func(c results.Cell) bool { return !c.IsBaseline() && c.Panel == "" })
	v.spaces, v.tasks = results.Spaces(v.private), results.Tasks(v.private)
	v.curves = results.Distinct(v.private, func(c results.Cell) results.Instance { return c.Instance() })
	slices.SortFunc(v.curves, compareInstances)
	all := slices.Collect(maps.Keys(p.Labels)) // of the whole run, also where this is a part of it
	for _, id := range v.curves {
		style := styleOf(id, all)
		own := results.Where(v.private, func(c results.Cell) bool { return c.Instance() == id })
		mark := results.Mark(own)
		style.Hollow, style.Scoped = mark == results.UnprovedMark, mark == results.ScopeMark
		style.Reference = constant(id.Mechanism)
		style.NoLine = style.Reference
		v.styles[id], v.labels[id] = style, p.Labels[id]+mark
	}
	v.name()
	return v
}

// constant reports whether ε has no effect on a mechanism.
func constant(mechanism string) bool {
	d, err := mechanisms.Find(mechanism)
	return err == nil && d.Constant
}

// name chooses the mechanisms that panels name; see the package comment.
func (v *view) name() {
	best := map[string]float64{} // over how much of the adversary's error
	for _, s := range v.scenes("accuracy") {
		points := front(v.panel(s, results.EM, "accuracy").Curves)
		for i, q := range points {
			next := 0.0
			if i+1 < len(points) {
				next = points[i+1].X
			}
			best[q.At] += q.X - next
		}
	}
	class := func(id results.Instance) float64 {
		switch wide := best[v.labels[id]]; {
		case wide > 0:
			return -wide
		case v.styles[id].Hollow:
			return 3
		case v.styles[id].Scoped:
			return 2
		}
		return 1
	}
	order := slices.DeleteFunc(slices.Clone(v.curves), func(id results.Instance) bool { return constant(id.Mechanism) })
	slices.SortStableFunc(order, func(a, b results.Instance) int { return cmp.Compare(class(a), class(b)) })
	for _, id := range order[:min(maxCurves, len(order))] {
		v.named[id] = true
	}
}

// limit greys curves of panels that have more than maxCurves.
func (v *view) limit(panels []Panel) {
	names, grey := map[string]bool{}, map[string]bool{}
	for _, id := range v.curves {
		if !constant(id.Mechanism) {
			grey[v.labels[id]] = !v.named[id]
		}
	}
	for _, p := range panels {
		for _, c := range p.Curves {
			if _, ours := grey[c.Label]; ours {
				names[c.Label] = true
			}
		}
	}
	if len(names) <= maxCurves {
		return
	}
	for _, p := range panels {
		for i := range p.Curves {
			p.Curves[i].Style.Subdued = grey[p.Curves[i].Label]
		}
	}
}

// scenes lists the panels of a study for which a quantity was measured.
func (v *view) scenes(quantity string) []results.Scene {
	var out []results.Scene
	for _, sp := range v.spaces {
		for _, t := range v.tasks {
			shown := v.of(sp, t)
			for _, d := range datasets(shown) {
				if slices.ContainsFunc(shown, func(c results.Cell) bool { return c.Dataset == d && c.Has(quantity) }) {
					out = append(out, results.Scene{Dataset: d, Space: sp, Task: t})
				}
			}
		}
	}
	return out
}

// of returns the cells of a space and task; no task means all.
func (v *view) of(sp results.Space, t results.Task) []results.Cell {
	return results.Where(v.private, func(c results.Cell) bool {
		return c.Space() == sp && (t == (results.Task{}) || c.Task() == t)
	})
}

// epsilon is the name of the quantity ε.
const epsilon = "epsilon"

// mean is a quantity of the repetitions of a cell; of one repetition, with the
// interval over what it was measured on.
func mean(cells []results.Cell, quantity string) (Point, bool) {
	values := results.ByRepetition(cells, quantity)
	if len(values) == 0 {
		return Point{}, false
	}
	p := meanPoint(0, values)
	if len(values) == 1 {
		for _, c := range cells {
			m, ok := c.At(quantity)
			if !ok || !m.Value.Known() {
				continue
			}
			low, high := c.Interval(quantity)
			p.Low, p.High = float64(low), float64(high)
		}
	}
	return p, true
}

// pointsOf are the means of quantity y of some cells at each value of a parameter,
// ascending: over the parameter or, where it has a name, over quantity x.
func pointsOf(cells []results.Cell, parameter func(results.Cell) results.Float, x, y string) (points []Point) {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b results.Cell) int {
		return cmp.Compare(float64(parameter(a)), float64(parameter(b)))
	})
	for _, text := range results.Distinct(cells, func(c results.Cell) string { return parameter(c).String() }) {
		at := results.Where(cells, func(c results.Cell) bool { return parameter(c).String() == text })
		e := parameter(at[0])
		q, ok := mean(at, y)
		if q.X = float64(e); x != "" && ok {
			var of Point
			if of, ok = mean(at, x); e.Known() {
				q.At = "ε " + short(float64(e))
			}
			q.X = of.Y
		}
		if ok && finite(q.X) {
			points = append(points, q)
		}
	}
	return points
}

// curvesOf draws one curve per mechanism through its means over ε: quantity y
// over quantity x.
func (v *view) curvesOf(cells []results.Cell, x, y string) (out []Curve) {
	if x == epsilon {
		x = ""
	}
	for _, id := range v.curves {
		own := results.Where(cells, func(c results.Cell) bool { return c.Instance() == id })
		c := Curve{Label: v.labels[id], Name: v.Labels[id], Style: v.styles[id],
			Points: pointsOf(own, func(c results.Cell) results.Float { return c.Epsilon }, x, y)}
		if len(c.Points) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// axisOf returns the axis of a quantity.
func axisOf(cells []results.Cell, quantity string) Axis {
	if quantity == epsilon {
		return epsilonAxis(results.Epsilons(cells))
	}
	a := Axis{Label: heading(quantity)}
	c, _ := results.FindColumn(quantity)
	if c.Share {
		a.Bound = &[2]float64{0, 1}
	}
	switch {
	case quantity == results.EM:
		a.Label, a.Bound = "adversary’s error E_M", &[2]float64{0, 1}
	case c.Attacker != "" && c.Direction == results.Up:
		a.Label += " (low: attacker wins)"
	case c.Attacker != "":
		a.Label += " (high: attacker wins)"
	case c.Unit == "%":
		a.Bound = percent
	}
	return a
}

// panel draws y over x in a scene.
func (v *view) panel(s results.Scene, x, y string) Panel {
	cells := results.Where(v.of(s.Space, s.Task), func(c results.Cell) bool { return c.Dataset == s.Dataset })
	p := Panel{Title: datasetTitle(s.Dataset, cells), X: axisOf(cells, x), Y: axisOf(cells, y), InPlace: x != epsilon,
		Curves: v.curvesOf(cells, x, y)}
	if y == "accuracy" {
		if level, ok := v.baseline(s, cells); ok {
			p.Levels = append(p.Levels, level)
		}
	}
	return p
}

// baseline returns the accuracy without privatisation: from its own cells where
// they exist, else as known in privatised ones.
func (v *view) baseline(s results.Scene, cells []results.Cell) (Level, bool) {
	own := results.Where(v.Cells, func(c results.Cell) bool {
		return c.IsBaseline() && c.Panel == "" && c.Dataset == s.Dataset && c.Model == s.Task.Model && c.Space() == s.Space
	})
	if p, ok := mean(own, "accuracy"); ok {
		return Level{"baseline", p.Y, p.Low, p.High}, true
	}
	for _, c := range cells {
		if b := c.Get("baseline_accuracy"); b.Known() {
			return Level{"baseline", float64(b), math.NaN(), math.NaN()}, true
		}
	}
	return Level{}, false
}

// datasets lists the data sets of some cells by name, generated ones last.
func datasets(cells []results.Cell) []string {
	generated := map[string]bool{}
	for _, c := range cells {
		generated[c.Dataset] = c.Generated
	}
	return slices.SortedFunc(maps.Keys(generated), func(a, b string) int {
		return cmp.Or(cmp.Compare(btoi(generated[a]), btoi(generated[b])), cmp.Compare(a, b))
	})
}

// datasetTitle returns the title of a panel.
func datasetTitle(name string, shown []results.Cell) string {
	title := results.DatasetTitle(name)
	all, own := true, false
	for _, c := range shown {
		all = all && c.Generated
		own = own || c.Dataset == name && c.Generated
	}
	if own && !all && !strings.Contains(title, "generated") {
		title += " (generated)"
	}
	return title
}

// notes returns the footnotes that cells need.
func (v *view) notes(shown []results.Cell) []string {
	few, most := results.Repeated(results.Where(shown,
		func(c results.Cell) bool { return c.Status != results.StatusUndefined }))
	count := fmt.Sprint(most)
	if few < most {
		count = fmt.Sprintf("%d to %d", few, most)
	}
	var out []string
	switch {
	case most > 1 && few < stats.FewRepetitions:
		out = append(out, fmt.Sprintf("Bars: 95%% t interval over only %s repetitions: wide.", count))
	case most > 1:
		out = append(out, fmt.Sprintf("Bars: 95%% t interval over %s repetitions.", count))
	default:
		out = append(out, "One repetition; bars: 95% interval over its items.")
	}
	return append(out, v.warnings(shown)...)
}

// promiseNotes explains the marks of guarantees.
func promiseNotes(shown []results.Cell) (notes []string) {
	if _, found := results.Unproved(shown); found {
		notes = append(notes, results.UnprovedMark+" This variant guarantees nothing.")
	}
	if results.Scope(shown) != "" {
		notes = append(notes, results.ScopeMark+" Its guarantee holds only between some words, those of one group or list: "+
			"no full promise.")
	}
	return notes
}

// warnings returns the footnotes about guarantees and undefined cells.
func (v *view) warnings(shown []results.Cell) []string {
	out := promiseNotes(shown)
	for _, id := range v.curves {
		at := results.Epsilons(results.Where(shown, func(c results.Cell) bool {
			return c.Instance() == id && c.Status == results.StatusUndefined
		}))
		if len(at) > 0 {
			values := list.Map(at, short)
			out = append(out, fmt.Sprintf("%s is undefined at ε = %s.", v.labels[id], strings.Join(values, ", ")))
		}
	}
	return out
}
