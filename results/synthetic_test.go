package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"mldpbench/metrics"
	"mldpbench/stream"
)

// syntheticStudy returns invented records of a small grid, which mean nothing
// but have the shape of a real study. reseed changes every random outcome and
// nothing else; drop lowers true accuracy of privatised cells, in points.
func syntheticStudy(reseed uint64, repetitions int, drop float64) []Record {
	k := syntheticKey{reseed, repetitions, drop}
	made, ok := synthetic.Load(k)
	if !ok {
		made, _ = synthetic.LoadOrStore(k, makeSynthetic(reseed, repetitions, drop))
	}
	return slices.Clone(made.([]Record))
}

type syntheticKey struct {
	reseed      uint64
	repetitions int
	drop        float64
}

var synthetic sync.Map

func makeSynthetic(reseed uint64, repetitions int, drop float64) []Record {
	var records []Record
	for _, dataset := range []string{"imdb", "made-up"} {
		for _, dimension := range []int{50, 100} {
			add := func(mechanism, variant string, epsilon Float, repetition int, accuracy float64) {
				rng := stream.FromUint64(reseed).Derive(dataset, fmt.Sprint(dimension), mechanism,
					fmt.Sprint(float64(epsilon)), fmt.Sprint(repetition)).Rand()
				r := NewRecord()
				r.Study, r.Status, r.Index, r.Seed = "synthetic", StatusOK, len(records), reseed
				r.Key = fmt.Sprintf("%016x", len(records))
				r.Dataset, r.Generated, r.Embedding, r.Dimension = dataset, dataset == "made-up", "glove.6B", dimension
				r.Mechanism, r.Variant, r.Epsilon, r.Repetition = mechanism, variant, epsilon, repetition
				r.Model, r.Setting = "svm", "local"
				r.TestTotal, r.TestCorrect = 400, binomial(rng, 400, accuracy/100)
				r.EnglishTokens, r.EnglishFound = 1000, binomial(rng, 1000, 0.8)
				if mechanism != BaselineMechanism {
					r.Policy, r.GuaranteeMetric, r.GuaranteeEpsilon, r.GuaranteeReason = "random", "euclidean", epsilon,
						"the noise"
					if variant == "printed" {
						r.GuaranteeMetric, r.GuaranteeEpsilon, r.GuaranteeReason = "", Missing,
							"the word itself is left out"
					}
					privacyMetrics(&r, rng, float64(epsilon))
				}
				if err := r.Recompute(); err != nil {
					panic(err)
				}
				records = append(records, r)
			}
			for repetition := range 2 * repetitions {
				add(BaselineMechanism, "", Missing, repetition+1, 80)
			}
			for m, name := range []string{"cmp", "vickrey"} {
				for _, epsilon := range []Float{1, 5, 10} {
					for repetition := range repetitions {
						add(name, []string{"proved", "printed"}[m], epsilon, repetition+1,
							55+2*float64(epsilon)+4*float64(m)-drop)
					}
				}
			}
			undefined := NewRecord()
			undefined.Study, undefined.Status, undefined.Reason = "synthetic", StatusUndefined,
				"epsilon = 1: must be > 42"
			undefined.Seed, undefined.Index, undefined.Key, undefined.Repetition = reseed, len(records),
				fmt.Sprintf("%016x", len(records)), 1
			undefined.Dataset, undefined.Generated, undefined.Embedding, undefined.Dimension = dataset,
				dataset == "made-up", "glove.6B", dimension
			undefined.Mechanism, undefined.Variant, undefined.Epsilon, undefined.Model, undefined.Setting = "gumbel",
				"proved", 1, "svm", "local"
			records = append(records, undefined)
		}
	}
	derived, err := Derive(records)
	if err != nil {
		panic(err)
	}
	return derived
}

func privacyMetrics(r *Record, rng *rand.Rand, epsilon float64) {
	var words []metrics.Deniability[string]
	for w := range 10 {
		unchanged := binomial(rng, 100, min(0.95, epsilon/15*rng.Float64()*2))
		words = append(words, metrics.Deniability[string]{Word: fmt.Sprintf("word%d", w), Runs: 100,
			Unchanged: unchanged, Distinct: 1 + binomial(rng, 100-unchanged, 0.9)})
	}
	r.SetDeniability(words)
	r.TokensTotal, r.TokensChanged = 1000, binomial(rng, 1000, 1-epsilon/20)
	r.LowTotal, r.LowPresent = 1000, binomial(rng, 1000, epsilon/20)
	r.CS, r.CSStdDev, r.CSDocuments, r.CSEncoder = Float(20+5*epsilon+rng.NormFloat64()), 10, 300, EncoderSIF
	r.EMMap, r.EMPosterior, r.EMMapLower = Float(0.9-epsilon/20), Float(0.95-epsilon/20), Float(0.8-epsilon/20)
	r.EMStdError, r.EMCandidates, r.EMRuns = 0.004, 200, 100
	r.WordsPerSecond, r.TotalSeconds = Float(1e5*rng.Float64()), Float(rng.Float64())
}

func binomial(rng *rand.Rand, n int, p float64) int {
	k := 0
	for range n {
		if rng.Float64() < p {
			k++
		}
	}
	return k
}
