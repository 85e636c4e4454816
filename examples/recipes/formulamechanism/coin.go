// Package formulamechanism is a template: copy it, and import it in cmd/mldp.
package formulamechanism

import (
	"math"
	"math/rand/v2"

	"mldpbench/mechanisms"
)

func init() {
	mechanisms.Register(mechanisms.Definition{
		Name:     "coin",
		Title:    "Coin",
		Source:   "k-ary randomised response, as a mixture",
		Metric:   "discrete",
		Order:    990,
		Variants: []mechanisms.Variant{mechanisms.Proved},
		PerWord:  true,
		New:      newCoin,
	})
}

// newCoin tosses a coin: with probability n·e^−ε/(1+(n−1)·e^−ε) any word, each alike, else the word itself.
func newCoin(env mechanisms.Environment, s mechanisms.Settings) (*mechanisms.Mechanism, error) {
	n := env.Space.Len()
	// ln of the weight of all words, where the word itself has 1 and any other e^−ε
	total := math.Log1p(float64(n-1) * math.Exp(-s.Epsilon))
	anyWord := float64(n) * math.Exp(-s.Epsilon-total)
	g := mechanisms.Guarantee{
		Metric:   "discrete",
		Epsilon:  s.Epsilon,
		Distance: mechanisms.Discrete,
		Reason:   "the odds of a word between itself and any other are e^epsilon",
	}
	draw := func(word mechanisms.WordID, rng *rand.Rand) mechanisms.WordID {
		if rng.Float64() >= anyWord {
			return word
		}
		return mechanisms.WordID(rng.IntN(n))
	}
	logRow := func(dst []float64, word mechanisms.WordID) {
		for y := range dst {
			dst[y] = -s.Epsilon - total
		}
		dst[word] = -total
	}
	formula := mechanisms.Formula{
		Vocabulary: env.Space.Vocabulary,
		Draw:       draw,
		LogRow:     logRow,
	}
	return mechanisms.ByFormula(s, g, formula), nil
}
