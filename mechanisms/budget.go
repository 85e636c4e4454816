package mechanisms

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/list"
	"mldpbench/stream"
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

// OfDocument makes a mechanism whose ε is that of a whole document, which its words
// share evenly, known or not, as their number is visible. Where the release does not
// show it, because words are dropped, the ε of a word depends on the private text and
// nothing is promised.
func OfDocument(m *Mechanism, policy Policy) (*Mechanism, error) {
	return Rewriting(budgeted{m, policy}, nil)
}

// OfLength returns what replaces the words of a document of n: the mechanism itself or, where
// the words of a document share its ε, the one at their share.
func (m *Mechanism) OfLength(n int) (*Mechanism, error) {
	b, ok := m.text.(budgeted)
	if !ok {
		return m, nil
	}
	return b.Mechanism.At(b.share(n))
}

// ByWords reports whether the mechanism replaces each word of a document by itself, also with a
// share of the document's ε.
func (m *Mechanism) ByWords() bool {
	b, ok := m.text.(budgeted)
	if ok {
		return b.Mechanism.TakesWords()
	}
	return m.TakesWords()
}

// share is the ε of each word of a document of n.
func (b budgeted) share(n int) float64 { return b.settings.Epsilon / float64(max(1, n)) }

// budgeted rewrites documents as a whole: what a word becomes depends on their number.
type budgeted struct {
	*Mechanism
	policy Policy
}

func (b budgeted) Aligned() bool { return false }

// Guarantee is that of documents, none where the release does not show their number of words.
func (b budgeted) Guarantee() Guarantee {
	g := b.Mechanism.Guarantee()
	if !g.Holds() {
		return g
	}
	if b.policy == Drop || b.vocabulary.ID("") != embeddings.Unknown {
		return Guarantee{Reason: "the epsilon of a word depends on the number of words of a document, which the " +
			"release does not show"}
	}
	return Guarantee{
		Metric:  "document " + g.Metric,
		Epsilon: g.Epsilon,
		Delta:   g.Delta,
		Scope:   g.Scope,
		Reason:  DocumentGuarantee(g, b.settings.Epsilon),
	}
}

// Rewrite gives the words of each document its share of ε.
func (b budgeted) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	return b.privatizeText(ctx, documents, TextOptions{Seeds: seeds})
}

// privatizeText is PrivatizeText with the shares and the policy of b. The number of
// words of the release is not that of the text.
func (b budgeted) privatizeText(ctx context.Context, documents [][]string, o TextOptions) ([][]string, error) {
	o.Policy = b.policy
	o.Aligned = false
	o.Epsilons = list.Map(documents, func(d []string) float64 { return b.share(len(d)) })
	return PrivatizeText(ctx, b.Mechanism, documents, o)
}

// Near returns the median distance, as a guarantee counts it, between words and others, the word of
// the space that is nearest to each: +Inf where for most nothing is promised there.
func Near(g Guarantee, words []WordID, others []nearest.Neighbor) float64 {
	distances := make([]float64, len(words))
	for i, other := range others {
		distances[i] = math.Inf(1)
		if other.ID != embeddings.Unknown && g.Distance != nil && g.Promises(words[i], other.ID) {
			distances[i] = g.Distance(words[i], other.ID)
		}
	}
	slices.Sort(distances)
	return distances[len(distances)/2]
}

// Factor formats e^x without overflow for any x: 3.2, 1.7e+05, 10^434.
func Factor(x float64) string {
	if x < 300 {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}
