package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/internal/stats"
)

// MedianInterval returns the median of x with an interval that makes no
// assumption about its distribution: the order statistics between which the
// median lies with at least that confidence (sign test). NaN values are left
// out. The bounds are infinite where there are too few values for the level,
// everything is NaN for none.
func MedianInterval(x []float64, level float64) stats.Interval {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	n := len(x)
	if n == 0 {
		return stats.Unknown()
	}
	slices.Sort(x)
	i := stats.Interval{
		Estimate: (x[(n-1)/2] + x[n/2]) / 2,
		Low:      math.Inf(-1),
		High:     math.Inf(1),
	}
	// The largest k with Pr[Binomial(n, 1/2) < k] <= (1 − level)/2: the median
	// is outside [x_(k), x_(n+1−k)] with twice that at most.
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	lo := 0
	hi := n / 2
	for lo < hi {
		k := (lo + hi + 1) / 2
		if binomial.CDF(float64(k-1)) <= (1-level)/2 {
			lo = k
		} else {
			hi = k - 1
		}
	}
	if lo > 0 {
		i.Low = x[lo-1]
		i.High = x[n-lo]
	}
	return i
}

// MedianLogPerplexity returns the median over documents of the mean of −ln
// P(token) under a language model, in nats per token; perplexity is its
// exponential. The median is used because a few documents with rare words
// dominate a mean. logProbability returns ln P of a document and the number of
// tokens it sums over; documents without tokens are left out.
func MedianLogPerplexity[D any](documents []D, logProbability func(D) (sum float64, tokens int)) stats.Interval {
	var values []float64
	for _, d := range documents {
		if sum, n := logProbability(d); n > 0 {
			values = append(values, -sum/float64(n))
		}
	}
	return MedianInterval(values, 0.95)
}
