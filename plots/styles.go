package plots

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// view is an analysis with what all its figures share.
type view struct {
	*analysis.Analysis
	private []results.Cell
	curves  []results.Place // instances in the order of legends
	styles  map[results.Place]Style
	named   map[results.Place]bool // the eight that are not grey where there are more
}

// newView gives each mechanism its place in legends and its style.
func newView(a *analysis.Analysis) *view {
	v := &view{
		Analysis: a,
		private:  a.Private(),
		styles:   map[results.Place]Style{},
		named:    map[results.Place]bool{},
	}
	v.curves = results.Distinct(v.private, func(c results.Cell) results.Place {
		return c.Instance()
	})
	slices.SortFunc(v.curves, compareInstances)
	for _, own := range v.leading() {
		id := own[0].Instance()
		if !constant(id) && len(v.named) < maxCurves {
			v.named[id] = true
		}
	}
	isColoured := func(id results.Place) bool { return v.named[id] || constant(id) }
	isGrey := func(id results.Place) bool { return !isColoured(id) }
	taken := map[int]bool{} // markers
	for _, id := range slices.Concat(results.Where(v.curves, isColoured), results.Where(v.curves, isGrey)) {
		v.styles[id] = v.styleOf(id, taken)
	}
	return v
}

// styleOf is the look of a mechanism, with a dash and a shade of its own among its variants and parameters, and a
// marker that is not taken, as far as there are any.
func (v *view) styleOf(id results.Place, taken map[int]bool) Style {
	style := Style{Look: lookOf(id.Mechanism)}
	_, variant := rank(id)
	style.Dash = (style.Dash + 3*variant) % len(dashes)
	before := list.Count(v.curves, func(o results.Place) bool {
		return o.Mechanism == id.Mechanism && compareInstances(o, id) < 0
	})
	if before > 0 {
		style.Color = shade(style.Color, shades[before%len(shades)])
		style.Dash = (style.Dash + 3 + before) % len(dashes)
	}
	for tried := 0; taken[style.Marker] && tried < len(shapes); tried++ {
		style.Marker = (style.Marker + 1) % len(shapes)
	}
	taken[style.Marker] = true
	own := results.Where(v.private, func(c results.Cell) bool { return c.Instance() == id })
	style.Hollow = results.Mark(own) == results.UnprovedMark
	style.Reference = constant(id)
	style.NoLine = style.Reference
	return style
}

// compareInstances puts curves in the order of legends: that of their definitions, those without one last; t=0.5 comes
// before t=0.75 before t=1.
func compareInstances(a, b results.Place) int {
	order, variant := rank(a)
	otherOrder, otherVariant := rank(b)
	return firstOf(
		cmp.Compare(order, otherOrder),
		cmp.Compare(a.Mechanism, b.Mechanism),
		cmp.Compare(variant, otherVariant),
		cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(len(a.Parameters), len(b.Parameters)),
		cmp.Compare(a.Parameters, b.Parameters),
		cmp.Compare(a.Label, b.Label))
}

// firstOf is the first of some orders that is one.
func firstOf(orders ...int) int {
	for _, order := range orders {
		if order != 0 {
			return order
		}
	}
	return 0
}

// rank is the place of a mechanism in the registry, and that of its variant in its definition.
func rank(i results.Place) (order, variant int) {
	d, err := mechanisms.Find(i.Mechanism)
	if err != nil {
		return math.MaxInt, 0
	}
	return d.Order, max(0, slices.Index(d.Variants, mechanisms.Variant(i.Variant)))
}

// constant reports whether ε has no effect on a mechanism.
func constant(i results.Place) bool {
	d, err := mechanisms.Find(i.Mechanism)
	return err == nil && d.Constant
}

// leading are the cells of each mechanism: of the user's own, then of those that compete by their use at equal privacy,
// then of the others, each in the order of the plan.
func (v *view) leading() [][]results.Cell {
	equal := private(views.Equal(v.Analysis, quantity.Must(quantity.UsualUtility())))
	reached := results.Where(equal, func(i views.Item) bool { return !math.IsNaN(i.Value) })
	byUse := results.Distinct(reached, views.Item.Instance)
	all := results.ByInstance(v.private)
	rankOf := func(own []results.Cell) int {
		k := slices.Index(byUse, own[0].Instance())
		switch {
		case own[0].Own():
			return -1
		case k < 0:
			return 2 * len(all)
		case results.Mark(own) != "":
			return k + len(all)
		}
		return k
	}
	slices.SortStableFunc(all, func(a, b []results.Cell) int {
		return cmp.Compare(rankOf(a), rankOf(b))
	})
	return all
}
