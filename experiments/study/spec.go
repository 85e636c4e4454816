package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
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

// NoVectors is the name of an embedding without vectors: its words are those of
// the data set. Only mechanisms from outside, and models that read words
// without vectors, can use it.
const NoVectors = "none"

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

// SplitByHash is a split by a hash of each text.
const SplitByHash = "hash"

// DatasetSpec names a data set of the catalogue, or the user's own file, and
// how much of it is used; keys.txt says what each key means. A size of 0 means the
// data set's default. Its JSON is part of the keys of what is measured.
type DatasetSpec struct {
	Name           string `yaml:"name" json:"name"`
	Train          int    `yaml:"train,omitempty" json:"train,omitempty" limits:"0,100000000"`
	Validation     int    `yaml:"validation,omitempty" json:"validation,omitempty" limits:"0,100000000"`
	Test           int    `yaml:"test,omitempty" json:"test,omitempty" limits:"0,100000000"`
	MaxTokens      int    `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty" limits:"-1,100000000"`
	ComparedTokens int    `yaml:"compared_tokens,omitempty" json:"compared_tokens,omitempty" limits:"0,100000000"`
	Cleaning       string `yaml:"cleaning,omitempty" json:"cleaning,omitempty"`
	Balance        string `yaml:"balance,omitempty" json:"balance,omitempty" limits:"yes|no"`
	Split          string `yaml:"split,omitempty" json:"split,omitempty" limits:"hash"`

	// Of the user's own file, whose fingerprint is in the key.
	File      string  `yaml:"file,omitempty" json:"-"`
	Delimiter string  `yaml:"delimiter,omitempty" json:"delimiter,omitempty"`
	Encoding  string  `yaml:"encoding,omitempty" json:"encoding,omitempty"`
	Text      Columns `yaml:"text,omitempty" json:"text,omitempty"`
	Label     string  `yaml:"label,omitempty" json:"label,omitempty"`
	Private   string  `yaml:"private,omitempty" json:"private,omitempty"`
	User      string  `yaml:"user,omitempty" json:"user,omitempty"`
}

// EmbeddingSpec names an embedding of the catalogue, "generated", or a file.
type EmbeddingSpec struct {
	Name       string   `yaml:"name"`
	File       string   `yaml:"file,omitempty"`
	Dimensions []int    `yaml:"dimensions,omitempty" limits:"1,65535"` // empty for a file: its own
	Datasets   []string `yaml:"datasets,omitempty"`                    // only with these; empty means all
}

// ModelSpec names a model, its parameters and, if not all, its data sets.
type ModelSpec struct {
	Name       string         `yaml:"name"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
	Datasets   []string       `yaml:"datasets,omitempty"` // only on these; empty means all
}

// Check validates a data set on its own.
func (d DatasetSpec) Check() error {
	switch {
	case d.Name == "":
		return errors.New("a data set needs a name")
	case d.File == "" && (len(d.Text) > 0 || d.Label+d.Private+d.User+d.Delimiter+d.Encoding != ""):
		return fmt.Errorf("data set %q: text, label, private, user, delimiter and encoding describe a file of one's own: "+
			"give file too", d.Name)
	case d.File != "" && len(d.Text) == 0:
		return fmt.Errorf("data set %q: a file needs its text columns", d.Name)
	}
	_, err := d.Traits()
	return cmp.Or(check.Heading("data set", d.Name), err)
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
type Traits struct{ Generated, WordLevel bool }

// Traits returns them without loading anything.
func (d DatasetSpec) Traits() (Traits, error) {
	if d.File != "" {
		return Traits{}, nil
	}
	f, err := datasets.Find(d.Name)
	return Traits{f.Generated, f.WordLevel}, err
}

// Path returns the user's file, which may also lie in the data folder; "" for none.
func (d DatasetSpec) Path(root string) string {
	if inside, err := VectorFile(d.File, datasets.Root(root)); d.File != "" && err == nil {
		return inside
	}
	return d.File
}

// Request returns the request of a study for a data set.
func (d DatasetSpec) Request(root string, seed stream.Seed) datasets.Request {
	return datasets.Request{
		Name: d.Name, Root: root,
		File: d.Path(root), TextColumns: d.Text, LabelColumn: d.Label, Delimiter: d.Delimiter, Encoding: d.Encoding,
		PrivateColumn: d.Private, UserColumn: d.User,
		Unbalanced: d.Balance == "no", ByHash: d.Split == SplitByHash,
		Sizes:     datasets.Sizes{Train: d.Train, Validation: d.Validation, Test: d.Test},
		MaxTokens: d.MaxTokens, Cleaning: datasets.Cleaning(d.Cleaning), Seed: seed,
	}
}

// Ref is the file or, without one, the name.
func (e EmbeddingSpec) Ref() string { return cmp.Or(e.File, e.Name) }

// IsNone reports whether there are no vectors.
func (e EmbeddingSpec) IsNone() bool { return e.File == "" && e.Name == NoVectors }

// repeats reports whether two embeddings have one name, and a dimension and a
// data set in common.
func (e EmbeddingSpec) repeats(o EmbeddingSpec) bool {
	return e.Name == o.Name && slices.ContainsFunc(e.Dimensions, func(d int) bool {
		return slices.Contains(o.Dimensions, d)
	}) && (len(e.Datasets) == 0 || len(o.Datasets) == 0 || slices.ContainsFunc(e.Datasets, func(d string) bool {
		return slices.Contains(o.Datasets, d)
	}))
}

// Check validates an embedding and fills in its name and, for a file, which may
// lie in the data folder root, its dimension.
func (e *EmbeddingSpec) Check(root string) error {
	if e.Name == "" && e.File == "" {
		return errors.New("an embedding needs a name or a file")
	}
	if e.Name == "" {
		e.Name = EmbeddingName(e.File)
	}
	if err := check.Heading("embedding", e.Name); err != nil {
		return err
	}
	if len(e.Dimensions) == 0 && e.File != "" {
		dimension, err := dimensionOf(e.File, root)
		if err != nil {
			return err
		}
		e.Dimensions = []int{dimension}
	}
	if len(e.Dimensions) == 0 {
		return fmt.Errorf("embedding %q: needs dimensions", e.Name)
	}
	return nil
}

// dimensionOf is the dimension of a vector file, from its name or else from the file.
func dimensionOf(ref, root string) (int, error) {
	if _, dimension := splitName(ref); dimension > 0 {
		return dimension, nil
	}
	path, err := VectorFile(ref, datasets.Root(root))
	if err != nil {
		return 0, err
	}
	s, err := embeddings.Load(context.Background(), path, embeddings.LoadOptions{CacheDir: embeddings.DefaultCacheDir()})
	if err != nil {
		return 0, err
	}
	return s.Dimension, nil
}

// Resolve returns the parameters with their defaults.
func (m ModelSpec) Resolve() (map[string]any, error) {
	d, err := models.Find(m.Name)
	if err != nil {
		return nil, err
	}
	return d.Resolve(m.Parameters)
}

// Labels identify a mechanism in a study: everything that its output depends on
// except the data.
func Labels(s mechanisms.Settings) []string {
	return []string{s.Mechanism, string(s.Variant), s.Parameters.String(), strconv.FormatFloat(s.Epsilon, 'g', -1, 64)}
}

// VectorFile finds a file at its path or else in the data folder.
func VectorFile(ref, root string) (string, error) {
	_, err := os.Stat(ref)
	if err == nil {
		return ref, nil
	}
	inside := filepath.Join(root, ref)
	if _, there := os.Stat(inside); there != nil || filepath.IsAbs(ref) {
		return "", fmt.Errorf("embedding: %w", err)
	}
	return inside, nil
}

var vectorSuffixes = []string{".txt", ".vec", ".bin"}

// IsVectorFile reports whether a reference is a path and not a name: it has a
// path separator or the suffix of a vector file.
func IsVectorFile(ref string) bool {
	return strings.ContainsRune(ref, filepath.Separator) ||
		slices.Contains(vectorSuffixes, filepath.Ext(strings.TrimSuffix(ref, ".gz")))
}

// NamesFile reports whether a reference on a command line is a path: IsVectorFile,
// or a file of that name is here.
func NamesFile(ref string) bool {
	info, err := os.Stat(ref)
	return IsVectorFile(ref) || err == nil && info.Mode().IsRegular() && ref != GeneratedEmbedding && ref != NoVectors
}

// splitName returns the name of the embedding in a file, which is the file's name
// without suffixes, dimension and the mark of a subset, and the dimension, 0
// where the name has none: glove.6B and 100 for glove.6B.100d.subset.txt.gz. The
// dimensions of one embedding thus share a name.
func splitName(path string) (name string, dimension int) {
	name = strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, suffix := range vectorSuffixes {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.TrimSuffix(name, ".subset")
	at, dimension := DimensionSuffix(name)
	if at > 0 {
		name = name[:at]
	}
	return name, dimension
}

// EmbeddingName returns the name of the embedding in a file.
func EmbeddingName(path string) string {
	name, _ := splitName(path)
	return name
}

// DimensionSuffix finds a final ".100d", also before the mark of a subset, and
// returns its position and the number.
func DimensionSuffix(name string) (at, dimension int) {
	name = strings.TrimSuffix(name, ".subset")
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return 0, 0
	}
	digits, ok := strings.CutSuffix(name[i+1:], "d")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || n == 0 {
		return 0, 0
	}
	return i, int(n)
}
