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
	return Rewriting(shared{m, policy}, nil)
}

// shared rewrites documents as a whole: what a word becomes depends on their number.
type shared struct {
	*Mechanism
	policy Policy
}

func (s shared) Aligned() bool { return false }

func (s shared) Guarantee() Guarantee {
	g := s.Mechanism.Guarantee()
	switch {
	case !g.Holds():
		return g
	case s.policy == Drop || s.vocabulary.ID("") != embeddings.Unknown:
		return Guarantee{Reason: "the epsilon of a word depends on the number of words of a document, which the release " +
			"does not show"}
	}
	return Guarantee{Metric: "document " + g.Metric, Epsilon: g.Epsilon, Delta: g.Delta, Scope: g.Scope,
		Reason: DocumentGuarantee(g, s.settings.Epsilon)}
}

func (s shared) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	each := list.Map(documents, func(d []string) float64 { return s.settings.Epsilon / float64(max(1, len(d))) })
	return PrivatizeText(ctx, s.Mechanism, documents, TextOptions{Policy: s.policy, Seeds: seeds, Epsilons: each})
}

// Near returns the median distance, as a guarantee counts it, between words and the word
// of the space that is nearest to each: +Inf where for most nothing is promised there.
func Near(g Guarantee, space *embeddings.Space, words []WordID) float64 {
	near, all := nearest.Of(space).Words(words, 2), make([]float64, len(words))
	for i, w := range words {
		other := near[2*i]
		if other.ID == w {
			other = near[2*i+1]
		}
		all[i] = math.Inf(1)
		if other.ID != embeddings.Unknown && g.Distance != nil && g.Promises(w, other.ID) {
			all[i] = g.Distance(w, other.ID)
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Factor formats e^x without overflow for any x: 3.2, 1.7e+05, 10^434.
func Factor(x float64) string {
	if x < 300 {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}
