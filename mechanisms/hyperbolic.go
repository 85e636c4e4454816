package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
)

func init() {
	Register(Definition{
		Name:     "hyperbolic",
		Title:    "Hyperbolic",
		Source:   "Feyisetan, Diethe & Drake 2019 (ICDM), exponential law of the distance in the Poincaré ball",
		Metric:   "hyperbolic",
		Order:    140,
		Variants: []Variant{Proved},
		PerWord:  true,
		New:      newHyperbolic,
	})
}

// newHyperbolic builds the exponential mechanism with the distance of the Poincaré ball
// as cost, over all of W: Pr[y] ∝ exp(−(ε/2)·d_H(w, y)),
//
//	d_H(u, v) = arcosh(1 + 2‖u − v‖² / ((1 − ‖u‖²)(1 − ‖v‖²))).
//
// Deviation: the paper draws a point of the ball from a density ∝ exp(−ε·d_H) by a
// Markov chain and returns the word nearest to it. Its normaliser depends on the word,
// unless the volume is hyperbolic and ε > p − 1, and the chain is drawn from in part
// only. Here the same law is one of words: with exact probabilities, at every ε, and
// half of ε pays for the normaliser, as in SanText.
func newHyperbolic(env Environment, s Settings) (*Mechanism, error) {
	space := env.Space
	if space.Metric() != embeddings.Poincare {
		return nil, &UndefinedError{Reason: fmt.Sprintf("the vectors of %s are not of the Poincaré ball, as those "+
			"of a file called *poincare* are", space.Name)}
	}
	norms := normsOf(space)
	g := Guarantee{
		Metric:   "hyperbolic",
		Epsilon:  s.Epsilon,
		Reason:   "exponential mechanism with the distance of the Poincaré ball as cost",
		Distance: func(a, b WordID) float64 { return hyperbolic(space.Distance(a, b), norms[a], norms[b]) },
	}
	scores := func(word WordID, row []float64) ([]float64, []WordID) {
		for y, distance := range row {
			row[y] = -s.Epsilon / 2 * hyperbolic(distance, norms[word], norms[y])
		}
		return row, nil
	}
	return ByScores(s, g, Scores{
		Vocabulary: space.Vocabulary,
		Basis:      Distances(space),
		Of:         scores,
	}), nil
}

// hyperbolic is the distance in the Poincaré ball of two vectors of these norms at this
// Euclidean distance. It is arcosh(1 + x) as 2·arsinh(√(x/2)), which keeps small ones.
func hyperbolic(distance, a, b float64) float64 {
	return 2 * math.Asinh(distance/math.Sqrt((1-a*a)*(1-b*b)))
}
