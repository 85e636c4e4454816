// Package mechanisms replaces words by noisy neighbours under word-level
// metric differential privacy.
//
// A mechanism is defined by its output distribution and its guarantee.
// Guarantee returns what an instance guarantees or, where it guarantees
// nothing, the reason. Wherever a distribution has a closed form, that closed
// form is what is sampled, measured and audited. The package handles words
// only: file formats, classifiers and corpora are elsewhere.
//
// New builds a registered mechanism at one ε, in units of 1/distance, from its
// Settings, and PrivatizeText privatises text with it. A mechanism of one's own is
// Registered; its Definition.New makes it ByFormula, ByScores or ByNoise, or, of
// whole documents, ByDocuments. Settings are refused with an error of the form
// "epsilon = -1: must be > 0 and finite"; an *UndefinedError says that a mechanism does
// not exist at an ε. Every property that other packages need is a method of Mechanism or
// a field of its Definition.
//
// Guarantees are proved in real arithmetic; docs/guarantees.md says what finite
// precision changes.
package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
)

// WordID and Unknown are those of package embeddings; see Mechanism.Vocabulary.
type WordID = embeddings.WordID

// Variant is the name of the definition that an instance of a mechanism
// follows.
type Variant string

// Variants. As-run and external ones are AsRun and External.
const (
	Proved Variant = "proved" // the definition for which the source proves the guarantee
	// Printed is the pseudocode of Meisenbacher et al. 2024, Appendix A, where
	// it differs from the proved one, or the source's own definition where no
	// proof of its claim holds.
	Printed  Variant = "printed"
	Released Variant = "released" // what the study's, or the source's, released package computes, where it differs
)

// Mechanism replaces words. It is immutable and safe for concurrent use; all
// randomness comes from the caller's generator.
//
// It is a channel at one ε: see At for another. ByFormula, ByScores and ByNoise
// make one.
type Mechanism struct {
	settings   Settings
	guarantee  Guarantee
	vocabulary *embeddings.Vocabulary
	sampler    sampler

	row     func(dst []float64, word WordID)             // ln Pr[y | word] of all outputs; nil where it is not known
	rows    func(words []WordID) [][]float64             // several rows in probabilities, where that costs less; nil
	noise   *VectorNoise                                 // nil where no vector is moved
	choices func(words []WordID, rng *rand.Rand) Choices // nil where no choice follows the noise
	text    Rewriter                                     // of a mechanism that rewrites text as a whole
	kept    []string                                     // words that pass unchanged, also outside the vocabulary
	keeps   map[string]struct{}                          // the same
	valid   func(epsilon float64) error                  // nil: every ε > 0 is
	at      func(epsilon float64) (*Mechanism, error)    // nil: ε cannot be changed
}

// document is a list of words that is overwritten by noisy ones. All draws come
// from rng, in an order that depends on the words alone.
type document struct {
	words []WordID
	rng   *rand.Rand
}

// sampler draws outputs.
type sampler interface {
	// draw overwrites documents.
	draw(ctx context.Context, documents []document, workers int) error
	// whole reports whether draw wants all documents of a corpus at once, which it
	// then divides among workers; else it gets a few of them and one worker.
	whole() bool
}

// Settings returns the settings the instance was built from, with defaults
// filled in.
func (m *Mechanism) Settings() Settings { return m.settings }

// Guarantee returns what the instance guarantees per word.
func (m *Mechanism) Guarantee() Guarantee { return m.guarantee }

// Vocabulary covers all inputs and outputs. Its first Space.Len() words are the
// space's; SynTF appends words that only a thesaurus knows, and the baseline that
// deletes words appends the empty word.
func (m *Mechanism) Vocabulary() *embeddings.Vocabulary { return m.vocabulary }

// Kept returns the words that pass unchanged, known or not, as they were given to
// KeepWords; the caller must not change them.
func (m *Mechanism) Kept() []string { return m.kept }

// At returns the mechanism at another ε.
func (m *Mechanism) At(epsilon float64) (*Mechanism, error) {
	if epsilon == m.settings.Epsilon {
		return m, nil
	}
	if err := check.Positive("epsilon", epsilon); err != nil {
		return nil, err
	}
	if m.at == nil {
		return nil, fmt.Errorf("%s has one epsilon, %v", m.settings.Mechanism, m.settings.Epsilon)
	}
	return m.at(epsilon)
}

// CheckEpsilon returns an error for an ε at which the mechanism is not defined.
func (m *Mechanism) CheckEpsilon(epsilon float64) error {
	err := check.Positive("epsilon", epsilon)
	if err != nil || m.valid == nil {
		return err
	}
	return m.valid(epsilon)
}

// Promising returns the mechanism with another guarantee: what is claimed for it
// when it is audited.
func (m *Mechanism) Promising(g Guarantee) *Mechanism {
	other := *m
	other.guarantee = g
	return &other
}

// Privatize writes one noisy word for each word of src to dst (same length; dst
// may be src). Words must not be Unknown: a Policy handles unknown words. Only a
// command can fail, and a cancelled ctx.
func (m *Mechanism) Privatize(ctx context.Context, dst, src []WordID, rng *rand.Rand) error {
	copy(dst, src)
	return m.sampler.draw(ctx, []document{{dst[:len(src)], rng}}, 1)
}

// Choices are outputs as far as they are known once the noise is drawn: take gets
// each output of draw i and its probability given the noise. Their mean comes nearer
// to the law than one outcome a draw does (Rao–Blackwell).
type Choices func(i int, take func(output WordID, p float64))

// Choices returns what draws the noise of words, which it keeps; nil where no choice
// follows that is known.
func (m *Mechanism) Choices() func(words []WordID, rng *rand.Rand) Choices { return m.choices }

// Closed reports whether the probabilities of outputs are known.
func (m *Mechanism) Closed() bool { return m.row != nil }

// Noise returns the noise that the mechanism adds to the vector of a word, nil
// where it adds none or looks at the word again.
func (m *Mechanism) Noise() *VectorNoise { return m.noise }

// LogRow returns ln Pr[y | word] of all outputs, up to rounding, however small
// they are. The mechanism must be Closed.
func (m *Mechanism) LogRow(word WordID) ([]float64, error) {
	if err := m.checkRow(word); err != nil {
		return nil, err
	}
	logs := make([]float64, m.vocabulary.Len())
	m.row(logs, word)
	return logs, nil
}

// Row returns the probabilities of all outputs, in float64. The mechanism must
// be Closed.
func (m *Mechanism) Row(word WordID) ([]float64, error) {
	rows, err := m.Rows(word, 1)
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Rows are the rows of n words from one on. A few asked for together cost less
// than each on its own where rows start from distances.
func (m *Mechanism) Rows(first WordID, n int) ([][]float64, error) {
	words := make([]WordID, n)
	for i := range words {
		words[i] = first + WordID(i)
		if err := m.checkRow(words[i]); err != nil {
			return nil, err
		}
	}
	if m.rows != nil {
		return m.rows(words), nil
	}
	rows := make([][]float64, n)
	for i, w := range words {
		rows[i] = make([]float64, m.vocabulary.Len())
		m.row(rows[i], w)
		for y, x := range rows[i] {
			rows[i][y] = math.Exp(x)
		}
	}
	return rows, nil
}

func (m *Mechanism) checkRow(word WordID) error {
	if m.row == nil {
		return fmt.Errorf("%s %s: its probabilities are not known", m.settings.Mechanism, m.settings.Variant)
	}
	return checkWord(m.vocabulary, word)
}

// checkWord returns an error for an id outside the vocabulary.
func checkWord(v *embeddings.Vocabulary, word WordID) error {
	if word < 0 || int(word) >= v.Len() {
		return fmt.Errorf("word = %d: must be in [0, %d)", word, v.Len())
	}
	return nil
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

// Guarantee is the guarantee of one instance, per word. The zero value
// guarantees nothing and must carry a Reason.
type Guarantee struct {
	// Metric names the distance d in Pr[M(w)=y] ≤ e^{ε·d(w,w')}·Pr[M(w')=y] + δ:
	// "euclidean", "mahalanobis", "hyperbolic" (of the Poincaré ball), "list" (steps on a list of words), "hamming"
	// (bits of a code), "discrete" (plain ε-DP per word), AnyDocuments, or "" for no guarantee.
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
	if g.Metric == AnyDocuments {
		s = fmt.Sprintf("epsilon %.6g between any two documents, whatever their lengths; no metric", g.Epsilon)
	}
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

// Discrete is the distance of plain differential privacy: 1 between any two
// different words.
func Discrete(a, b WordID) float64 {
	if a == b {
		return 0
	}
	return 1
}
