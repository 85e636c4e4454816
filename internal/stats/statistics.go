// Package stats holds the intervals and tests that audits, results and figures
// share.
//
// A mean without its interval, or a difference without its test, is not a
// result: all functions return both. Records, files and mechanisms are not part
// of this package.
package stats

import (
	"math"
	"sort"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"
)

// Mean returns the mean, NaN without values.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	if len(x) == 0 {
		return math.NaN()
	}
	return sum / float64(len(x))
}

// FewRepetitions warns of an interval based on fewer values than the study's
// five repetitions.
const FewRepetitions = 5

// ClopperPearson returns the exact interval of a proportion: k successes of n,
// as shares 0–1. It never covers less than the level in (0, 1) (Clopper & Pearson
// 1934). It is unknown where k of n is no proportion.
func ClopperPearson(k, n int, level float64) Interval {
	if n < 1 || k < 0 || k > n {
		return Unknown()
	}
	tail := (1 - level) / 2
	i := Interval{
		Estimate: float64(k) / float64(n),
		Low:      0,
		High:     1,
	}
	if k > 0 {
		i.Low = betaQuantile(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		// By symmetry, so that a tiny tail is not lost in 1 − tail.
		i.High = 1 - betaQuantile(float64(n-k), float64(k+1), tail)
	}
	return i
}

// Alike is the interval of the mean of numbers in 0–1, of which n independent ones
// were seen that all are v: a share of at least l of all numbers is v, by Clopper
// and Pearson, and the others may be anything. A t interval and a bootstrap have no
// width there, however few were seen. Of right answers it is Clopper and Pearson's.
func Alike(v float64, n int, level float64) Interval {
	l := ClopperPearson(n, n, level).Low
	return Interval{
		Estimate: v,
		Low:      float64(l * v),
		High:     1 - float64(l*(1-v)),
	}
}

// quantiles are a, b, p and the result of calls of betaQuantile: an audit asks for those of few counts again and again.
var quantiles [1 << 12]atomic.Pointer[[4]float64]

// betaQuantile inverts the distribution function of Beta(a, b) by bisection.
// gonum's Quantile is not used: it returns nearly 1 where 4e-4 is right, at
// a = 1, b = 40000 and a tail of 1e-7.
func betaQuantile(a, b, p float64) float64 {
	last := &quantiles[(math.Float64bits(a)*31+math.Float64bits(b)*37+math.Float64bits(p))*0x9E3779B97F4A7C15>>52]
	if q := last.Load(); q != nil && q[0] == a && q[1] == b && q[2] == p {
		return q[3]
	}
	low := 0.0
	high := 1.0
	for {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			last.Store(&[4]float64{a, b, p, middle})
			return middle
		}
		if mathext.RegIncBeta(a, b, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
}

// LeastShare is the least share above null, of n trials, whose interval at a level lies above null
// with a probability of power at least: 1 where none is so sure.
func LeastShare(n int, null, level, power float64) float64 {
	k := sort.Search(n+1, func(k int) bool { return ClopperPearson(k, n, level).Low > null })
	if n < 1 || k > n {
		return 1
	}
	return betaQuantile(float64(k), float64(n-k+1), power)
}
