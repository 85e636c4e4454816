package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
)

// DocumentGuarantee states in one line what is guaranteed for a document whose
// tokens share its epsilon evenly, where g is the mechanism's guarantee per word.
//
// Tokens are privatised independently, so log-odds add up over positions: for
// two texts of the same length that differ by d_i at position i, the odds of any
// release differ by at most e^{Σ ε_i·d_i}, which is at most e^{epsilon·max d_i}.
// This needs ε_i that do not depend on the secret: weights of words would be
// other mechanisms for the two texts, and no ε·d bounds the odds between two
// mechanisms. Over n tokens, δ adds up to n·δ·e^{Σ ε·d} at worst; what is stated
// is δ, for texts that differ in one position.
func DocumentGuarantee(g Guarantee, epsilon float64) string {
	if !g.Holds() {
		return "none: " + g.Reason
	}
	s := fmt.Sprintf("document epsilon %.6g, metric %s (largest distance in any place)", epsilon, g.Metric)
	if g.Delta > 0 {
		s += fmt.Sprintf(", delta %.6g", g.Delta)
	}
	s += ", between texts of the same length, which the release shows"
	if g.Scope != "" {
		s += "; in every place only " + g.Scope
	}
	if g.Delta > 0 {
		s += "; delta is for texts that differ in one place"
	}
	return s
}

// WorstCase returns what a guarantee per word amounts to between the two words
// of a space that are farthest apart: the logarithm of the factor by which the
// odds may change, or a bound on it (see largestDistance). A guarantee in another
// metric is replaced by the Euclidean one that it implies; plain differential
// privacy is used as it is. Where nothing is guaranteed between some two words,
// it is +Inf.
func WorstCase(g Guarantee, space *embeddings.Space) float64 {
	switch {
	case !g.Holds() || g.Scope != "":
		return math.Inf(1)
	case g.Metric == "discrete":
		return g.Epsilon
	}
	if g.EuclideanEpsilon == 0 {
		return math.Inf(1)
	}
	return g.EuclideanEpsilon * largestDistance(space, fewPairs)
}

// Factor formats e^x without overflow for any x: 3.2, 1.7e+05, 10^434.
func Factor(x float64) string {
	if x < 300 {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}
