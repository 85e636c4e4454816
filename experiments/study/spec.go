package study

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// Settings of a measurement: the part of the text that users privatise.
const (
	Local     = "local"      // train, validation and test (local differential privacy)
	TrainOnly = "train-only" // train and validation; the test text stays plain
	TestOnly  = "test-only"  // the test text, on a model trained on plain text
)

// Privatizes reports which of the splits training, validation and test at least
// one of the settings privatises.
func Privatizes(settings ...string) (splits [3]bool) {
	for _, setting := range settings {
		training, test := setting != TestOnly, setting != TrainOnly
		splits = [3]bool{splits[0] || training, splits[1] || training, splits[2] || test}
	}
	return splits
}

// Names that stand for several mechanisms in a list: every registered one in
// its default variant, and those whose default variant is a proved one.
const (
	All       = "all"
	AllProved = "all-proved"
)

// Many reports whether a name stands for several mechanisms.
func Many(name string) bool { return name == All || name == AllProved }

// GeneratedEmbedding is the name of the vectors learned from the generated
// corpus.
const GeneratedEmbedding = "generated"

// Columns holds names of columns; a single one may be written without a list.
type Columns []string

// UnmarshalYAML reads a word or a list of words.
func (c *Columns) UnmarshalYAML(decode func(any) error) error {
	var one string
	if decode(&one) == nil {
		*c = Columns{one}
		return nil
	}
	var list []string
	err := decode(&list)
	*c = list
	return err
}

// DatasetSpec names a data set of the catalogue, or the user's own file, and
// how much of it is used. A size of 0 means the data set's default.
type DatasetSpec struct {
	Name       string `yaml:"name" json:"name"`
	Train      int    `yaml:"train,omitempty" json:"train,omitempty" limits:"0,100000000"`           // documents
	Validation int    `yaml:"validation,omitempty" json:"validation,omitempty" limits:"0,100000000"` // documents
	Test       int    `yaml:"test,omitempty" json:"test,omitempty" limits:"0,100000000"`             // documents
	// documents are cut here; 0 means the data set's default
	MaxTokens int `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty" limits:"0,100000000"`
	// preprocessing; empty means the data set's default
	Cleaning string `yaml:"cleaning,omitempty" json:"cleaning,omitempty"`
	// "no" keeps the shares of classes in the source
	Balance string `yaml:"balance,omitempty" json:"balance,omitempty"`
	// the user's CSV, TSV or JSONL; its fingerprint is in the key
	File string  `yaml:"file,omitempty" json:"-"`
	Text Columns `yaml:"text,omitempty" json:"text,omitempty"` // columns joined to the text, for File
	// column of the label, for File; if empty there is nothing to predict
	Label string `yaml:"label,omitempty" json:"label,omitempty"`
	// column of the private label, for File
	Private   string `yaml:"private,omitempty" json:"private,omitempty"`
	User      string `yaml:"user,omitempty" json:"user,omitempty"`             // column of the author of a row, for File
	WordLevel bool   `yaml:"word_level,omitempty" json:"word_level,omitempty"` // every row is one word, for File
}

// EmbeddingSpec names an embedding of the catalogue, "generated", or a file.
type EmbeddingSpec struct {
	Name       string   `yaml:"name"`
	File       string   `yaml:"file,omitempty"`
	Dimensions []int    `yaml:"dimensions,omitempty" limits:"1,65535"` // empty for a file: its own
	Datasets   []string `yaml:"datasets,omitempty"`                    // only with these; empty means all
}

// MechanismSpec names a mechanism with its variants and parameters, or names
// one from outside. A parameter given as a list is a further axis of the grid.
type MechanismSpec struct {
	mechanisms.Outside `yaml:",inline"`

	Name       string               `yaml:"name"`
	Label      string               `yaml:"label,omitempty"` // its name in a paper; "" means its title
	Variant    mechanisms.Variant   `yaml:"variant,omitempty"`
	Variants   []mechanisms.Variant `yaml:"variants,omitempty"`
	Parameters map[string]any       `yaml:"parameters,omitempty"`
	Epsilons   []float64            `yaml:"epsilons,omitempty"` // instead of the study's
	Policy     mechanisms.Policy    `yaml:"policy,omitempty"`   // of unknown words, instead of the study's
	// KeepWords are published unchanged, so epsilon is infinite on them:
	// StopWords, or "" for none.
	KeepWords string `yaml:"keep_words,omitempty"`
	// Repetitions is smaller than the study's where fewer repetitions exist; 0
	// means the study's.
	Repetitions int `yaml:"repetitions,omitempty" limits:"1,10000"`
}

// StopWords is the list of words that a mechanism may keep.
const StopWords = "stopwords"

// Kept returns the words that a mechanism's entry keeps.
func (m MechanismSpec) Kept() []string {
	if m.KeepWords == "" {
		return nil
	}
	return datasets.StopWords()
}

// ModelSpec names a model, its parameters and, if not all, its data sets.
type ModelSpec struct {
	Name       string         `yaml:"name"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
	Datasets   []string       `yaml:"datasets,omitempty"`
}

// MetricOptions select the metrics in addition to accuracy. A metric whose size
// is 0 is not measured and is missing in the records.
type MetricOptions struct {
	Deniability DeniabilityOptions `yaml:"deniability,omitempty" json:"deniability"`
	// least frequent words that are followed
	Low            int                   `yaml:"low,omitempty" json:"low,omitempty" limits:"0,1000000"`
	CS             CSOptions             `yaml:"cs,omitempty" json:"cs"`
	InferenceError InferenceErrorOptions `yaml:"inference_error,omitempty" json:"inference_error"`
	// word list of the catalogue, or a file
	English string `yaml:"english,omitempty" json:"english,omitempty"`
}

// DeniabilityOptions are the options of N_w and S_w.
type DeniabilityOptions struct {
	Words int `yaml:"words,omitempty" json:"words" limits:"0,1000000"`
	Runs  int `yaml:"runs,omitempty" json:"runs" limits:"0,1000000"`
}

// CSOptions are the options of the cosine similarity of sentences.
type CSOptions struct {
	Encoder   string `yaml:"encoder,omitempty" json:"encoder,omitempty"`
	Documents int    `yaml:"documents,omitempty" json:"documents,omitempty" limits:"0,1000000"` // sampled per cell
	// Repetitions limits CS to the first so many repetitions; 0 means all.
	Repetitions int `yaml:"repetitions,omitempty" json:"repetitions,omitempty" limits:"0,10000"`
	// Settings limits CS to these settings; none means all.
	Settings []string `yaml:"settings,omitempty" json:"settings,omitempty"`
}

// InferenceErrorOptions are the options of the adversary's expected error E_M.
type InferenceErrorOptions struct {
	// words the adversary chooses among
	Candidates int `yaml:"candidates,omitempty" json:"candidates" limits:"0,1000000"`
	// outputs drawn per word where there is no closed form
	Samples int `yaml:"samples,omitempty" json:"samples" limits:"0,1000000"`
	// Full also measures against an adversary whose candidates are all words,
	// once per mechanism and ε. Exact, n words cost n rows of n probabilities
	// (27,000 words of 100 dimensions: 20 to 30 seconds on one core);
	// sampled, 2 × samples draws of each word.
	Full bool `yaml:"full,omitempty" json:"full,omitempty"`
}

// Check validates a data set on its own.
func (d DatasetSpec) Check() error {
	switch {
	case d.Name == "":
		return errors.New("a data set needs a name")
	case d.File == "" && (len(d.Text) > 0 || d.Label != "" || d.Private != "" || d.User != "" || d.WordLevel):
		return fmt.Errorf("data set %q: text, label, private, user and word_level describe a file of one's "+
			"own: give file too", d.Name)
	case d.File != "" && len(d.Text) == 0:
		return fmt.Errorf("data set %q: a file needs its text columns", d.Name)
	}
	if err := check.OneOf("balance", d.Balance, "", "yes", "no"); err != nil {
		return fmt.Errorf("data set %q: %w", d.Name, err)
	}
	_, err := d.Traits()
	return err
}

// Predicts returns an error for a data set without labels, because a model has
// nothing to predict.
func (d DatasetSpec) Predicts() error {
	if d.File != "" && d.Label == "" {
		return fmt.Errorf("data set %q: has no label column: a model needs one to predict", d.Name)
	}
	return nil
}

// Traits are the properties of a data set that determine what can be measured
// on it.
type Traits struct {
	Generated bool
	WordLevel bool
}

// Traits returns them without loading anything.
func (d DatasetSpec) Traits() (Traits, error) {
	if d.File != "" {
		return Traits{WordLevel: d.WordLevel}, nil
	}
	f, err := datasets.Find(d.Name)
	if err != nil {
		return Traits{}, err
	}
	return Traits{Generated: f.Generated, WordLevel: f.WordLevel}, nil
}

// Request returns the request of a study for a data set.
func (d DatasetSpec) Request(root string, seed stream.Seed) datasets.Request {
	return datasets.Request{
		Name: d.Name, Root: root,
		File: d.File, TextColumns: d.Text, LabelColumn: d.Label, WordLevel: d.WordLevel,
		PrivateColumn: d.Private, UserColumn: d.User,
		Unbalanced: d.Balance == "no",
		Sizes:      datasets.Sizes{Train: d.Train, Validation: d.Validation, Test: d.Test},
		MaxTokens:  d.MaxTokens, Cleaning: datasets.Cleaning(d.Cleaning), Seed: seed,
	}
}

// Check validates an embedding and fills in its name and, for a file, its
// dimension.
func (e *EmbeddingSpec) Check() error {
	if e.Name == "" && e.File == "" {
		return errors.New("an embedding needs a name or a file")
	}
	if e.Name == "" {
		e.Name = EmbeddingName(e.File)
	}
	if len(e.Dimensions) == 0 && e.File != "" {
		f, err := FileSpec(e.File, "")
		if err != nil {
			return err
		}
		e.Dimensions = f.Dimensions
	}
	if len(e.Dimensions) == 0 {
		return fmt.Errorf("embedding %q: needs dimensions", e.Name)
	}
	for _, d := range e.Dimensions {
		if err := check.AtLeast("dimension", d, 1); err != nil {
			return err
		}
	}
	return nil
}

// Resolve returns the parameters with their defaults.
func (m ModelSpec) Resolve() (map[string]any, error) {
	d, err := models.Find(m.Name)
	if err != nil {
		return nil, err
	}
	return d.Resolve(m.Parameters)
}

// Labels returns the labels of the streams of one mechanism: everything that
// its output depends on except the data.
func Labels(s mechanisms.Settings) []string {
	return []string{s.Mechanism, string(s.Variant), s.Parameters.String(), strconv.FormatFloat(s.Epsilon, 'g', -1, 64)}
}

// Check validates the sizes of metrics.
func (m MetricOptions) Check(at At) error {
	for _, n := range []struct {
		name string
		v    int
	}{
		{"deniability.words", m.Deniability.Words}, {"deniability.runs", m.Deniability.Runs}, {"low", m.Low},
		{"cs.documents", m.CS.Documents}, {"cs.repetitions", m.CS.Repetitions},
		{"inference_error.candidates", m.InferenceError.Candidates},
		{"inference_error.samples", m.InferenceError.Samples},
	} {
		if err := check.AtLeast("metrics."+n.name, n.v, 0); err != nil {
			return at(err, "metrics.%s", n.name)
		}
	}
	if (m.Deniability.Words == 0) != (m.Deniability.Runs == 0) {
		return at(errors.New("metrics.deniability: words and runs must both be given"), "metrics.deniability")
	}
	if m.InferenceError.Full && m.InferenceError.Samples == 0 {
		return at(errors.New("metrics.inference_error: full needs samples, for mechanisms without a closed form"),
			"metrics.inference_error")
	}
	if m.CS.Documents > 0 && m.CS.Encoder == "" {
		return at(errors.New("metrics.cs: documents without an encoder"), "metrics.cs")
	}
	return nil
}

// Check validates a mechanism's entry.
func (m MechanismSpec) Check(at At, where string) error {
	switch {
	case m.Is():
		if err := m.checkOutside(); err != nil {
			return at(err, "%s.name", where)
		}
	case Many(m.Name):
		if m.Variant != "" || len(m.Variants) > 0 || len(m.Parameters) > 0 {
			return at(fmt.Errorf("mechanism %s: takes no variant and no parameters; name the mechanism", m.Name),
				"%s.name", where)
		}
	default:
		if _, err := mechanisms.Find(m.Name); err != nil {
			return at(err, "%s.name", where)
		}
	}
	if err := m.Outside.Check(m.Name, m.Parameters, len(m.Epsilons)); err != nil {
		return at(err, "%s", where)
	}
	if err := check.AtLeast("repetitions", m.Repetitions, 0); err != nil {
		return at(err, "%s.repetitions", where)
	}
	if m.Variant != "" && len(m.Variants) > 0 {
		return at(fmt.Errorf("%s: give variant or variants, not both", m.Name), "%s.variants", where)
	}
	if err := Epsilons(at, where+".epsilons", m.Epsilons); err != nil {
		return err
	}
	if m.Policy != "" {
		if err := mechanisms.CheckPolicy(m.Policy); err != nil {
			return at(err, "%s.policy", where)
		}
	}
	if m.KeepWords != "" {
		if err := check.OneOf("keep_words", m.KeepWords, StopWords); err != nil {
			return at(err, "%s.keep_words", where)
		}
	}
	settings, err := m.Expand()
	for _, s := range settings {
		if d, err := s.Definition(); err == nil && d.NewVector != nil &&
			(m.KeepWords != "" || m.Policy == mechanisms.Zero) && !Many(m.Name) {
			return at(fmt.Errorf("%s releases vectors: it keeps no words and has no policy zero", d.Name), "%s", where)
		}
	}
	return at(err, "%s", where)
}

// checkOutside validates an entry from outside.
func (m MechanismSpec) checkOutside() error {
	if err := checkName("name", m.Name); err != nil {
		return err
	}
	if Many(m.Name) || m.Name == results.BaselineMechanism {
		return fmt.Errorf("name = %q: has a meaning of its own; give what is not built in another", m.Name)
	}
	if m.Variant != "" || len(m.Variants) > 0 || m.Policy != "" || m.KeepWords != "" {
		return fmt.Errorf("%s: variants, policy and keep_words are those of built-in mechanisms", m.Name)
	}
	return nil
}

// CheckTwice validates that records can distinguish mechanisms from outside;
// epsilons are those of entries without their own.
func CheckTwice(at At, list []MechanismSpec, epsilons []float64) error {
	met := map[string]bool{}
	for i, m := range list {
		if !m.Is() {
			continue
		}
		settings, _ := m.Expand() // checked
		own := m.Epsilons
		if len(own) == 0 {
			own = epsilons
		}
		for _, s := range settings {
			for _, s.Epsilon = range own {
				key := strings.Join(Labels(s), " ")
				if met[key] {
					return at(fmt.Errorf("%s at epsilon %v is given twice: give one of them another name", m.Name,
						s.Epsilon), "mechanisms[%d].name", i)
				}
				met[key] = true
			}
		}
	}
	return nil
}

// Epsilons validates a list of ε; the caller checks for an empty one.
func Epsilons(at At, where string, epsilons []float64) error {
	for i, e := range epsilons {
		if err := check.Positive("epsilon", e); err != nil {
			return at(err, "%s[%d]", where, i)
		}
	}
	return nil
}

// Expand returns the settings of a mechanism entry: variants ×
// parameter lists, without epsilon.
func (m MechanismSpec) Expand() ([]mechanisms.Settings, error) {
	if Many(m.Name) {
		var all []mechanisms.Settings
		for _, d := range mechanisms.Definitions() {
			if m.Name == AllProved && d.Variants[0] != mechanisms.Proved {
				continue
			}
			one, err := MechanismSpec{Name: d.Name, Epsilons: m.Epsilons}.Expand()
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	start := mechanisms.Settings{Mechanism: m.Name}
	if m.Is() {
		start.Outside = &m.Outside
	}
	d, err := start.Definition()
	if err != nil {
		return nil, err
	}
	variants := m.Variants
	if len(variants) == 0 {
		variants = []mechanisms.Variant{m.Variant}
	}
	sets := []mechanisms.Parameters{{}}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		values, err := parameterValues(d, name, m.Parameters[name])
		if err != nil {
			return nil, err
		}
		var next []mechanisms.Parameters
		for _, set := range sets {
			for _, v := range values {
				p := maps.Clone(set)
				p[name] = v
				next = append(next, p)
			}
		}
		sets = next
	}
	var out []mechanisms.Settings
	for _, v := range variants {
		for _, p := range sets {
			// Epsilon 1 is a placeholder: parameters are checked without it.
			start.Variant, start.Epsilon, start.Parameters = v, 1, p
			c, err := mechanisms.Complete(start)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// parameterValues reads a parameter: a value, or a list of values. Where the
// parameter itself is a list of numbers, a flat list is one value.
func parameterValues(d mechanisms.Definition, name string, v any) ([]any, error) {
	v, err := plainValue(v)
	if err != nil {
		return nil, fmt.Errorf("%s: parameter %s: %w", d.Name, name, err)
	}
	list, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: parameter %s: the list is empty", d.Name, name)
	}
	for _, p := range d.Parameters {
		if _, takesList := p.Default.([]float64); p.Name != name || !takesList {
			continue
		}
		if _, nested := list[0].([]any); !nested {
			list = []any{list}
		}
		values := make([]any, len(list))
		for i, x := range list {
			numbers, err := floats(x)
			if err != nil {
				return nil, fmt.Errorf("%s: parameter %s: %w", d.Name, name, err)
			}
			values[i] = numbers
		}
		return values, nil
	}
	return list, nil
}

func floats(v any) ([]float64, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is not a list of numbers", v)
	}
	out := make([]float64, len(list))
	for i, x := range list {
		f, ok := x.(float64)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", x)
		}
		out[i] = f
	}
	return out, nil
}

// plainValue converts values from YAML to float64, string, bool and []any.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case float64, string, bool:
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			p, err := plainValue(x)
			if err != nil {
				return nil, err
			}
			out[i] = p
		}
		return out, nil
	case []float64:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = x
		}
		return out, nil
	default:
		return nil, fmt.Errorf("%v: must be a number, a word or a list of them", v)
	}
}
