package analysis

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// estimate is a mean with the parts of its variance.
type estimate struct {
	mean          float64
	items         float64 // from the sample of items
	n             int     // items, 0 where not known
	repetitions   int
	ofRepetitions float64 // of one repetition, NaN where not known
	rest          float64 // what has nothing to do with either

	// Of a difference of answers: the items, n of them or n in each repetition, on which
	// the first and the second does better, over repetitions if they are the same ones.
	// scale is what one right item adds, 0 where answers are not known, and plain tells
	// that there is nothing but one answer of each.
	first, second int
	scale         float64
	plain         bool
}

// signs counts the items that differ.
func (e *estimate) signs(items [][]float64, scale float64, redrawn bool) {
	e.scale, e.plain = scale, len(items) == 1
	if !redrawn { // the same items
		sums := slices.Clone(items[0])
		for _, x := range items[1:] {
			floats.Add(sums, x)
		}
		items = [][]float64{sums}
	}
	for _, x := range slices.Concat(items...) {
		switch {
		case x > 0:
			e.first++
		case x < 0:
			e.second++
		}
		e.plain = e.plain && (x == 0 || x == scale || x == -scale)
	}
}

// test is that of a difference, given its variance. One of nothing but answers, which
// may be few or agree, is exact. Where few items differ, the exact test of their
// signs and the interval for answers in one repetition must agree with it too.
func (e *estimate) test(difference, variance, degrees float64) stats.Test {
	const fewItems = 12 // that differ: no normal approximation of their number is relied on
	t := stats.NewTest(difference, math.Sqrt(variance), degrees)
	alone := e.plain && variance == e.items
	if e.scale == 0 || !alone && e.first+e.second >= fewItems {
		return t
	}
	exact := stats.McNemar(e.first, e.second, max(e.n, e.first+e.second))
	exact.Low, exact.High = e.scale*exact.Low, e.scale*exact.High
	if alone {
		return exact
	}
	return stats.Test{P: max(t.P, exact.P), Low: min(t.Low, exact.Low), High: max(t.High, exact.High)}
}

// known reports whether there is anything that tells how an estimate varies.
func (e estimate) known() bool { return e.repetitions > 1 || e.n > 0 || e.items > 0 }

// estimateOf analyses the values of one mechanism, or of the difference of two
// where other is not nil.
func estimateOf(s sampleOf, other *sampleOf) estimate {
	var means []float64 // of the repetitions that both have
	var items [][]float64
	for _, r := range slices.Sorted(maps.Keys(s.means)) {
		mean, x := s.means[r], slices.Clone(s.items[r])
		if other != nil {
			y, both := other.means[r]
			if mean -= y; !both || s.data[r] != other.data[r] {
				continue
			}
			if len(other.items[r]) == len(x) {
				floats.Sub(x, other.items[r])
			} else {
				x = nil
			}
		}
		if means = append(means, mean); x != nil {
			items = append(items, x)
		}
	}
	if len(means) == 0 {
		return estimate{}
	}
	e := estimate{mean: stats.Mean(means), repetitions: len(means), ofRepetitions: math.NaN()}
	if len(items) == len(means) {
		equal := !slices.ContainsFunc(items, func(x []float64) bool { return len(x) != len(items[0]) })
		if l, err := stats.Crossed(items, !s.redrawn); equal && err == nil {
			e.items, e.n, e.ofRepetitions = l.OfItems, l.Items, l.OfRepetitions
			if other != nil {
				e.signs(items, s.scale, s.redrawn)
			}
			return e
		}
	}
	if len(means) > 1 {
		e.ofRepetitions = stat.Variance(means, nil)
		switch {
		case other != nil:
		case s.redrawn: // the part of the spread that is known
			e.items = s.sampling / float64(len(means))
			e.ofRepetitions -= s.sampling
		default: // the same items in all repetitions, which their spread does not show
			e.items = s.sampling
		}
		return e
	}
	e.items = s.sampling
	if other != nil {
		e.items += other.sampling
	}
	return e
}

// pool is the variance of repetitions that estimates share, with its degrees of
// freedom, those of so many mechanisms; NaN where none has repetitions.
func pool(all []estimate, mechanisms int) (pooled, df float64) {
	known := results.Where(all, func(e estimate) bool { return !math.IsNaN(e.ofRepetitions) })
	if len(known) == 0 {
		return math.NaN(), 0
	}
	repetitions := slices.Max(list.Map(known, func(e estimate) int { return e.repetitions }))
	mean := stats.Mean(list.Map(known, func(e estimate) float64 { return e.ofRepetitions }))
	return max(0, mean), float64(max(1, mechanisms) * (repetitions - 1))
}

// total is the variance of an estimate, and its degrees of freedom
// (Satterthwaite): only the part of repetitions is estimated from few values.
func (e estimate) total(pooled, df float64) (variance, degrees float64) {
	part := pooled / float64(e.repetitions)
	variance = e.items + part + e.rest
	if part == 0 || math.IsInf(df, 1) {
		return variance, math.Inf(1)
	}
	return variance, df * (variance / part) * (variance / part)
}
