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
	Seed    uint64 `json:"seed"`     // of the study
	Streams string `json:"protocol"` // names of its streams; the name in JSON is that of earlier keys

	Dataset   study.DatasetSpec   `json:"dataset"` // no name: the whole embedding is used
	Documents string              `json:"documents,omitempty"`
	Embedding study.EmbeddingSpec `json:"-"`
	Vectors   string              `json:"embedding"` // its name
	Dimension int                 `json:"dimension"`

	Mechanism  mechanisms.Settings `json:"mechanism"` // results.BaselineMechanism: plain text; "": only a space
	Policy     mechanisms.Policy   `json:"policy,omitempty"`
	KeepWords  string              `json:"keep_words,omitempty"` // list of words published unchanged
	Budget     string              `json:"budget,omitempty"`     // document: ε is that of all words of one
	Label      string              `json:"-"`                    // the study's name for the mechanism
	Repetition int                 `json:"repetition"`           // counts from 1; 0 for a space
}

// IsBaseline reports whether nothing is privatised.
func (s *Spec) IsBaseline() bool { return s.Mechanism.Mechanism == results.BaselineMechanism }

// AsText reports whether text is rewritten as a whole, so that nobody knows what a
// single word becomes.
func (s *Spec) AsText() bool {
	return s.Mechanism.Outside != nil || s.Budget != "" || s.Definition().Documents
}

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
func (r *Release) Kept() []string {
	if r.Corpus == nil {
		return study.KeptWords(r.KeepWords, nil)
	}
	return study.KeptWords(r.KeepWords, r.Corpus.Counts)
}

// Parameters returns those of the mechanism, and what else distinguishes two
// entries of it in tables: the words that it keeps.
func (s *Spec) Parameters() string {
	parts := []string{s.Mechanism.Parameters.String()}
	if s.KeepWords != "" {
		parts = append(parts, "keep_words="+s.KeepWords)
	}
	if s.Budget != "" {
		parts = append(parts, "budget="+s.Budget)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// Place is the place of the release, as far as it is known before its data are
// open.
func (s *Spec) Place() results.Place {
	p := results.Place{}
	p.Dataset = s.Dataset.Name
	p.Embedding = s.Embedding.Name
	p.Dimension = s.Dimension
	p.Mechanism = s.Mechanism.Mechanism
	p.Variant = string(s.Mechanism.Variant)
	p.Parameters = s.Parameters()
	p.Label = s.Label
	p.Repetition = s.Repetition
	p.Seed = s.Seed
	p.Cleaning = s.Dataset.Cleaning
	p.Policy = string(s.Policy)
	if s.Mechanism.Epsilon != 0 { // else nobody knows it
		p.Epsilon = results.Float(s.Mechanism.Epsilon)
	}
	return p
}

// dataName is the data set in labels of streams. A table of the user's own has no
// name there: what is drawn must not depend on what it is called.
func (s *Spec) dataName() string {
	if len(s.Dataset.Text) > 0 {
		return ""
	}
	return s.Dataset.Name
}

// data are the labels of streams that differ between data sets and spaces.
func (s *Spec) data() []string {
	embedding := s.Embedding.Name
	if s.Embedding.File != "" { // as of a data set
		embedding = ""
	}
	return []string{s.dataName(), embedding, strconv.Itoa(s.Dimension)}
}

// labels are the names of a release's streams: everything that the privatised
// text depends on except the data and the repetition. Model, setting and
// metrics are not part of them, so a change of them does not change the text.
func (s *Spec) labels() []string {
	if s.Streams == study.Attacks {
		return s.mechanism()
	}
	return append(s.data(), s.mechanism()...)
}

// mechanism are the labels of streams that differ between mechanisms. One from
// outside has no name there: two copies of a text, or a renamed one, are measured
// alike.
func (s *Spec) mechanism() []string {
	m := s.Mechanism
	if m.Outside != nil {
		m.Mechanism = ""
	}
	return study.Labels(m)
}

// Root is the seed of the study.
func (s *Spec) Root() stream.Seed {
	root := stream.FromUint64(s.Seed)
	if s.Streams == study.Attacks {
		return root.Derive(study.Attacks)
	}
	return root
}

func (s *Spec) derive(purpose string, labels ...string) stream.Seed {
	return s.Root().Derive(append(append([]string{purpose}, labels...), s.labels()...)...)
}

// TextSeed is the root of the noise in the text of all repetitions: document i
// of a data set of n documents (all splits) uses the stream (repetition−1)·n +
// i. Repetitions can thus be privatised in one pass.
func (s *Spec) TextSeed() stream.Seed {
	if s.Streams == study.Attacks {
		return s.derive("private").Derive("text")
	}
	return s.derive("text")
}

// RepetitionSeed is the root of all other randomness in applying the mechanism.
func (s *Spec) RepetitionSeed() stream.Seed {
	return s.derive("repetition", strconv.Itoa(s.Repetition))
}

// MechanismSeed builds the mechanism.
func (s *Spec) MechanismSeed() stream.Seed {
	if s.Streams == study.Attacks {
		return s.ReleaseSeed().Derive("mechanism")
	}
	return s.RepetitionSeed().Derive("mechanism")
}

// ModelSeed is the root of all randomness in training. Local and train-only
// train on the same text: they are one model, tested on two texts.
func (s *Spec) ModelSeed(m Model, setting string) stream.Seed {
	if s.Streams == study.Attacks { // the same weights for every mechanism and ε
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
	return s.Root().Derive(append(append([]string{"probe"}, s.data()...), strconv.Itoa(s.Repetition))...)
}

// DataSeed is the seed of everything in an attack that does not depend on the
// mechanism.
func (s *Spec) DataSeed() stream.Seed {
	return s.Root().Derive(append(append([]string{"data"}, s.data()...), strconv.Itoa(s.Repetition))...)
}

// ReleaseSeed is the seed of a release that is attacked, and of attacks on it.
func (s *Spec) ReleaseSeed() stream.Seed {
	return s.DataSeed().Derive("release").Derive(s.mechanism()...)
}
