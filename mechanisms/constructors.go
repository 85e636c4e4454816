package mechanisms

import (
	"mldpbench/embeddings"
	"mldpbench/stream"
)

// Typed constructors: one per registered mechanism, in its default variant.
// They are thin wrappers of New, which offers all variants and parameters.
// epsilon must be > 0 and finite; documents holds the tokens that will be
// privatised.

// NewCMP returns the multivariate Laplace mechanism (Feyisetan et al. 2020).
func NewCMP(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "cmp", Epsilon: epsilon})
}

// NewMahalanobis returns the regularised Mahalanobis mechanism (Xu et al.
// 2020); lambda in [0, 1] is the weight of the covariance, 0.2 in the source.
func NewMahalanobis(space *embeddings.Space, epsilon, lambda float64) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "mahalanobis", Epsilon: epsilon, Parameters: Parameters{"lambda": lambda}})
}

// NewVickrey returns the Vickrey mechanism (Xu et al. 2021b); t in [0, 1] sets
// how strongly it prefers the second nearest word; 0 is CMP.
func NewVickrey(space *embeddings.Space, epsilon, t float64) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "vickrey", Epsilon: epsilon, Parameters: Parameters{"t": t}})
}

// NewVickreyK returns the generalised Vickrey mechanism (Xu et al. 2021b): the
// r-th of len(t) nearest words with probability ∝ exp(−t[r]·distance).
func NewVickreyK(space *embeddings.Space, epsilon float64, t []float64) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "vickrey-k", Epsilon: epsilon, Parameters: Parameters{"t": t}})
}

// NewKth returns the mechanism that picks the k-th nearest word of the noisy
// vector; k = 1 is CMP.
func NewKth(space *embeddings.Space, epsilon float64, k int) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "kth", Epsilon: epsilon, Parameters: Parameters{"k": float64(k)}})
}

// NewRankFix returns CMP with the rank fix of Asghar et al. 2026; the source's
// decay for GloVe at 300 dimensions is 0.04.
func NewRankFix(space *embeddings.Space, epsilon, decay float64) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "rank-fix", Epsilon: epsilon, Parameters: Parameters{"c": decay}})
}

// NewSanText returns SanText (Yue et al. 2021).
func NewSanText(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "santext", Epsilon: epsilon})
}

// NewSanTextPlus returns SanText+ (Yue et al. 2021): the rarest fraction w of
// the vocabulary of documents is sensitive; other words are replaced with
// probability p. Its guarantee holds between some words only; see
// Guarantee.Scope.
func NewSanTextPlus(space *embeddings.Space, documents [][]string, epsilon, w, p float64) (Mechanism, error) {
	return New(Environment{Space: space, Documents: documents},
		Settings{Mechanism: "santext-plus", Epsilon: epsilon, Parameters: Parameters{"w": w, "p": p}})
}

// NewTEM returns the truncated exponential mechanism (Carvalho et al. 2023)
// with the truncation of its Theorem 3.
func NewTEM(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "tem", Epsilon: epsilon})
}

// NewGumbel returns the truncated Gumbel mechanism (Xu et al. 2021a). It is
// undefined at most values of epsilon; the error is then an *UndefinedError.
func NewGumbel(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "gumbel", Epsilon: epsilon})
}

// NewSynTF returns SynTF (Weggenmann & Kerschbaum 2018) over the words that the
// thesaurus covers.
func NewSynTF(space *embeddings.Space, thesaurus Thesaurus, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space, Thesaurus: thesaurus}, Settings{Mechanism: "syntf", Epsilon: epsilon})
}

// NewPrivEmb returns PrivEmb (Feyisetan & Kasiviswanathan 2021), which releases
// vectors; beta in (0, 1) sets their dimension. The projection is drawn from
// seed.
func NewPrivEmb(space *embeddings.Space, epsilon, beta float64, seed stream.Seed) (VectorMechanism, error) {
	return NewVector(Environment{Space: space, Seed: seed},
		Settings{Mechanism: "privemb", Epsilon: epsilon, Parameters: Parameters{"beta": beta}})
}

// NewCusText returns CusText (Chen et al. 2023) with groups of k words, formed
// in order of frequency in documents. Its guarantee holds between some words
// only; see Guarantee.Scope. With KeepWords it is CusText+.
func NewCusText(space *embeddings.Space, documents [][]string, epsilon float64, k int) (Mechanism, error) {
	return New(Environment{Space: space, Documents: documents},
		Settings{Mechanism: "custext", Epsilon: epsilon, Parameters: Parameters{"k": float64(k)}})
}

// NewDiffractor returns 1-Diffractor (Meisenbacher et al. 2024b), geometric, on
// the given number of lists. The start words of all lists but the first are
// drawn from seed.
func NewDiffractor(space *embeddings.Space, epsilon float64, lists int, seed stream.Seed) (Mechanism, error) {
	return New(Environment{Space: space, Seed: seed},
		Settings{Mechanism: "diffractor", Epsilon: epsilon, Parameters: Parameters{"lists": float64(lists)}})
}

// NewKRR returns randomised response over the vocabulary.
func NewKRR(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "k-rr", Epsilon: epsilon})
}

// NewRANTEXT returns RANTEXT (Tong et al. 2025), which guarantees nothing.
func NewRANTEXT(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "rantext", Epsilon: epsilon})
}

// NewWBB returns words blending boxes (De Faveri et al. 2024): k words are
// excluded, the next n are candidates. It guarantees nothing, at any ε.
func NewWBB(space *embeddings.Space, k, n int) (Mechanism, error) {
	return New(Environment{Space: space},
		Settings{Mechanism: "wbb", Epsilon: 1, Parameters: Parameters{"k": float64(k), "n": float64(n)}})
}

// NewTrLaplace returns TrLaplace (Huang et al. 2024), which guarantees nothing
// and is undefined from ε = √d/2 on.
func NewTrLaplace(space *embeddings.Space, epsilon float64) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "trlaplace", Epsilon: epsilon})
}

// NewIdentity returns the baseline that publishes every word.
func NewIdentity(space *embeddings.Space) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "identity", Epsilon: 1})
}

// NewUniform returns the baseline that replaces every word by any word.
func NewUniform(space *embeddings.Space) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "uniform", Epsilon: 1})
}

// NewDelete returns the baseline that publishes no words.
func NewDelete(space *embeddings.Space) (Mechanism, error) {
	return New(Environment{Space: space}, Settings{Mechanism: "delete", Epsilon: 1})
}
