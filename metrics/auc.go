package metrics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/internal/stats"
)

// AUC is the area under the ROC curve, 0–1: the probability that a positive
// example scores above a negative one, ties counting one half (the
// Mann–Whitney statistic on mid-ranks, which is exact where a trapezoid over
// sorted scores depends on the order of ties). NaN when a class is empty, or a score
// is NaN: the area does not exist. Source: [FK21] §5.3.
func AUC(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return s
		}
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })

	// Twice the rank sum of the positives stays an integer, so the result does
	// not depend on the order of summation.
	var positives, twiceRankSum int
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && scores[order[end]] == scores[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			if positive[i] {
				positives++
				twiceRankSum += start + 1 + end // twice the mid-rank of ranks start+1..end
			}
		}
		start = end
	}
	negatives := len(scores) - positives
	if positives == 0 || negatives == 0 {
		return math.NaN()
	}
	twiceU := twiceRankSum - positives*(positives+1)
	return float64(twiceU) / (2 * float64(positives) * float64(negatives))
}

// AUCInterval is the interval, in [0, 1], of an area of so many positive and negative examples:
// that of Hanley & McNeil 1982, eq. 1, with z to two decimals (1.96 at 95%); where all positives score
// above all others, or below, that has no width, and the one for as many successes in a row
// as the smaller class has examples is used.
func AUCInterval(area float64, positives, negatives int, level float64) stats.Interval {
	p := float64(positives)
	n := float64(negatives)
	if area == 0 || area == 1 {
		return stats.ClopperPearson(int(area*min(p, n)), int(min(p, n)), level)
	}
	// Probabilities that one positive example is above two negative ones, and two above one, as of exponential scores.
	q1 := area / (2 - area)
	q2 := 2 * area * area / (1 + area)
	square := area * area
	z := math.Round(100*distuv.UnitNormal.Quantile((1+level)/2)) / 100
	half := z * math.Sqrt(max(0, (area*(1-area)+(p-1)*(q1-square)+(n-1)*(q2-square))/(p*n)))
	return stats.Interval{
		Estimate: area,
		Low:      max(0, area-half),
		High:     min(1, area+half),
	}
}
