package mechanisms

import (
	"fmt"
	"math"
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
// of a vocabulary that are farthest apart: the logarithm of the factor by which
// the odds may change. diameter is the largest Euclidean distance between two
// words. A guarantee in another metric is replaced by the Euclidean one that it
// implies; plain differential privacy is used as it is. Where nothing is
// guaranteed between some two words, the factor is +Inf and why says so.
func WorstCase(g Guarantee, diameter float64) (logOdds float64, why string) {
	switch {
	case !g.Holds():
		why = "nothing is guaranteed: " + g.Reason
	case g.Scope != "":
		why = "the guarantee holds only " + g.Scope + ": between other words the odds may change by any factor"
	case g.Metric == "discrete":
		return g.Epsilon, ""
	case g.EuclideanEpsilon > 0:
		return g.EuclideanEpsilon * diameter, ""
	case g.Metric == "euclidean":
		return g.Epsilon * diameter, ""
	default:
		why = fmt.Sprintf("the guarantee is in the metric %q, which no Euclidean distance bounds: between words far "+
			"apart the odds may change by any factor", g.Metric)
	}
	return math.Inf(1), why
}

// Factor formats e^x without overflow for any x: 3.2, 1.7e+05, 10^434.
func Factor(x float64) string {
	if x < 300 {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}
