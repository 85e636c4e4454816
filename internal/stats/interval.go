package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with its confidence bounds.
type Interval struct {
	Estimate, Low, High float64
}

// Exactly is the interval of what is known.
func Exactly(v float64) Interval { return Interval{v, v, v} }

// Unknown is the interval of nothing.
func Unknown() Interval { return Exactly(math.NaN()) }

// MeanInterval returns the mean of x with its Student t interval at a
// confidence level such as 0.95. The bounds are infinite for one value (its
// spread is unknown) and everything is NaN for none.
func MeanInterval(x []float64, level float64) Interval {
	switch len(x) {
	case 0:
		return Unknown()
	case 1:
		return Interval{x[0], math.Inf(-1), math.Inf(1)}
	}
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	t := distuv.StudentsT{
		Mu:    0,
		Sigma: 1,
		Nu:    n - 1,
	}.Quantile((1 + level) / 2)
	half := t * sd / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}
}

// RatioInterval returns the share Σ hits / Σ trials of trials that come in
// groups, as words do in documents, with its t interval over the groups (the
// linearised variance of a ratio). Words of one document succeed and fail
// together, so treating them as independent would give an interval that is too
// narrow. The bounds stay in [0, 1]; they are infinite for one group and
// everything is NaN without a trial.
func RatioInterval(hits, trials []int, level float64) Interval {
	var h, n float64
	groups := 0
	for i, k := range trials {
		if k > 0 {
			groups++
		}
		h += float64(hits[i])
		n += float64(k)
	}
	switch groups {
	case 0:
		return Unknown()
	case 1:
		return Interval{h / n, math.Inf(-1), math.Inf(1)}
	}
	ratio := h / n
	squares := 0.0
	for i, k := range trials {
		e := float64(hits[i]) - float64(ratio*float64(k))
		squares += float64(e * e)
	}
	g := float64(groups)
	t := distuv.StudentsT{Sigma: 1, Nu: g - 1}.Quantile((1 + level) / 2)
	half := t * math.Sqrt(g/(g-1)*squares) / n
	return Interval{ratio, max(0, ratio-half), min(1, ratio+half)}
}
