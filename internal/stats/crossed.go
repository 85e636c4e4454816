package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Layout is the mean of values that were seen on the same items in each of
// several repetitions, with the two parts of its variance.
type Layout struct {
	Mean          float64
	Items         int     // in each repetition
	OfItems       float64 // variance of the mean from the sample of items, noise of single values included
	OfRepetitions float64 // variance of one repetition's mean beyond that, may be negative; NaN for one repetition
}

// Crossed analyses x[repetition][item] as two crossed random effects
// (two-way analysis of variance without replication): each item is the same one in all
// repetitions.
func Crossed(x [][]float64) (Layout, error) {
	l, rows, err := meansOf(x)
	if err != nil {
		return l, err
	}
	r := float64(len(x))
	n := float64(l.Items)
	columns := make([]float64, l.Items)
	for i := range x {
		for j, v := range x[i] {
			columns[j] += v / r
		}
	}
	l.OfItems = stat.Variance(columns, nil) / n
	if r == 1 {
		return l, nil
	}
	within := 0.0 // variance of what is left of a single value
	for i := range x {
		for j, v := range x[i] {
			e := v - rows[i] - columns[j] + l.Mean
			within += e * e / ((r - 1) * (n - 1))
		}
	}
	l.OfRepetitions = stat.Variance(rows, nil) - within/n
	return l, nil
}

// Nested analyses x[repetition][item] where every repetition has items of its own.
func Nested(x [][]float64) (Layout, error) {
	l, rows, err := meansOf(x)
	if err != nil {
		return l, err
	}
	r := float64(len(x))
	n := float64(l.Items)
	within := 0.0 // variance of single values
	for i := range x {
		within += stat.Variance(x[i], nil) / r
	}
	l.OfItems = within / (n * r)
	if r > 1 {
		l.OfRepetitions = stat.Variance(rows, nil) - within/n
	}
	return l, nil
}

// meansOf returns the mean of all values, without its variances, and those of repetitions.
func meansOf(x [][]float64) (l Layout, rows []float64, err error) {
	if len(x) == 0 || len(x[0]) < 2 {
		return l, nil, fmt.Errorf("crossed layout: no repetition with two items")
	}
	for i, values := range x {
		if len(values) != len(x[0]) {
			return l, nil, fmt.Errorf("crossed layout: %d items in repetition %d, %d in the first", len(values), i+1,
				len(x[0]))
		}
		rows = append(rows, Mean(values))
	}
	return Layout{
		Mean:          Mean(rows),
		Items:         len(x[0]),
		OfRepetitions: math.NaN(),
	}, rows, nil
}

// Detectable is the smallest difference that a two-sided test at level finds
// with probability 0.8, given its standard error: that of the noncentral t
// distribution, of which the probability beyond the quantile is an integral over
// the estimated standard deviation (Johnson, Kotz & Balakrishnan 1995, §31).
func Detectable(standardError, df, level float64) float64 {
	const power = 0.8
	if !(df < 1e6) || standardError == 0 || !(df > 0) {
		return (distuv.UnitNormal.Quantile(1-level/2) + distuv.UnitNormal.Quantile(power)) * standardError
	}
	quantile := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - level/2)
	chi := distuv.ChiSquared{K: df}
	const nodes = 48
	deviation := make([]float64, nodes)
	weight := make([]float64, nodes)
	quad.Legendre{}.FixedLocations(deviation, weight, 0, 1)
	for i, u := range deviation {
		deviation[i] = math.Sqrt(chi.Quantile(u) / df)
	}
	low := 0.0
	high := quantile*10 + 10
	for range 60 {
		shift := (low + high) / 2
		found := 0.0
		for i, s := range deviation {
			found += weight[i] * (distuv.UnitNormal.CDF(shift-quantile*s) + distuv.UnitNormal.CDF(-shift-quantile*s))
		}
		if found < power {
			low = shift
		} else {
			high = shift
		}
	}
	return low * standardError
}
