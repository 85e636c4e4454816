package measure

import (
	"strconv"
	"strings"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// Spec says what is released: a value. Equal specs over equal data give equal
// releases. Its JSON is part of the keys of what is measured.
type Spec struct {
	Seed     uint64 `json:"seed"` // of the study
	Protocol string `json:"protocol"`
	// Section and Panel are those of a figure of a paper; its seeds depend on
	// them.
	Section string `json:"section,omitempty"`
	Panel   string `json:"panel,omitempty"`
	Series  string `json:"series,omitempty"` // name of a curve; "" outside papers

	Dataset   study.DatasetSpec   `json:"dataset"` // no name: the whole embedding is used
	Documents string              `json:"documents,omitempty"`
	Embedding study.EmbeddingSpec `json:"-"`
	Vectors   string              `json:"embedding"` // its name
	Dimension int                 `json:"dimension"`

	Mechanism mechanisms.Settings `json:"mechanism"` // results.BaselineMechanism: plain text; "": only a space
	Policy    mechanisms.Policy   `json:"policy,omitempty"`
	OwnPolicy bool                `json:"own_policy,omitempty"` // not the study's, so listed among the parameters
	KeepWords string              `json:"keep_words,omitempty"` // list of words published unchanged
	Label     string              `json:"-"`                    // the study's name for the mechanism
	// Repetition counts from 1. Repetitions are those that a measurement of kind
	// OfAllRepeats makes itself; 0 for others.
	Repetition  int `json:"repetition"`
	Repetitions int `json:"repetitions,omitempty"`
}

// IsBaseline reports whether nothing is privatised.
func (s *Spec) IsBaseline() bool { return s.Mechanism.Mechanism == results.BaselineMechanism }

// Definition returns that of the mechanism, the zero value for plain text.
func (s *Spec) Definition() mechanisms.Definition {
	if s.IsBaseline() || s.Mechanism.Mechanism == "" {
		return mechanisms.Definition{}
	}
	d, _ := s.Mechanism.Definition() // checked with the study
	return d
}

// Sample returns the data set that the release reads.
func (s *Spec) Sample() lab.Sample {
	x := lab.Sample{Dataset: s.Dataset, Seed: s.Root().Derive("dataset")}
	if s.Documents == study.Redrawn {
		x.Seed = s.Root().Derive("dataset", "repetition", strconv.Itoa(s.Repetition))
	}
	return x
}

// Kept returns the words that the mechanism publishes unchanged.
func (s *Spec) Kept() []string { return study.MechanismSpec{KeepWords: s.KeepWords}.Kept() }

// Parameters returns those of the mechanism, and what else distinguishes two
// entries of it in tables: a separate policy and the words that it keeps.
func (s *Spec) Parameters() string {
	parts := []string{s.Mechanism.Parameters.String()}
	if s.KeepWords != "" {
		parts = append(parts, "keep_words="+s.KeepWords)
	}
	if s.OwnPolicy {
		parts = append(parts, "policy="+string(s.Policy))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// Place is the place of the release, as far as it is known before its data are
// open.
func (s *Spec) Place() results.Place {
	p := results.Place{}
	p.Dataset, p.Embedding, p.Dimension = s.Dataset.Name, s.Embedding.Name, s.Dimension
	p.Mechanism, p.Variant, p.Parameters = s.Mechanism.Mechanism, string(s.Mechanism.Variant), s.Parameters()
	p.Label = s.Label
	p.Repetition, p.Seed, p.Cleaning = s.Repetition, s.Seed, s.Dataset.Cleaning
	p.Panel, p.Series = s.Panel, s.Series
	if s.IsBaseline() || s.Mechanism.Mechanism == "" {
		return p
	}
	if s.Protocol != study.Attacks || !s.Definition().Constant {
		if s.Mechanism.Epsilon != 0 { // else it is found by the measurement
			p.Epsilon = results.Float(s.Mechanism.Epsilon)
		}
	}
	p.Policy = string(s.Policy)
	if p.Panel != "" {
		p.XName, p.X = "epsilon", p.Epsilon
	}
	return p
}

// labels are the names of a release's streams: everything that the privatised
// text depends on except the data and the repetition. Model, setting and
// metrics are not part of them, so a change of them does not change the text.
func (s *Spec) labels() []string {
	if s.Protocol != study.Grid {
		return study.Labels(s.Mechanism)
	}
	return append([]string{s.Dataset.Name, s.Embedding.Name, strconv.Itoa(s.Dimension)}, study.Labels(s.Mechanism)...)
}

// Root is the seed of the study, of its attacks, or of a figure of a paper.
func (s *Spec) Root() stream.Seed {
	root := stream.FromUint64(s.Seed)
	switch s.Protocol {
	case study.Grid:
		return root
	case study.Attacks:
		return root.Derive(study.Attacks)
	}
	root = root.Derive("papers", s.Protocol)
	switch s.Section {
	case "":
		return root.Derive(s.Panel)
	case "words", "sentences": // of the paper on vectors
		return root.Derive("linear", s.Panel)
	}
	return root.Derive(s.Section, s.Panel)
}

func (s *Spec) derive(purpose string, labels ...string) stream.Seed {
	return s.Root().Derive(append(append([]string{purpose}, labels...), s.labels()...)...)
}

// TextSeed is the root of the noise in the text of all repetitions: document i
// of a data set of n documents (all splits) uses the stream (repetition−1)·n +
// i. Repetitions can thus be privatised in one pass.
func (s *Spec) TextSeed() stream.Seed {
	if s.Protocol != study.Grid {
		return s.Root().Derive(append([]string{"private"}, s.labels()...)...).Derive("text")
	}
	return s.derive("text")
}

// RepetitionSeed is the root of all other randomness in applying the mechanism.
func (s *Spec) RepetitionSeed() stream.Seed {
	return s.derive("repetition", strconv.Itoa(s.Repetition))
}

// MechanismSeed builds the mechanism.
func (s *Spec) MechanismSeed() stream.Seed {
	switch s.Protocol {
	case study.Grid:
		return s.RepetitionSeed().Derive("mechanism")
	case study.Attacks:
		return s.ReleaseSeed().Derive("mechanism")
	}
	return s.Root()
}

// ModelSeed is the root of all randomness in training. Local and train-only
// train on the same text: they are one model, tested on two texts.
func (s *Spec) ModelSeed(m Model, setting string) stream.Seed {
	if s.Protocol != study.Grid { // the same weights for every mechanism and ε
		return s.Root().Derive("model").At(uint64(s.Repetition - 1)).Derive("target")
	}
	if setting == study.TrainOnly || setting == "" {
		setting = study.Local
	}
	return s.derive("model", m.Name, m.Text(), setting, strconv.Itoa(s.Repetition))
}

// ProbeSeed chooses the words on which mechanisms are probed. It is the same
// for all mechanisms and epsilons, so they are compared on equal words.
func (s *Spec) ProbeSeed() stream.Seed {
	return s.Root().Derive("probe", s.Dataset.Name, s.Embedding.Name, strconv.Itoa(s.Dimension),
		strconv.Itoa(s.Repetition))
}

// DataSeed is the seed of everything in an attack that does not depend on the
// mechanism.
func (s *Spec) DataSeed() stream.Seed {
	return s.Root().Derive("data", s.Dataset.Name, s.Embedding.Name, strconv.Itoa(s.Dimension),
		strconv.Itoa(s.Repetition))
}

// ReleaseSeed is the seed of a release that is attacked, and of attacks on it.
func (s *Spec) ReleaseSeed() stream.Seed {
	return s.DataSeed().Derive("release").Derive(study.Labels(s.Mechanism)...)
}
