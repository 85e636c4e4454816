// Package scoresmechanism is a template: copy it, and import it in cmd/mldp.
package scoresmechanism

import "mldpbench/mechanisms"

func init() {
	mechanisms.Register(mechanisms.Definition{
		Name:     "bounded",
		Title:    "Bounded cost",
		Source:   "McSherry & Talwar 2007 (exponential mechanism)",
		Metric:   "euclidean",
		Order:    991,
		Variants: []mechanisms.Variant{mechanisms.Proved},
		PerWord:  true,
		New:      newBounded,
	})
}

// newBounded is the exponential mechanism with the cost c = d/(1+d), which is below 1:
// Pr[y] ∝ e^(−(ε/2)·c). c grows with d ever more slowly from 0 on, so it is a metric, and at most d.
func newBounded(env mechanisms.Environment, s mechanisms.Settings) (*mechanisms.Mechanism, error) {
	g := mechanisms.Guarantee{
		Metric:           "euclidean",
		Epsilon:          s.Epsilon,
		EuclideanEpsilon: s.Epsilon,
		Distance:         env.Space.Distance,
		Reason:           "exponential mechanism with a metric as cost that is at most the distance",
	}
	scores := func(_ mechanisms.WordID, distances []float64) ([]float64, []mechanisms.WordID) {
		for y, d := range distances {
			distances[y] = -s.Epsilon / 2 * d / (1 + d)
		}
		return distances, nil
	}
	return mechanisms.ByScores(s, g, mechanisms.Scores{
		Vocabulary: env.Space.Vocabulary,
		Basis:      mechanisms.Distances(env.Space),
		Of:         scores,
	}), nil
}
