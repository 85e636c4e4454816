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
// how much of it is used. A size of 0 means the data set's default.
type DatasetSpec struct {
	// of mldp data list, or any for File
	Name       string `yaml:"name" json:"name"`
	Train      int    `yaml:"train,omitempty" json:"train,omitempty" limits:"0,100000000"`           // documents
	Validation int    `yaml:"validation,omitempty" json:"validation,omitempty" limits:"0,100000000"` // documents
	Test       int    `yaml:"test,omitempty" json:"test,omitempty" limits:"0,100000000"`             // documents
	// documents are cut here; 0 means the data set's default, -1 not at all
	MaxTokens int `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty" limits:"-1,100000000"`
	// PP, LOW and English % read this many first tokens of a document; 0 means all
	ComparedTokens int `yaml:"compared_tokens,omitempty" json:"compared_tokens,omitempty" limits:"0,100000000"`
	// preprocessing; empty means the data set's default
	Cleaning string `yaml:"cleaning,omitempty" json:"cleaning,omitempty"`
	// "no" keeps the shares of classes in the source
	Balance string `yaml:"balance,omitempty" json:"balance,omitempty"`
	// "hash": the hash of a text says its split, whatever the seed and the other texts
	Split string `yaml:"split,omitempty" json:"split,omitempty"`
	// the user's CSV, TSV, JSON lines, JSON array or Parquet; its fingerprint is
	// in the key
	File      string  `yaml:"file,omitempty" json:"-"`
	Delimiter string  `yaml:"delimiter,omitempty" json:"delimiter,omitempty"` // of CSV and TSV, instead of the usual one
	Encoding  string  `yaml:"encoding,omitempty" json:"encoding,omitempty"`   // of File, such as latin1; utf-8 else
	Text      Columns `yaml:"text,omitempty" json:"text,omitempty"`           // columns joined to the text, for File
	// column of the label, for File; if empty there is nothing to predict
	Label string `yaml:"label,omitempty" json:"label,omitempty"`
	// column of the private label, for File
	Private   string `yaml:"private,omitempty" json:"private,omitempty"`
	User      string `yaml:"user,omitempty" json:"user,omitempty"`             // column of the author of a row, for File
	WordLevel bool   `yaml:"word_level,omitempty" json:"word_level,omitempty"` // every row is one word, for File
	Without   []int  `yaml:"-" json:"without,omitempty"`                       // rows left out, by number from 0
}

// EmbeddingSpec names an embedding of the catalogue, "generated", or a file.
type EmbeddingSpec struct {
	Name       string   `yaml:"name"`                                  // of the data folder, or generated
	File       string   `yaml:"file,omitempty"`                        // vectors of your own: text, word2vec or gzip
	Dimensions []int    `yaml:"dimensions,omitempty" limits:"1,65535"` // empty for a file: its own
	Datasets   []string `yaml:"datasets,omitempty"`                    // only with these; empty means all
}

// ModelSpec names a model, its parameters and, if not all, its data sets.
type ModelSpec struct {
	Name       string         `yaml:"name"`                 // svm, lstm, logistic…
	Parameters map[string]any `yaml:"parameters,omitempty"` // those of its kind; the defaults else
	Datasets   []string       `yaml:"datasets,omitempty"`   // only on these; empty means all
}

// Check validates a data set on its own.
func (d DatasetSpec) Check() error {
	switch {
	case d.Name == "":
		return errors.New("a data set needs a name")
	case d.File == "" && (len(d.Text) > 0 || d.Label != "" || d.Private != "" || d.User != "" || d.WordLevel ||
		d.Delimiter != "" || d.Encoding != ""):
		return fmt.Errorf("data set %q: text, label, private, user, delimiter, encoding and word_level describe a file of one's "+
			"own: give file too", d.Name)
	case d.File != "" && len(d.Text) == 0:
		return fmt.Errorf("data set %q: a file needs its text columns", d.Name)
	}
	if err := check.Heading("data set", d.Name); err != nil {
		return err
	}
	if err := errors.Join(check.OneOf("balance", d.Balance, "", "yes", "no"),
		check.OneOf("split", d.Split, "", SplitByHash)); err != nil {
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
		File: d.Path(root), TextColumns: d.Text, LabelColumn: d.Label, WordLevel: d.WordLevel,
		Delimiter: d.Delimiter, Encoding: d.Encoding,
		PrivateColumn: d.Private, UserColumn: d.User, Without: d.Without,
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
		f, err := FileSpec(e.File, root)
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

// IsVectorFile reports whether a reference is a path and not a name: it has a
// path separator or the suffix of a vector file.
func IsVectorFile(ref string) bool {
	if strings.ContainsRune(ref, filepath.Separator) {
		return true
	}
	return slices.Contains(vectorSuffixes, filepath.Ext(strings.TrimSuffix(ref, ".gz")))
}

var vectorSuffixes = []string{".txt", ".vec", ".bin"}

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

// FileSpec describes a vector file. Its dimension is taken from its name or
// else from the file.
func FileSpec(ref, root string) (EmbeddingSpec, error) {
	name, dimension := splitName(ref)
	e := EmbeddingSpec{Name: name, File: ref, Dimensions: []int{dimension}}
	if dimension > 0 {
		return e, nil
	}
	path, err := VectorFile(ref, datasets.Root(root))
	if err != nil {
		return e, err
	}
	s, err := embeddings.Load(context.Background(), path,
		embeddings.LoadOptions{CacheDir: embeddings.DefaultCacheDir()})
	if err != nil {
		return e, err
	}
	e.Dimensions = []int{s.Dimension}
	return e, nil
}
