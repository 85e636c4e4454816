package metrics

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/stream"
)

// Attribute is how well an attacker infers the private labels of documents: shares
// of right answers, 0–1.
type Attribute struct {
	Accuracy stats.Interval
	Plain    float64 // of the same attacker, trained and tested on plain text: the upper limit
	Majority float64 // of always predicting the most frequent label
}

// Inferred are an attacker's predictions of private labels, and the truth, all in [0, Classes).
type Inferred struct {
	Predicted [][]int // from privatised documents: a list for each release of the same documents
	Plain     []int   // from plain ones
	Labels    []int
	Classes   int
}

// Bootstrap says how an interval is found: of percentiles of what resamples give.
type Bootstrap struct {
	Resamples int
	Level     float64 // confidence, in (0, 1)
	Seed      stream.Seed
}

// MeasureAttribute compares predictions with the truth. Accuracy is the mean over
// releases. Its interval is that of resamples of documents, with all their predictions
// together, and, where there are several releases, of releases, so that the mechanism's
// noise is in it.
func MeasureAttribute(x Inferred, b Bootstrap) Attribute {
	n := len(x.Labels)
	right := x.right()
	total := 0
	for _, r := range right {
		total += count(r)
	}
	of := float64(n * len(right))
	rng := b.Seed.Derive("attribute", "bootstrap").Rand()
	drawn := make([]float64, b.Resamples)
	releases := slices.Clone(right)
	for k := range drawn {
		if len(right) > 1 {
			for r := range releases {
				releases[r] = right[rng.IntN(len(right))]
			}
		}
		found := 0
		for range n {
			i := rng.IntN(n)
			for _, r := range releases {
				found += r[i]
			}
		}
		drawn[k] = float64(found) / of
	}
	counts := make([]int, x.Classes)
	for _, l := range x.Labels {
		counts[l]++
	}
	return Attribute{
		Accuracy: Percentiles(float64(total)/of, drawn, b.Level),
		Plain:    float64(count(equal(x.Plain, x.Labels))) / float64(n),
		Majority: float64(slices.Max(counts)) / float64(n),
	}
}

// right says, by release and document, whether the prediction is right, as 1 or 0.
func (x Inferred) right() [][]int {
	return list.Map(x.Predicted, func(predicted []int) []int {
		return equal(predicted, x.Labels)
	})
}

// equal is 1 where two lists have the same number, else 0.
func equal(a, b []int) []int {
	out := make([]int, len(b))
	for i, v := range b {
		if a[i] == v {
			out[i] = 1
		}
	}
	return out
}

// count is the sum of a list.
func count(x []int) int { return list.Sum(x, func(v int) int { return v }) }

// Percentiles returns the bootstrap interval of an estimate at a level in (0, 1), which
// holds the estimate; it is unknown where the estimate is. It sorts drawn.
func Percentiles(estimate float64, drawn []float64, level float64) stats.Interval {
	if math.IsNaN(estimate) || len(drawn) == 0 {
		return stats.Interval{
			Estimate: estimate,
			Low:      math.NaN(),
			High:     math.NaN(),
		}
	}
	slices.SortFunc(drawn, cmp.Compare[float64])
	at := func(share float64) float64 {
		rank := int(math.Floor(share * float64(len(drawn))))
		return drawn[min(len(drawn)-1, max(0, rank))]
	}
	return stats.Interval{
		Estimate: estimate,
		Low:      min(estimate, at((1-level)/2)),
		High:     max(estimate, at((1+level)/2)),
	}
}
