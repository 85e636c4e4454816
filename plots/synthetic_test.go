package plots

import (
	"math"
	"math/rand/v2"

	"mldpbench/results"
)

// syntheticRecords returns TEST DATA: invented numbers in the shape of a study,
// for inspecting figures. They measure nothing.
func syntheticRecords(repetitions int) []results.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	float := func(v float64) results.Float { return results.Float(v) }
	var out []results.Record
	mechanisms := []struct {
		name, variant, parameters, guarantee string
		scale                                float64
	}{
		{"cmp", "proved", "", "euclidean", 6},
		{"mahalanobis", "proved", "lambda=0.2", "mahalanobis", 6.5},
		{"vickrey", "proved", "t=0.5", "euclidean", 8},
		{"vickrey", "released", "t=0.5", "", 9},
		{"tem", "proved", "gamma=theorem3", "euclidean", 3},
		{"santext", "proved", "", "euclidean", 4},
		{"gumbel", "proved", "", "euclidean", 1},
		{"gumbel", "released", "", "", 2},
		{"syntf", "proved", "", "discrete", 20},
	}
	sets := []struct {
		name string
		base float64
		low  float64
	}{{"generated-sentiment", 91, 50}, {"generated-topics", 88, 25}, {"generated-lexicon", 97, 50}}
	for _, set := range sets {
		for _, d := range []int{50, 100} {
			for rep := range repetitions {
				common := results.NewRecord()
				common.Study, common.Dataset, common.Generated = "synthetic test data", set.name, true
				common.Embedding, common.Dimension, common.Vocabulary = "generated", d, 2000
				common.Model, common.Setting, common.Repetition = "svm", "local", rep
				common.Status, common.Policy = "ok", "keep"
				base := common
				base.Mechanism, base.GuaranteeReason = "none", "no privatisation"
				base.Accuracy = float(set.base + rng.NormFloat64()*0.4)
				base.TrainSeconds, base.MeasureSeconds = float(0.8), float(0.3)
				out = append(out, base)
				for _, m := range mechanisms {
					for _, e := range []float64{1, 5, 10} {
						r := common
						r.Mechanism, r.Variant, r.Parameters = m.name, m.variant, m.parameters
						r.Epsilon = float(e)
						r.GuaranteeMetric = m.guarantee
						if m.guarantee == "" {
							r.GuaranteeReason = "test data"
						} else {
							r.GuaranteeEpsilon = float(e)
						}
						if m.name == "gumbel" && m.variant == "proved" {
							r.Status, r.Reason = "undefined", "test data"
							out = append(out, r)
							continue
						}
						keep := 1 / (1 + math.Exp(-(e-m.scale)/1.2))
						jitter := func(s float64) float64 { return rng.NormFloat64() * s }
						r.BaselineAccuracy = float(set.base)
						r.Accuracy = float(set.low + (set.base-set.low)*math.Pow(keep, 0.4) + jitter(1))
						r.Nw = float(min(100, max(0, 100*keep+jitter(2))))
						r.Sw = float(min(100, max(0, 100*(1-keep)+jitter(2))))
						r.PP = float(100 - 98*keep)
						r.CS = float(30 + 68*keep)
						r.Low = float(80 * keep)
						privacy := (100 - float64(r.Nw) + float64(r.Sw) + float64(r.PP) + float64(r.CS) + 100 -
							float64(r.Low)) / 5
						utility := 100 * float64(r.Accuracy) / set.base
						r.PUC75 = float(.75*utility + .25*privacy)
						r.PUC50 = float(.5*utility + .5*privacy)
						r.PUC25 = float(.25*utility + .75*privacy)
						r.EMPosterior = float(1 - keep*keep)
						r.EMMap = float(1 - keep)
						r.WordsPerSecond = float(1e5 * math.Exp(rng.NormFloat64()*0.1) * m.scale * m.scale * 50 /
							float64(d))
						r.PeakMemoryMiB = float(300 + 10*m.scale)
						r.PrivatizeSeconds = float(4 / m.scale)
						r.TrainSeconds = float(0.9)
						r.MeasureSeconds = float(0.5)
						r.CSSeconds = float(2)
						r.TotalSeconds = r.PrivatizeSeconds + 0.9 + 0.5 + 2.2
						out = append(out, r)
					}
				}
			}
		}
	}
	return out
}
