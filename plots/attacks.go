package plots

import (
	"slices"

	"mldpbench/results"
)

// attackFigures draws utility against each attacker's success, one panel per
// attacker and one figure per data set. The points of Uniform and Identity show
// attackers that see nothing and that see the plain text.
func attackFigures(points []results.Record) ([]Figure, []Skip) {
	attacked := results.Attacked(points)
	columns := results.PrimaryQuantities(points)
	if len(columns) == 0 {
		return nil, nil
	}
	var figures []Figure
	var skipped []Skip
	for _, dataset := range results.Distinct(points, func(r results.Record) string { return r.Dataset }) {
		shown := results.Where(points, func(r results.Record) bool { return r.Dataset == dataset })
		var panels []Panel
		for _, c := range columns {
			p := Panel{
				Title: c.Title, InPlace: true,
				X: Axis{Label: "accuracy of the use, %"}, Y: Axis{Label: attackerSide(c)},
			}
			place := 0
			for _, m := range attacked {
				if m.Dataset != dataset {
					continue
				}
				curve := Curve{Label: m.Series, Style: StyleOf(place)}
				place++
				curve.mark(slices.ContainsFunc(m.Records, unproved), results.ScopeOf(m.Records) != "")
				for _, r := range m.Releases {
					if y, ok := r.Attacks[c.Name]; ok && r.Utility.Known() {
						curve.Points = append(curve.Points, Exactly(float64(r.Utility), float64(y)))
					}
				}
				if len(curve.Points) > 0 {
					p.Curves = append(p.Curves, curve)
				}
			}
			panels = append(panels, p)
		}
		name := "attacks-" + slug(dataset)
		title := pointTitle("What attackers learn against utility, "+datasetTitle(dataset, shown), shown)
		notes := []string{"Each line runs over ε. Identity is the plain text; Uniform replaces every word at random."}
		f, err := Curves(name, title, panels, append(notes, promiseNotes(shown)...)...)
		if err != nil {
			skipped = append(skipped, Skip{name, "no utility of its text was measured"})
			continue
		}
		figures = append(figures, f)
	}
	return figures, skipped
}

// attackerSide returns the direction in which an attacker does better.
func attackerSide(c results.Column) string {
	if c.Direction == results.Up {
		return "low: attacker wins"
	}
	return "high: attacker wins"
}
