package metrics

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
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + level) / 2)
	half := t * sd / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}
}
