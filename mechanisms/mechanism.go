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
// Guarantees are proved in real arithmetic; docs/guarantees.md says what finite
// precision changes.
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
	// "euclidean", "mahalanobis", "list" (steps on a list of words), "discrete" (plain ε-DP per word), or "" for
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
	// Distance computes d; nil where Metric is "".
	Distance func(a, b WordID) float64 `json:"-"`
	// Covers reports whether two words are within Scope; nil where any two are.
	Covers func(a, b WordID) bool `json:"-"`
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
