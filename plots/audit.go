package plots

import (
	"fmt"
	"slices"

	"mldpbench/results"
)

// farthestRatio is the position of bounds beyond the axis.
const farthestRatio = 100

func auditFigures(v *view) ([]Figure, error) {
	f, err := Audit(v.Audit, "Audit of claimed guarantees")
	if err != nil {
		return nil, err
	}
	return []Figure{f}, nil
}

// Audit draws the audited lower bound on ε over the claimed ε: a claim is
// refuted where the bound passes 1. To the left of it nothing is proved.
func Audit(audit []results.AuditRow, title string, notes ...string) (Figure, error) {
	if len(audit) == 0 {
		return Figure{}, fmt.Errorf("audit: %w", errNoData)
	}
	curves := results.Distinct(audit, func(a results.AuditRow) results.Instance { return a.Instance() })
	epsilons := results.Distinct(audit, func(a results.AuditRow) float64 { return float64(a.Epsilon) })
	slices.Sort(epsilons)
	slices.SortFunc(curves, compareInstances)
	named := results.LabelInstances(curves)
	r := rows{name: "audit", title: title, axis: "audited lower bound on ε ÷ claimed ε", log: true, one: true,
		step: 3.2, min: 0.1, max: 10,
		ticks: []Tick{{0.01, "≤0.01"}, {0.1, "0.1"}, {1, "1"}, {10, "10"}, {farthestRatio, "≥100"}},
		notes: append(slices.Clone(notes), "Right of 1 the claim is refuted; left of 1 nothing is proved.")}
	look := func(e float64, violated, hollow bool) Style {
		s := Style{Look: Look{Color: sequential(slices.Index(epsilons, e), len(epsilons))}, Hollow: hollow, NoLine: true}
		if violated {
			s.Marker = 5 // a star
		}
		return s
	}
	for _, e := range epsilons {
		r.legend = append(r.legend, legendEntry{label: "ε = " + short(e), style: look(e, false, false)})
	}
	for _, id := range curves {
		line := row{label: named[id]}
		own := results.Where(audit, func(a results.AuditRow) bool { return a.Instance() == id })
		if slices.ContainsFunc(own, func(a results.AuditRow) bool { return !a.Promises }) {
			line.label += dagger
		}
		for _, a := range own {
			if a.Epsilon <= 0 || !a.Lower.Known() {
				continue
			}
			verdict := "not refuted"
			if a.Violated {
				verdict = "violated"
			} else if a.Detects > 0 {
				verdict += fmt.Sprintf(", %s times ε would have been found", short(float64(a.Detects)))
			}
			line.dots = append(line.dots, rowDot{
				x:     min(farthestRatio, max(0.01, float64(a.Lower/a.Epsilon))),
				up:    float64(len(epsilons)-1)/2 - float64(slices.Index(epsilons, float64(a.Epsilon))),
				style: look(float64(a.Epsilon), a.Violated, !a.Promises),
				tell:  fmt.Sprintf("at ε = %s bound %s, %s", short(float64(a.Epsilon)), short(float64(a.Lower)), verdict),
			})
		}
		r.rows = append(r.rows, line)
	}
	faint := Style{Look: Look{Color: Faint}, NoLine: true}
	star := faint
	star.Marker = 5
	r.legend = append(r.legend, legendEntry{label: "claim refuted", style: star},
		legendEntry{label: "not refuted", style: faint})
	if slices.ContainsFunc(audit, func(a results.AuditRow) bool { return !a.Promises }) {
		r.notes = append(r.notes, "† This variant guarantees nothing: it is tested against the ε it was run with.")
	}
	return r.figure(), nil
}
