package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
)

// Weighting is the source of the weights that divide a document's budget. It
// decides what can be guaranteed.
type Weighting string

const (
	// Evenly gives every token the same share.
	Evenly Weighting = "even"
	// ByPosition weighs tokens by a public function of their position (and of
	// the public length), the same for all texts.
	ByPosition Weighting = "position"
	// ByWord weighs tokens by a public score of the word, such as its idf in a
	// public corpus or a lexicon. The scores are public, but which of them a
	// token gets depends on the secret word.
	ByWord Weighting = "word"
	// ByText weighs tokens by something computed from the text itself.
	ByText Weighting = "text"
)

// Weightings lists all weightings, Evenly first.
var Weightings = []Weighting{Evenly, ByPosition, ByWord, ByText}

// Budget divides the epsilon of a document among its tokens.
type Budget struct {
	Epsilon   float64 // of the whole document
	Weighting Weighting
	// Length is a public number of tokens that every document is counted as; 0
	// means the document's own length, which the release shows anyway.
	Length int
}

// Epsilons returns the epsilon of each token of one document, for Privatize.
// They sum to at most Epsilon, and to exactly Epsilon where the length is the
// document's own. weights holds one number > 0 per token and is nil for Evenly.
// A weight of 0 is not allowed: such a token would have to be drawn without
// looking at it. Some packages publish it unchanged instead, which spends an
// infinite epsilon.
//
// A document longer than a public Length is an error: its tokens would spend
// more than Epsilon. With a public Length, weights covers all its positions,
// whether they hold a token or not, so the sum is the same for every text.
func (b Budget) Epsilons(tokens int, weights []float64) ([]float64, error) {
	if err := check.Positive("document epsilon", b.Epsilon); err != nil {
		return nil, err
	}
	if err := check.AtLeast("length", b.Length, 0); err != nil {
		return nil, err
	}
	length := tokens
	if b.Length > 0 {
		if tokens > b.Length {
			return nil, fmt.Errorf("%d tokens in a document of the public length %d: cut it or raise the length",
				tokens, b.Length)
		}
		length = b.Length
	}
	out := make([]float64, tokens)
	switch {
	case b.Weighting == Evenly && weights == nil:
		for i := range out {
			out[i] = b.Epsilon / float64(length)
		}
		return out, nil
	case b.Weighting == Evenly:
		return nil, fmt.Errorf("weights are given for a budget that is divided evenly")
	}
	if err := check.OneOf("weighting", string(b.Weighting), string(Evenly), string(ByPosition), string(ByWord),
		string(ByText)); err != nil {
		return nil, err
	}
	want := tokens
	if b.Weighting == ByPosition {
		want = length
	} else if b.Length > 0 {
		return nil, fmt.Errorf("weighting %q has no public length: weights exist for the tokens of the text only",
			b.Weighting)
	}
	if len(weights) != want {
		return nil, fmt.Errorf("%d weights for %d tokens", len(weights), want)
	}
	sum := 0.0
	for i, w := range weights {
		if err := check.Positive("weight", w); err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
		sum += w
	}
	for i := range out {
		// Divide first, so that a large weight does not overflow.
		out[i] = b.Epsilon * (weights[i] / sum)
	}
	for i, e := range out {
		if err := check.Positive("epsilon", e); err != nil {
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
	between := "between texts of the same length, which the release shows"
	if b.Length > 0 && b.Weighting == Evenly {
		between = fmt.Sprintf("between texts of the same length, which the release shows, each token having "+
			"1/%d of the budget", b.Length)
	}
	switch b.Weighting {
	case Evenly, ByPosition:
		g.Conditions = between
	case ByWord:
		g.Conditions = between + " and the same weight in every place; between others nothing is guaranteed, because " +
			"the weight of a word, public or not, reveals something about the word"
	default:
		return DocumentGuarantee{Conditions: "the budget of a token depends on the secret text, so texts that are " +
			"compared were privatised " +
			"by different mechanisms"}
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
