package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
)

// Weighting says where the weights of a document's budget come from, which
// decides what is promised.
type Weighting string

const (
	// Evenly gives every token the same share.
	Evenly Weighting = "even"
	// ByPosition weighs tokens by a public function of their place (and of the
	// public length): the same for all texts.
	ByPosition Weighting = "position"
	// ByWord weighs tokens by a public score of the word, such as its idf in a
	// public corpus or a lexicon. The scores are public, but which of them a
	// token gets depends on the secret word.
	ByWord Weighting = "word"
	// ByText weighs tokens by something computed from the text itself.
	ByText Weighting = "text"
)

// Weightings are all of them, Evenly first.
var Weightings = []Weighting{Evenly, ByPosition, ByWord, ByText}

// Budget divides the epsilon of a document among its tokens.
type Budget struct {
	Epsilon   float64 // of the whole document
	Weighting Weighting
	// Length is a public number of tokens that every document is counted as;
	// 0 means the document's own, which the release shows anyway.
	Length int
}

// Epsilons are the epsilons of the tokens of one document, for Privatize. They
// sum to at most Epsilon, and to Epsilon where the length is the document's
// own. weights are one number > 0 per token, nil for Evenly: a token of weight
// 0 would have to be drawn without looking at it; what some packages do
// instead, to publish it as it is, is a budget without end.
//
// A document longer than a public Length is an error: its tokens would spend
// more than Epsilon. With a public Length weights are those of all its
// positions, tokens or not, so that they sum to the same for every text.
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
		// The quotient first: a large weight may not overflow.
		out[i] = b.Epsilon * (weights[i] / sum)
	}
	for i, e := range out {
		if err := check.Positive("epsilon", e); err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
	}
	return out, nil
}

// DocumentGuarantee is what is promised of a document whose tokens got the
// epsilons of a budget.
type DocumentGuarantee struct {
	// Metric is that of the mechanism, "" where nothing is promised.
	Metric string
	// Epsilon is the document's: for two texts of one length that differ by
	// d_i in place i, the odds of any release differ by e^{Σ ε_i·d_i} at most,
	// and by e^{Epsilon·max d_i} at most whatever the places.
	Epsilon float64
	Delta   float64 // of a document of that length, by union over its tokens
	// Conditions say between which texts the promise holds; where nothing is
	// promised, why not.
	Conditions string
}

// Holds says whether anything is promised.
func (g DocumentGuarantee) Holds() bool { return g.Metric != "" }

// String is the promise in one line.
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

// Guarantee says what a budget promises of a document of so many tokens, given
// the promise of the mechanism per word.
//
// Tokens are privatised independently, so log-odds add up over places: with
// epsilons ε_i that do not depend on the secret they are at most Σ ε_i·d_i.
// Once they do depend on it, the two texts that are compared were privatised
// by two different mechanisms, and no ε·d bounds the odds of two mechanisms.
// Delta adds up to tokens·δ·e^{Σ ε·d} at worst; it is reported for texts that
// differ in one place, tokens·δ, and the condition says so.
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
		g.Conditions = between + " and the same weight in every place; between others nothing is promised, because the " +
			"weight of a word, public or not, tells of the word"
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

// Diameter is the largest Euclidean distance of two words of a space.
func Diameter(s *embeddings.Space) (float64, error) {
	return diameterOf(s)
}

// WorstCase is what a promise per word comes to between the two words of a
// vocabulary that are farthest apart: the logarithm of the factor by which the
// odds may change, and a sentence that says so. diameter is the largest
// Euclidean distance of two words; promises in other metrics are taken by the
// Euclidean one that they imply, plain differential privacy by itself. The
// factor is +Inf, and the sentence says why, where nothing is promised
// between some two words.
func WorstCase(g Guarantee, diameter float64) (logOdds float64, sentence string) {
	switch {
	case !g.Holds():
		return math.Inf(1), "Between two words the odds may change by any factor: " + g.Reason
	case g.Scope != "":
		return math.Inf(1), "The promise holds only " + g.Scope +
			": between other words the odds may change by any factor."
	case g.Metric == "discrete":
		logOdds = g.Epsilon
	case g.EuclideanEpsilon > 0:
		logOdds = g.EuclideanEpsilon * diameter
	case g.Metric == "euclidean":
		logOdds = g.Epsilon * diameter
	default:
		return math.Inf(1), fmt.Sprintf("The promise is in the metric %q, which no Euclidean distance bounds: "+
			"between words far apart the odds may change by any factor.", g.Metric)
	}
	sentence = fmt.Sprintf("Between any two words of the vocabulary, the odds may change by a factor of %s per "+
		"word, if they are far apart.", factor(logOdds))
	if g.Delta > 0 {
		sentence += fmt.Sprintf(" With delta %.3g the bound may fail.", g.Delta)
	}
	return logOdds, sentence
}

// factor writes e^x so that no x overflows.
func factor(x float64) string {
	if x < math.Log(1e6) {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.3g", x/math.Ln10)
}
