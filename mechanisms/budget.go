package mechanisms

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
)

// Budget divides the epsilon of a document among its tokens.
type Budget struct {
	Epsilon float64 // of the whole document
	// ByWord weighs tokens by a public score of the word, such as its idf in a
	// public corpus or a lexicon; otherwise all have the same share. The scores
	// are public, but which of them a token gets depends on the secret word.
	ByWord bool
}

// Epsilons returns the epsilon of each token of one document, for Privatize;
// they sum to Epsilon. weights holds one number > 0 per token and is nil unless
// ByWord. A weight of 0 is not allowed: such a token would have to be drawn
// without looking at it. Some packages publish it unchanged instead, which
// spends an infinite epsilon.
func (b Budget) Epsilons(tokens int, weights []float64) ([]float64, error) {
	if err := check.Positive("document epsilon", b.Epsilon); err != nil {
		return nil, err
	}
	if !b.ByWord {
		return slices.Repeat([]float64{b.Epsilon / float64(tokens)}, tokens), nil
	}
	if len(weights) != tokens {
		return nil, fmt.Errorf("%d weights for %d tokens", len(weights), tokens)
	}
	sum := 0.0
	for i, w := range weights {
		if err := check.Positive("weight", w); err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
		sum += w
	}
	out := make([]float64, tokens)
	for i, w := range weights {
		// Divide first, so that a large weight does not overflow.
		out[i] = b.Epsilon * (w / sum)
		if err := check.Positive("epsilon", out[i]); err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
	}
	return out, nil
}

// DocumentGuarantee is the guarantee for a document whose tokens got the
// epsilons of a budget.
type DocumentGuarantee struct {
	// Metric is the metric of the mechanism, "" where nothing is guaranteed.
	Metric string
	// Epsilon is the epsilon of the whole document. For two texts of the same
	// length that differ by d_i at position i, the odds of any release differ
	// by at most e^{Σ ε_i·d_i}, which is at most e^{Epsilon·max d_i}.
	Epsilon float64
	Delta   float64 // of a document of that length, by union over its tokens
	// Conditions states between which texts the guarantee holds or, where there
	// is none, why.
	Conditions string
}

// Holds reports whether anything is guaranteed.
func (g DocumentGuarantee) Holds() bool { return g.Metric != "" }

// String returns the guarantee in one line.
func (g DocumentGuarantee) String() string {
	if !g.Holds() {
		return "none: " + g.Conditions
	}
	s := fmt.Sprintf("document epsilon %.6g, metric %s (largest distance in any place)", g.Epsilon, g.Metric)
	if g.Delta > 0 {
		s += fmt.Sprintf(", delta %.6g", g.Delta)
	}
	return s + ", " + g.Conditions
}

// Guarantee returns what the budget guarantees for a document of the given
// number of tokens, where g is the mechanism's guarantee per word.
//
// Tokens are privatised independently, so log-odds add up over positions: where
// the epsilons ε_i do not depend on the secret, they sum to at most Σ ε_i·d_i.
// Where they do depend on it, the two texts that are compared were privatised
// by two different mechanisms, and no ε·d bounds the odds between two
// mechanisms. Delta adds up to tokens·δ·e^{Σ ε·d} at worst. The value reported
// is tokens·δ, for texts that differ in one position, and Conditions says so.
func (b Budget) Guarantee(perWord Guarantee, tokens int) DocumentGuarantee {
	if !perWord.Holds() {
		return DocumentGuarantee{Conditions: perWord.Reason}
	}
	g := DocumentGuarantee{Metric: perWord.Metric, Epsilon: b.Epsilon, Delta: perWord.Delta * float64(tokens)}
	g.Conditions = "between texts of the same length, which the release shows"
	if b.ByWord {
		g.Conditions += " and the same weight in every place; between others nothing is guaranteed, because " +
			"the weight of a word, public or not, reveals something about the word"
	}
	if perWord.Scope != "" {
		g.Conditions += "; in every place only " + perWord.Scope
	}
	if perWord.Delta > 0 {
		g.Conditions += "; delta is for texts that differ in one place"
	}
	return g
}

// Diameter returns the largest Euclidean distance between two words of a space.
func Diameter(s *embeddings.Space) (float64, error) {
	return diameterOf(s)
}

// WorstCase returns what a guarantee per word amounts to between the two words
// of a vocabulary that are farthest apart: the logarithm of the factor by which
// the odds may change, and a sentence that states it. diameter is the largest
// Euclidean distance between two words. A guarantee in another metric is
// replaced by the Euclidean one that it implies; plain differential privacy is
// used as it is. Where nothing is guaranteed between some two words, the factor
// is +Inf and the sentence gives the reason.
func WorstCase(g Guarantee, diameter float64) (logOdds float64, sentence string) {
	switch {
	case !g.Holds():
		return math.Inf(1), "Between two words the odds may change by any factor: " + g.Reason
	case g.Scope != "":
		return math.Inf(1), "The guarantee holds only " + g.Scope +
			": between other words the odds may change by any factor."
	case g.Metric == "discrete":
		logOdds = g.Epsilon
	case g.EuclideanEpsilon > 0:
		logOdds = g.EuclideanEpsilon * diameter
	case g.Metric == "euclidean":
		logOdds = g.Epsilon * diameter
	default:
		return math.Inf(1), fmt.Sprintf("The guarantee is in the metric %q, which no Euclidean distance bounds: "+
			"between words far apart the odds may change by any factor.", g.Metric)
	}
	sentence = fmt.Sprintf("Between any two words of the vocabulary, the odds may change by a factor of %s per "+
		"word, if they are far apart.", factor(logOdds))
	if g.Delta > 0 {
		sentence += fmt.Sprintf(" With delta %.3g the bound may fail.", g.Delta)
	}
	return logOdds, sentence
}

// factor formats e^x without overflow for any x.
func factor(x float64) string {
	if x < math.Log(1e6) {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.3g", x/math.Ln10)
}
