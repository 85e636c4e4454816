package mechanisms

import (
	"cmp"
	"fmt"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/internal/check"
	"mldpbench/internal/memo"
	"mldpbench/internal/params"
	"mldpbench/internal/registry"
	"mldpbench/stream"
)

// Settings chooses a mechanism instance. It is a value: equal Settings over
// equal environments give equal distributions.
type Settings struct {
	Mechanism  string
	Variant    Variant // "" means the definition's first variant
	Epsilon    float64 // in units of 1/distance
	Parameters Parameters
	// Outside describes a mechanism of the variant External; nil for built-in
	// ones. Whatever it opens has a separate fingerprint.
	Outside *Outside `json:"-"`
}

// Parameters are the named values of a mechanism other than ε: numbers
// (float64), words (string) or lists of numbers ([]float64).
type Parameters map[string]any

// String is the canonical form "gamma=theorem3 t=0.5", sorted by name.
func (p Parameters) String() string { return params.Format(p) }

// Thesaurus provides synonyms for SynTF: WordNet, or the thesaurus of the
// generated corpus.
type Thesaurus interface {
	// Covers reports whether the thesaurus has the word.
	Covers(word string) bool
	// Lemmas returns the lemmas of all synsets of the word in the order of the
	// source, the word itself included, as the source prints them (underscored,
	// capitalised). It returns nil if the word is not covered.
	Lemmas(word string) []string
}

// Environment holds the data a mechanism is built from.
type Environment struct {
	Space     *embeddings.Space
	Thesaurus Thesaurus // where Definition.Needs requires it
	// Documents is the corpus to be privatised, as tokens, where
	// Definition.Needs requires it: SynTF's tf-idf, the order by frequency of
	// CusText and SanText+. Whatever is derived from it is assumed public: no
	// guarantee covers what groups or frequencies reveal about the corpus.
	Documents [][]string
	// Train are the train texts alone, in the order of their file, from which
	// AsRun makes its matrix; nil means Documents.
	Train [][]string
	// DataSet is the name of the data set, "" for none: some constants of AsRun
	// belong to one.
	DataSet string
	// Seed determines the random choices made at construction (PrivEmb's
	// projection, the start word of released Gumbel, the start words of
	// 1-Diffractor's lists).
	Seed stream.Seed
	// Pool returns the public texts of a name, each once; nil where there are none.
	Pool func(name string) ([]string, error)
	// Tokens are the words of a text; nil cuts it at white space.
	Tokens func(text string) []string
	// Encoder opens a sentence encoder that is a model; nil where none are used.
	Encoder func(name string) (sentence.Encoder, error)
	// Outside opens mechanisms that are not built in; nil where none are used.
	Outside func(Settings) (*Mechanism, error)

	made *memo.Memo // what one mechanism makes of the data, at every ε; see once
}

// once returns what build makes of the data of an environment, built once for all ε
// of one mechanism; see memo.Once.
func once[T any](env Environment, key any, build func() (T, error)) (T, error) {
	if env.made == nil {
		return build()
	}
	return memo.Once(env.made, key, build)
}

// Parameter describes one parameter of a mechanism: a number (float64), a word or a
// list of numbers. What depends on the vocabulary, New checks.
type Parameter = params.Parameter

// Needs lists what an Environment must hold besides the space.
type Needs struct {
	Thesaurus, Corpus bool
	Pool              bool // public texts, named by the parameter pool
}

// Definition registers a mechanism: one file, one registry line. Everything
// that other packages need to know about a mechanism is a field here, so none
// of them compares names.
type Definition struct {
	Name       string    // "cmp"
	Title      string    // "CMP"
	Source     string    // paper and equation
	Metric     string    // the distance in which the source states ε; equal to that of Guarantee where one holds
	Variants   []Variant // the first is the default
	Parameters []Parameter
	Needs      Needs
	// Order places the mechanism in tables, legends and the cycle of colours,
	// smaller first; see Ordered. It never changes for a mechanism that has
	// been published, so that its colour does not.
	Order int
	// Constant means that ε has no effect: the distribution is the same at
	// every ε.
	Constant bool
	// Unchanged means that the text comes back as it is.
	Unchanged bool
	// PerWord means that the cost of privatising is one table per distinct word
	// and that nothing is drawn at construction. Many copies of a text then
	// cost little more than one, when one call of PrivatizeText privatises them all.
	PerWord bool
	// Drawn means that there is no closed form: the law is known by draws alone.
	Drawn bool
	// Documents means that New makes a mechanism of whole documents: see ByDocuments. Its
	// ε is that of a document, and what takes single words leaves it out.
	Documents bool
	// Chooses means that outputs are drawn after the noise; see Mechanism.Choices.
	Chooses bool
	// New builds a word mechanism, NewVector one that releases vectors. One of
	// the two is set. Settings are checked before: ε > 0, a known variant, and
	// all parameters present and of the default's type.
	New       func(Environment, Settings) (*Mechanism, error)
	NewVector func(Environment, Settings) (VectorMechanism, error)
}

var definitions = registry.New[Definition]("mechanism")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Definitions returns all registered mechanisms by name.
func Definitions() []Definition { return definitions.All() }

// Ordered returns all registered mechanisms by Order, then by name.
func Ordered() []Definition {
	all := Definitions()
	slices.SortStableFunc(all, func(a, b Definition) int {
		return cmp.Compare(a.Order, b.Order)
	})
	return all
}

// Find returns the definition with the given name.
func Find(name string) (Definition, error) { return definitions.Find(name) }

// Complete checks settings against their definition and fills in defaults.
func Complete(s Settings) (Settings, error) {
	d, err := s.Definition()
	if err != nil {
		return s, err
	}
	if s.Variant == "" {
		s.Variant = d.Variants[0]
	}
	if !slices.Contains(d.Variants, s.Variant) {
		return s, fmt.Errorf("%s: variant = %q: must be one of %q", d.Name, s.Variant, d.Variants)
	}
	if err := check.Positive("epsilon", s.Epsilon); err != nil {
		return s, fmt.Errorf("%s: %w", d.Name, err)
	}
	if s.Outside != nil { // its parameters are not checked here
		return s, nil
	}
	s.Parameters, err = params.Resolve(d.Name, string(s.Variant), d.Parameters, s.Parameters)
	return s, err
}

// ParseParameters reads "name=value" pairs for a mechanism, values as
// Parameters.String writes them: 0.5, theorem3, [1,0] or 1,0.
func ParseParameters(mechanism string, pairs []string) (Parameters, error) {
	d, err := Find(mechanism)
	if err != nil {
		return nil, err
	}
	return params.ParsePairs(d.Name, d.Parameters, pairs)
}

// New builds a word mechanism.
func New(env Environment, s Settings) (*Mechanism, error) {
	if env.made == nil {
		env.made = new(memo.Memo)
	}
	m, err := build(env, s, "vectors, not words", func(d Definition) func(Environment, Settings) (*Mechanism, error) {
		return d.New
	})
	if err != nil {
		return nil, err
	}
	if m.at == nil && s.Outside == nil {
		m.at = func(epsilon float64) (*Mechanism, error) {
			other := m.settings
			other.Epsilon = epsilon
			return New(env, other)
		}
	}
	return m, nil
}

// NewVector builds a mechanism that releases vectors.
func NewVector(env Environment, s Settings) (VectorMechanism, error) {
	return build(env, s, "words, not vectors",
		func(d Definition) func(Environment, Settings) (VectorMechanism, error) {
			return d.NewVector
		})
}

// build makes a mechanism of complete settings by the constructor of its definition;
// otherwise says what one without it releases.
func build[M any](env Environment, s Settings, otherwise string,
	by func(Definition) func(Environment, Settings) (M, error)) (m M, err error) {
	if s, err = Complete(s); err != nil {
		return m, err
	}
	d, err := s.Definition()
	if err != nil {
		return m, err
	}
	if env.Space == nil {
		return m, fmt.Errorf("%s: no embedding", s.Mechanism)
	}
	if by(d) == nil {
		return m, fmt.Errorf("%s releases %s", s.Mechanism, otherwise)
	}
	if m, err = by(d)(env, s); err != nil {
		return m, fmt.Errorf("%s: %w", s.Mechanism, err)
	}
	return m, nil
}
