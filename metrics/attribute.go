package metrics

import (
	"cmp"
	"math"
	"slices"

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

// MeasureAttribute compares predictions of private labels from privatised
// documents (predicted, one list per release of the same documents) and from
// plain ones (plain) with the truth, all in [0, classes). Accuracy is the mean over
// releases. Its interval is of percentiles over the given number of bootstrap resamples:
// of documents, with all their predictions together, and, where there are several
// releases, of releases, so that the mechanism's noise is in it.
func MeasureAttribute(predicted [][]int, plain, labels []int, classes, resamples int, level float64,
	seed stream.Seed) (out Attribute) {
	counts, n := make([]int, classes), len(labels)
	right := make([][]int, len(predicted)) // 1 or 0, of each release and document
	for r := range predicted {
		right[r] = make([]int, n)
	}
	total := 0
	for i, l := range labels {
		counts[l]++
		for r, p := range predicted {
			if p[i] == l {
				right[r][i] = 1
				total++
			}
		}
		if plain[i] == l {
			out.Plain++
		}
	}
	out.Plain, out.Majority = out.Plain/float64(n), float64(slices.Max(counts))/float64(n)
	share := func(total int) float64 { return float64(total) / float64(n*len(predicted)) }
	rng := seed.Derive("attribute", "bootstrap").Rand()
	drawn, releases := make([]float64, resamples), slices.Clone(right)
	for k := range drawn {
		if len(right) > 1 {
			for r := range releases {
				releases[r] = right[rng.IntN(len(right))]
			}
		}
		sum := 0
		for range labels {
			i := rng.IntN(n)
			for _, r := range releases {
				sum += r[i]
			}
		}
		drawn[k] = share(sum)
	}
	out.Accuracy = Percentiles(share(total), drawn, level)
	return out
}

// Percentiles returns the bootstrap interval of an estimate, unknown where the
// estimate is unknown.
func Percentiles(estimate float64, drawn []float64, level float64) stats.Interval {
	if math.IsNaN(estimate) || len(drawn) == 0 {
		return stats.Interval{Estimate: estimate, Low: math.NaN(), High: math.NaN()}
	}
	slices.SortFunc(drawn, cmp.Compare[float64])
	at := func(share float64) float64 {
		return drawn[min(len(drawn)-1, max(0, int(math.Floor(share*float64(len(drawn))))))]
	}
	return stats.Interval{Estimate: estimate, Low: min(estimate, at((1-level)/2)), High: max(estimate, at((1+level)/2))}
}
