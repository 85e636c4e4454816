package compare

import "mldpbench/results"

// Versions compares what was measured of every mechanism and ε as it is, pair by
// pair, at no common level: whether one version of a text does better than
// another says nothing about their mechanisms. Lines are in the order of the
// cells; intervals and the family are those of Align.
func Versions(p *results.Prepared, quantity string) Aligned {
	use := results.MustColumn(quantity)
	a := Aligned{Question: Question{Use: quantity}.Whole(p)}
	for _, g := range results.GroupCells(p.Private()) {
		if len(g.Values(quantity)) == 0 {
			continue
		}
		at := weigh([]share{{&point{cells: g.Cells}, 1}}, quantity, scaleOf(use))
		c := g.Cells[0]
		a.Lines = append(a.Lines, Line{Instance: c.Instance(), Name: p.Labels[c.Instance()], Cells: g.Cells,
			Reached: true, Value: at.mean(), Epsilon: float64(c.Epsilon), at: at})
	}
	a.intervals(use)
	a.pairs(use)
	return a
}
