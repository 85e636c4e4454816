// Package mechanisms replaces words by noisy neighbours under word-level
// metric differential privacy.
//
// A mechanism is defined by its output distribution and its guarantee.
// Guarantee returns what an instance guarantees or, where it guarantees
// nothing, the reason. Wherever a distribution has a closed form, that closed
// form is what is sampled, measured and audited. The package handles words
// only: file formats, classifiers and corpora are elsewhere.
//
// New builds every mechanism from its Settings. Every property that other
// packages need is a small interface or a field of the mechanism's Definition.
//
// # Finite precision
//
// Guarantees are proved in real arithmetic. This is the effect of computing in
// finite precision:
//
//   - SanText, TEM and SynTF over more than 4,096 words: no δ. Every word keeps a
//     probability within a factor of e^{±η} of the definition's, however small:
//     values too small for a float64 are compared in logarithms. A guarantee of
//     ε·d becomes one of ε·d + 2η; η is in Guarantee.Numerical, 3·10⁻¹⁰ to
//     5·10⁻⁹ for 27,000 to 400,000 words. At ε = 1000, where all but a few
//     probabilities are below the smallest float64, the strict ε·d holds with
//     it.
//   - The selection family over fewer words, and mechanisms that list their
//     outputs: as above, but no possible output has a probability below 2⁻⁵⁰,
//     which adds at most δ = n·2⁻⁵⁰ for n outputs: 4·10⁻¹² for 4,096 of them.
//   - k-RR compares 53 bits with one probability: δ = 2⁻⁵¹·(1 + e^ε).
//   - CMP, and Vickrey with t of at most 1/2: noise is added to the vector in
//     float64, from 32-bit normal numbers, and the sum rounded to float32 once,
//     before the nearest word is sought. Proved (noisePrecision): the
//     probability of every word, and of every set of words, is within a factor
//     e^{±η} of the definition's, apart from a δ of 2·10⁻¹⁷ at 100 dimensions.
//     η depends on the distance to the word's nearest neighbour: on 27,000
//     words of GloVe, at ε from 1 to 20, it is 0.002 for the median word and
//     0.01 for the word with the nearest neighbour. ε·d then becomes ε·d + 2η
//     with δ·(1 + e^{ε·d+2η}): below 10⁻⁶ up to ε·d = 24, and nothing is proved
//     from ε·d = 38 on. The bound is far from tight. Measured on the same
//     words, not proved: fewer than 1 in 10⁷ chosen words differ from the
//     choice with ideal normal numbers.
//   - Not bounded: k-th neighbours and the other generalised Vickrey
//     mechanisms, Vickrey with t above 1/2, Mahalanobis (its noise is
//     multiplied by a float32 matrix), the truncated Gumbel mechanism (whose
//     guarantee is the source's, not proved here), spaces of fewer than 16
//     dimensions, and ε so small that the noise is longer than 10⁶ word
//     vectors.
//   - PrivEmb, which releases numbers, rounds them to a grid of 1/1024 to
//     1/2048 of the noise's scale: the last bits of a sum, which show the
//     vector under the noise (Mironov 2012), are not released.
//   - All of this given random bits that are truly random. They come from
//     ChaCha8, whose seed has 256 bits and must be secret; a word drawn by
//     rejection takes 128 of them and goes on with PCG.
package mechanisms

import (
	"fmt"
	"math/rand/v2"

	"mldpbench/embeddings"
)

// WordID and Unknown are those of package embeddings; see Mechanism.Vocabulary.
type WordID = embeddings.WordID

// Variant is the name of the definition that an instance of a mechanism
// follows.
type Variant string

const (
	Proved Variant = "proved" // the definition for which the source proves the guarantee
	// Printed is the pseudocode of Meisenbacher et al. 2024, Appendix A, where
	// it differs from the proved one, or the source's own definition where no
	// proof of its claim holds.
	Printed  Variant = "printed"
	Released Variant = "released" // what the study's, or the source's, released package computes, where it differs
)

// Mechanism replaces words. Instances are immutable and safe for concurrent
// use; all randomness comes from the caller's generator.
type Mechanism interface {
	// Settings returns the settings the instance was built from, with defaults
	// filled in.
	Settings() Settings

	// Guarantee returns what the instance guarantees per word.
	Guarantee() Guarantee

	// Vocabulary covers all inputs and outputs. Its first Space.Len() words
	// are the space's; SynTF appends words that only a thesaurus knows, and
	// the baseline that deletes words appends the empty word.
	Vocabulary() *embeddings.Vocabulary

	// Privatize writes one noisy word for each word of src to dst (same length;
	// dst may be src). epsilons, if not nil, gives each word its own epsilon,
	// checked before by CheckEpsilon; the guarantee then holds word by word
	// with that epsilon; nil means Settings().Epsilon. Words must not be
	// Unknown: a Policy handles unknown words. All draws of a document come
	// from rng in an order that depends on src alone, so PrivatizeBatch of many
	// documents equals Privatize of each.
	Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand)
}

// built is what every mechanism answers about itself.
type built struct {
	settings   Settings
	guarantee  Guarantee
	vocabulary *embeddings.Vocabulary
}

func (m *built) Settings() Settings                 { return m.settings }
func (m *built) Guarantee() Guarantee               { return m.guarantee }
func (m *built) Vocabulary() *embeddings.Vocabulary { return m.vocabulary }

// Batcher is implemented by mechanisms that are faster on many documents at
// once (the noise family: one search for the words of all). The result equals
// that of Privatize on each document with its own generator.
type Batcher interface {
	PrivatizeBatch(dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand)
}

// VectorMechanism releases noisy vectors instead of words (PrivEmb). The
// released vectors are used by linear models only.
type VectorMechanism interface {
	Settings() Settings
	Guarantee() Guarantee
	Vocabulary() *embeddings.Vocabulary
	// OutputDimension is the length m of a released vector.
	OutputDimension() int
	// Release writes one noisy vector per word to dst (len(src) × m, row-major).
	Release(dst []float32, src []WordID, rng *rand.Rand)
}

// Distribution is the output distribution of a mechanism for one input word,
// over Vocabulary().
type Distribution struct {
	Probabilities []float64
	// AbsoluteError bounds the error of every probability: 0 for a closed form
	// evaluated in float64; a proven bound for numerical integration; for Monte
	// Carlo, the half-width of a simultaneous 95% bound.
	AbsoluteError float64
	// Samples is the number of Monte Carlo samples, 0 for a computed distribution.
	Samples int
}

// Distributor is implemented by mechanisms whose distribution can be computed
// without sampling.
type Distributor interface {
	Distribution(word WordID) (Distribution, error)
}

// LogBounder is implemented by mechanisms whose probabilities have proven
// bounds, however small the probabilities are; an exact audit needs this. low
// and high are natural logarithms over Vocabulary(): low is −Inf where an
// output may be impossible, high where it is. For a closed form they are equal
// up to rounding.
type LogBounder interface {
	LogBounds(word WordID) (low, high []float64, err error)
}

// Guarantee is the guarantee of one instance, per word. The zero value
// guarantees nothing and must carry a Reason.
type Guarantee struct {
	// Metric names the distance d in Pr[M(w)=y] ≤ e^{ε·d(w,w')}·Pr[M(w')=y] + δ:
	// "euclidean", "normalized euclidean", "angular", "mahalanobis", "list"
	// (steps on a list of words), "discrete" (plain ε-DP per word), or "" for
	// no guarantee.
	Metric  string
	Epsilon float64
	Delta   float64
	// EuclideanEpsilon is the smallest ε' for which the guarantee implies
	// ε'·euclidean between any two words, 0 where it implies none.
	EuclideanEpsilon float64
	// Scope states between which words the guarantee holds and between which it
	// does not; "" means it holds between any two words. Whoever shows a
	// guarantee must show its scope.
	Scope string
	// Reason is one sentence: why nothing is guaranteed, or what the guarantee
	// is based on.
	Reason string
	// Numerical is the effect of finite precision, the zero value where it is
	// not known.
	Numerical Numerical
	// Distance computes d; nil where Metric is "".
	Distance func(a, b WordID) float64 `json:"-"`
	// Covers reports whether two words are within Scope; nil where any two are.
	Covers func(a, b WordID) bool `json:"-"`
}

// Numerical bounds how far the computed distribution is from the definition,
// given truly random bits. For every set S of outputs, with P the distribution
// of the definition and P' the computed one,
//
//	P'(S) ≤ e^η·P(S) + Delta  and  P(S) ≤ e^η·(P'(S) + Lost),
//
// where η is Eta and, where vectors are moved, about Rate·2·Moved/g more, for words
// whose vectors have no other vector nearer than g; where that exceeds 1/4,
// nothing is proved. As computed, a guarantee of ε·d and δ then becomes one of
// ε·d + 2η and e^η·δ + Delta + e^{ε·d+2η}·Lost: where Lost is not 0, nothing is
// proved for words so far apart that the last term reaches 1.
type Numerical struct {
	Eta, Delta, Lost float64
	// Moved bounds the displacement of a noisy vector, in units of the space,
	// and Rate its effect; both are 0 where no vector is displaced.
	Moved, Rate float64
}

// String returns the bound in one line, "" where nothing is known.
func (n Numerical) String() string {
	switch {
	case n.Moved > 0:
		return fmt.Sprintf("as computed: probability of a word within a factor of 1 ± (%.1g + %.1g/g), g its distance "+
			"to the nearest other word, delta %.1g·(1 + e^(epsilon·d))", n.Eta, 2*n.Rate*n.Moved, n.Delta)
	case n.Lost > 0:
		return fmt.Sprintf("as computed: delta %.1g·(1 + e^(epsilon·d))", n.Delta)
	case n.Delta > 0:
		return fmt.Sprintf("as computed: probabilities within a factor of 1 ± %.1g, delta %.1g", n.Eta, n.Delta)
	case n.Eta > 0:
		return fmt.Sprintf("as computed: probabilities within a factor of 1 ± %.1g, no delta", n.Eta)
	}
	return ""
}

// Holds reports whether anything is guaranteed, even if between some words
// only.
func (g Guarantee) Holds() bool { return g.Metric != "" }

// Promises reports whether something is guaranteed for two given words.
func (g Guarantee) Promises(a, b WordID) bool {
	return g.Holds() && (g.Covers == nil || g.Covers(a, b))
}

// String returns the guarantee in one line, for tables and standard error.
func (g Guarantee) String() string {
	if !g.Holds() {
		return "none: " + g.Reason
	}
	s := fmt.Sprintf("epsilon %.6g, metric %s", g.Epsilon, g.Metric)
	if g.Delta > 0 {
		s += fmt.Sprintf(", delta %.6g", g.Delta)
	}
	if g.EuclideanEpsilon > 0 && g.Metric != "euclidean" {
		s += fmt.Sprintf(" (implies epsilon %.6g, metric euclidean)", g.EuclideanEpsilon)
	}
	if g.Scope != "" {
		s += ", only " + g.Scope
	}
	return s
}

// discrete is the distance of plain differential privacy: 1 between any two
// different words.
func discrete(a, b WordID) float64 {
	if a == b {
		return 0
	}
	return 1
}
