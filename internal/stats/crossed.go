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
// repetitions. Where same is false every repetition has its own items.
func Crossed(x [][]float64, same bool) (Layout, error) {
	if len(x) == 0 || len(x[0]) < 2 {
		return Layout{}, fmt.Errorf("crossed layout: no repetition with two items")
	}
	r, n := float64(len(x)), float64(len(x[0]))
	rows := make([]float64, len(x))
	for i, values := range x {
		if len(values) != len(x[0]) {
			return Layout{}, fmt.Errorf("crossed layout: %d items in repetition %d, %d in the first", len(values), i+1,
				len(x[0]))
		}
		rows[i] = Mean(values)
	}
	l := Layout{Mean: Mean(rows), Items: len(x[0]), OfRepetitions: math.NaN()}
	within := 0.0 // variance of single values that repetitions do not share
	if same {
		columns := make([]float64, len(x[0]))
		for i := range x {
			for j, v := range x[i] {
				columns[j] += v / r
			}
		}
		l.OfItems = stat.Variance(columns, nil) / n
		if r > 1 {
			for i := range x {
				for j, v := range x[i] {
					e := v - rows[i] - columns[j] + l.Mean
					within += e * e / ((r - 1) * (n - 1))
				}
			}
		}
	} else {
		for i := range x {
			within += stat.Variance(x[i], nil) / r
		}
		l.OfItems = within / (n * r)
	}
	if r > 1 {
		l.OfRepetitions = stat.Variance(rows, nil) - within/n
	}
	return l, nil
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
	deviation, weight := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(deviation, weight, 0, 1)
	for i, u := range deviation {
		deviation[i] = math.Sqrt(chi.Quantile(u) / df)
	}
	low, high := 0.0, quantile*10+10
	for range 60 {
		shift, found := (low+high)/2, 0.0
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
