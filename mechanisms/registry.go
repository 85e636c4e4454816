package mechanisms

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
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
	// Outside opens mechanisms that are not built in; nil where none are used.
	Outside func(Settings) (*Mechanism, error)
}

// Parameter describes one parameter of a mechanism for help texts and checks.
type Parameter struct {
	Name    string
	Default any    // float64, string or []float64
	Number  bool   // a word that may also be a number, e.g. gamma
	Legal   string // the legal range in words, e.g. "in [0, 1]"
	Doc     string
	// Valid and Words say Legal to the program: which numbers, also those of a
	// list, and which words are allowed; nil allows all. What depends on the
	// vocabulary, New checks.
	Valid func(float64) bool
	Words []string
	// Variants lists the variants that have the parameter; nil means all.
	Variants []Variant
	// Fixed means that the parameter has one value, the default: it cannot be
	// set, and stays in complete settings because it is part of their name, from
	// which seeds are derived.
	Fixed bool
}

func (p Parameter) appliesTo(v Variant) bool {
	return p.Variants == nil || slices.Contains(p.Variants, v)
}

// Needs lists what an Environment must hold besides the space.
type Needs struct{ Thesaurus, Corpus bool }

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
	// End is the end of every scale that the mechanism is; 0 for none.
	End End
	// Epsilons lists additional ε at which an overview of all mechanisms should
	// include this one, because the usual values are not those it was designed
	// for.
	Epsilons []float64
	// PerWord means that the cost of privatising is one table per distinct word
	// and that nothing is drawn at construction. Many copies of a text then
	// cost little more than one, when one call of Text privatises them all.
	PerWord bool
	// New builds a word mechanism, NewVector one that releases vectors. One of
	// the two is set. Settings are checked before: ε > 0, a known variant, and
	// all parameters present and of the default's type.
	New       func(Environment, Settings) (*Mechanism, error)
	NewVector func(Environment, Settings) (VectorMechanism, error)
}

// End is an end of the scales between use and privacy.
type End int

// Ends.
const (
	UnchangedText End = 1 + iota
	RandomWords
)

// AtEnd returns the mechanism at an end.
func AtEnd(e End) Definition {
	all := Definitions()
	return all[slices.IndexFunc(all, func(d Definition) bool { return d.End == e })]
}

var definitions = registry.New[Definition]("mechanism")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Definitions returns all registered mechanisms by name.
func Definitions() []Definition { return definitions.All() }

// Ordered returns all registered mechanisms by Order, then by name.
func Ordered() []Definition {
	all := Definitions()
	slices.SortStableFunc(all, func(a, b Definition) int { return cmp.Compare(a.Order, b.Order) })
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
	full := Parameters{}
	for _, p := range d.Parameters {
		if p.appliesTo(s.Variant) {
			full[p.Name] = p.Default
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		p, err := d.parameter(name)
		if err != nil {
			return s, err
		}
		if !p.appliesTo(s.Variant) {
			return s, fmt.Errorf("%s: variant %s has no parameter %q", d.Name, s.Variant, name)
		}
		if full[name], err = p.value(s.Parameters[name]); err != nil {
			return s, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	s.Parameters = full
	return s, nil
}

// New builds a word mechanism.
func New(env Environment, s Settings) (*Mechanism, error) {
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
		func(d Definition) func(Environment, Settings) (VectorMechanism, error) { return d.NewVector })
}

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
