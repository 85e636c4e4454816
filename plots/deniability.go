package plots

import (
	"math"

	"mldpbench/results"
)

// The ratio spans 0 (a word never comes back) to infinity (nothing else does):
// values outside these bounds are drawn on them.
const lowestRatio, highestRatio = 0.01, 100

// ratioTicks are in log10 of N_w/S_w.
var ratioTicks = []Tick{{-2, "≤0.01"}, {-1, "0.1"}, {0, "1"}, {1, "10"}, {2, "≥100"}}

// tellRatio formats log10 of a ratio as the ratio.
func tellRatio(log float64) string {
	switch ratio := math.Pow(10, log); {
	case ratio <= lowestRatio:
		return "≤" + short(lowestRatio)
	case ratio >= highestRatio:
		return "≥" + short(highestRatio)
	default:
		return short(ratio)
	}
}

// deniabilityFigures draws N_w : S_w against ε (Figure 2 of Meisenbacher et al.
// 2024), on a log scale with geometric means: a ratio of 1/2 is as far from 1
// as a ratio of 2.
func deniabilityFigures(s *study) ([]Figure, error) {
	var out []Figure
	for _, sp := range s.spaces {
		shown := s.in(sp)
		var panels []Panel
		for _, d := range datasets(shown) {
			rows := results.Where(shown, func(r results.Record) bool { return r.Dataset == d })
			panels = append(panels, Panel{
				Title: datasetTitle(d, shown),
				X:     epsilonAxis(results.Epsilons(rows)),
				Y: Axis{Label: "N_w : S_w", Min: -2, Max: 2, Bound: &[2]float64{-2, 2}, Ticks: ratioTicks,
					Tell: tellRatio},
				Curves: s.curvesOf(rows, logRatio),
			})
		}
		notes := append([]string{"N_w: runs that return the word, in %; S_w: distinct outputs in 100 runs. Lower is " +
			"more deniable."},
			s.notes(shown, "Geometric means; bars:")...)
		f, err := Curves(s.name("deniability", sp, results.Task{}),
			s.title("Plausible deniability, N_w : S_w", sp, results.Task{}, shown), panels, notes...)
		if err == nil {
			out = append(out, f)
		}
	}
	return out, reason(out, "no record has N_w and S_w")
}

// logRatio is log10(N_w/S_w) kept within bounds, missing where both are 0.
func logRatio(r results.Record) results.Float {
	if !r.Nw.Known() || !r.Sw.Known() || r.Nw == 0 && r.Sw == 0 {
		return results.Missing
	}
	support := float64(r.Sw)
	if r.SwWords > 0 && r.NwRuns > 0 {
		support *= 100 * float64(r.SwWords) / float64(r.NwRuns) // on the scale of 100 runs per word
	}
	ratio := float64(r.Nw) / support // +Inf at S_w = 0
	return results.Float(math.Log10(min(highestRatio, max(lowestRatio, ratio))))
}
