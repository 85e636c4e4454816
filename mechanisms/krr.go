package mechanisms

import (
	"math"
	"math/rand/v2"
)

func init() {
	Register(Definition{
		Name:     "k-rr",
		Title:    "k-RR",
		Source:   "Kairouz, Oh & Viswanath 2014, eq. 7 (k-ary randomised response)",
		Metric:   "discrete",
		Order:    100,
		Variants: []Variant{Proved},
		PerWord:  true,
		New:      newKRR,
	})
}

// newKRR builds randomised response over all of W: the word itself with
// probability e^ε/(e^ε+n−1), each other word with 1/(e^ε+n−1).
func newKRR(env Environment, s Settings) (*Mechanism, error) {
	n := env.Space.Len()
	// ln(e^ε/(e^ε+n−1)) without overflow of e^ε.
	logKept := -math.Log1p(float64(n-1) * math.Exp(-s.Epsilon))
	kept := math.Exp(logKept)
	g := Guarantee{
		Metric:   "discrete",
		Epsilon:  s.Epsilon,
		Distance: Discrete,
		Reason:   "randomised response: the two probabilities differ by a factor of e^epsilon",
	}
	draw := func(word WordID, rng *rand.Rand) WordID {
		if n == 1 || rng.Float64() < kept {
			return word
		}
		other := WordID(rng.IntN(n - 1))
		if other >= word {
			other++
		}
		return other
	}
	logRow := func(dst []float64, word WordID) {
		for y := range dst {
			dst[y] = logKept - s.Epsilon
		}
		dst[word] = logKept
	}
	return ByFormula(s, g, Formula{
		Vocabulary: env.Space.Vocabulary,
		Draw:       draw,
		LogRow:     logRow,
	}), nil
}
