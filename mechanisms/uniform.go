package mechanisms

import (
	"math"
	"math/rand/v2"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "uniform",
		Title:    "Uniform",
		Source:   "baseline: any word for any word",
		Metric:   "discrete",
		Order:    910,
		Variants: []Variant{Proved},
		PerWord:  true,
		Constant: true,
		New:      newUniform,
	})
}

// newUniform ignores the word: Pr[y] = 1/n at every ε. It is 0-private in every
// metric; only the number of words of a text is preserved.
func newUniform(env Environment, s Settings) (*Mechanism, error) {
	n := env.Space.Len()
	return ByFormula(s, perfect("the output does not depend on the word"), Formula{
		Vocabulary: env.Space.Vocabulary,
		Draw:       func(_ WordID, rng *rand.Rand) WordID { return WordID(rng.IntN(n)) },
		LogRow: func(dst []float64, _ WordID) {
			for y := range dst {
				dst[y] = -math.Log(float64(n))
			}
		},
	}), nil
}

// perfect returns the guarantee with ε = 0, whatever ε the instance was built
// with.
func perfect(reason string) Guarantee {
	return Guarantee{
		Metric:   "discrete",
		Reason:   reason,
		Distance: Discrete,
	}
}
