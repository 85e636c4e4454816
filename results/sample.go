package results

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"mldpbench/results/stats"
)

// SampleOf returns the sample of the accuracies of one cell in %. A single
// repetition has the binomial variance of its test set, which does not include
// noise and training.
func SampleOf(records []Record) stats.Sample {
	x := Cells{Records: records}.Values(column("accuracy").Get)
	if len(x) > 1 {
		m, v := stat.MeanVariance(x, nil)
		return stats.Sample{Mean: m, Variance: v / float64(len(x)), DF: float64(len(x) - 1)}
	}
	s := stats.Sample{Mean: stats.Mean(x), Variance: math.NaN(), DF: math.Inf(1)}
	for _, r := range records {
		if r.Accuracy.Known() && r.TestTotal > 0 {
			p := float64(r.Accuracy) / 100
			s.Variance = 1e4 * p * (1 - p) / float64(r.TestTotal)
		}
	}
	return s
}
