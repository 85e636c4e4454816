package analysis

import (
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
	ofItems       float64 // from the sample of items
	items         int     // 0 where not known
	repetitions   int
	ofRepetitions float64 // of one repetition, NaN where not known
	rest          float64 // what has nothing to do with either
	signs         *signs  // of a difference of answers that are known
}

// signs counts the items on which one of two does better, over repetitions if these have the same items.
type signs struct {
	first, second int
	scale         float64 // what one right item adds
	areAnswers    bool    // each item is the difference of two answers, not of means
}

// countSigns counts the items that differ; items are differences by repetition.
func countSigns(items [][]float64, scale float64) *signs {
	s := &signs{scale: scale, areAnswers: true}
	for _, x := range slices.Concat(items...) {
		switch {
		case x > 0:
			s.first++
		case x < 0:
			s.second++
		}
		if x != 0 && math.Abs(x) != scale {
			s.areAnswers = false
		}
	}
	return s
}

// summed adds up each item over repetitions.
func summed(items [][]float64) [][]float64 {
	sums := slices.Clone(items[0])
	for _, x := range items[1:] {
		floats.Add(sums, x)
	}
	return [][]float64{sums}
}

// test is that of a difference, given its variance. One of nothing but answers, which may be few or agree, is exact.
// Where few items differ, the exact test of their signs and the interval for answers in one repetition must agree with
// it too.
func (e *estimate) test(difference, variance, degrees float64) stats.Test {
	const fewItems = 12 // that differ: no normal approximation of their number is relied on
	t := stats.NewTest(difference, math.Sqrt(variance), degrees)
	s := e.signs
	if s == nil || s.scale == 0 {
		return t
	}
	alone := s.areAnswers && e.repetitions == 1 && variance == e.ofItems
	if !alone && s.first+s.second >= fewItems {
		return t
	}
	exact := stats.McNemar(s.first, s.second, max(e.items, s.first+s.second))
	exact.Low *= s.scale
	exact.High *= s.scale
	if alone {
		return exact
	}
	return stats.Test{
		P:    max(t.P, exact.P),
		Low:  min(t.Low, exact.Low),
		High: max(t.High, exact.High),
	}
}

// known reports whether there is anything that tells how an estimate varies.
func (e estimate) known() bool { return e.repetitions > 1 || e.items > 0 || e.ofItems > 0 }

// estimateOf analyses the values of one mechanism.
func estimateOf(s sample) estimate {
	var means []float64
	var items [][]float64
	for _, r := range s.repetitions() {
		means = append(means, s.means[r])
		if s.items[r] != nil {
			items = append(items, s.items[r])
		}
	}
	if len(means) == 0 {
		return estimate{}
	}
	e := estimate{
		mean:          stats.Mean(means),
		repetitions:   len(means),
		ofRepetitions: math.NaN(),
	}
	if len(items) == len(means) && e.cross(items, s) {
		return e
	}
	if len(means) == 1 {
		e.ofItems = s.sampling
		return e
	}
	e.ofRepetitions = stat.Variance(means, nil)
	if s.redrawn { // the part of the spread that is known
		e.ofItems = s.sampling / float64(len(means))
		e.ofRepetitions -= s.sampling
	} else { // the same items in all repetitions, which their spread does not show
		e.ofItems = s.sampling
	}
	return e
}

// estimateOfDifference analyses the difference of two mechanisms, over the repetitions on the same data that both have.
func estimateOfDifference(a, b sample) estimate {
	var means []float64
	var items [][]float64
	for _, r := range a.repetitions() {
		other, both := b.means[r]
		if !both || a.data[r] != b.data[r] {
			continue
		}
		means = append(means, a.means[r]-other)
		if a.items[r] != nil && len(a.items[r]) == len(b.items[r]) {
			items = append(items, difference(a.items[r], b.items[r]))
		}
	}
	if len(means) == 0 {
		return estimate{}
	}
	e := estimate{
		mean:          stats.Mean(means),
		repetitions:   len(means),
		ofRepetitions: math.NaN(),
	}
	if len(items) == len(means) && e.cross(items, a) {
		if !a.redrawn {
			items = summed(items)
		}
		e.signs = countSigns(items, a.scale)
		return e
	}
	if len(means) == 1 {
		e.ofItems = a.sampling + b.sampling
		return e
	}
	e.ofRepetitions = stat.Variance(means, nil)
	return e
}

// difference is a − b, item by item.
func difference(a, b []float64) []float64 {
	d := slices.Clone(a)
	floats.Sub(d, b)
	return d
}

// cross takes the variances of items and of repetitions from the values of each item in each repetition of a sample,
// and reports whether it could.
func (e *estimate) cross(items [][]float64, of sample) bool {
	analyse := stats.Crossed
	if of.redrawn {
		analyse = stats.Nested
	}
	layout, err := analyse(items)
	if err != nil {
		return false
	}
	e.ofItems = layout.OfItems
	e.items = layout.Items
	e.ofRepetitions = layout.OfRepetitions
	return true
}

// pool is the variance of repetitions that estimates share, with its degrees of freedom, those of so many mechanisms;
// NaN where none has repetitions.
func pool(all []estimate, mechanisms int) (variance, degrees float64) {
	known := results.Where(all, func(e estimate) bool { return !math.IsNaN(e.ofRepetitions) })
	if len(known) == 0 {
		return math.NaN(), 0
	}
	repetitions := slices.Max(list.Map(known, func(e estimate) int { return e.repetitions }))
	mean := stats.Mean(list.Map(known, func(e estimate) float64 { return e.ofRepetitions }))
	return max(0, mean), float64(max(1, mechanisms) * (repetitions - 1))
}

// total is the variance of an estimate, and its degrees of freedom (Satterthwaite): only the part of repetitions is
// estimated from few values.
func (e estimate) total(s spread) (variance, degrees float64) {
	part := s.variance / float64(e.repetitions)
	variance = e.ofItems + part + e.rest
	if part == 0 || math.IsInf(s.degrees, 1) {
		return variance, math.Inf(1)
	}
	return variance, s.degrees * (variance / part) * (variance / part)
}
