package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
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
		if setting != TestOnly {
			splits[0] = true
			splits[1] = true
		}
		if setting != TrainOnly {
			splits[2] = true
		}
	}
	return splits
}

// All is the name that stands in a list for every registered mechanism of words, in its
// default variant.
const All = "all"

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
	return orNamed(decode, (*[]string)(c), func(one string) []string { return []string{one} })
}

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

// UnmarshalYAML reads the name of a data set alone too.
func (d *DatasetSpec) UnmarshalYAML(decode func(any) error) error {
	type plain DatasetSpec
	return orNamed(decode, (*plain)(d), func(name string) plain { return plain{Name: name} })
}

// EmbeddingSpec names an embedding of the catalogue, "generated", or a file.
type EmbeddingSpec struct {
	Name       string   `yaml:"name"`
	File       string   `yaml:"file,omitempty"`
	Dimensions []int    `yaml:"dimensions,omitempty" limits:"1,65535"` // empty for a file: its own
	Datasets   []string `yaml:"datasets,omitempty"`                    // only with these; empty means all
}

// NamedEmbedding is one of a word: glove.6B.100d is glove.6B at 100 dimensions, and
// a file is that file.
func NamedEmbedding(ref string) EmbeddingSpec {
	if NamesFile(ref) {
		return EmbeddingSpec{File: ref}
	}
	name, dimension := embeddings.SplitName(ref)
	switch {
	case dimension > 0:
		return EmbeddingSpec{Name: name, Dimensions: []int{dimension}}
	case ref == GeneratedEmbedding:
		return EmbeddingSpec{Name: ref, Dimensions: []int{50}}
	case ref == NoVectors:
		return EmbeddingSpec{Name: ref, Dimensions: []int{1}}
	}
	return EmbeddingSpec{Name: ref}
}

// UnmarshalYAML reads what NamedEmbedding takes, too.
func (e *EmbeddingSpec) UnmarshalYAML(decode func(any) error) error {
	type plain EmbeddingSpec
	return orNamed(decode, (*plain)(e), func(ref string) plain {
		return plain(NamedEmbedding(ref))
	})
}

// ModelSpec names a model, its parameters and, if not all, its data sets.
type ModelSpec struct {
	Name       string         `yaml:"name"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
	Datasets   []string       `yaml:"datasets,omitempty"` // only on these; empty means all
}

// UnmarshalYAML reads the name of a model alone too.
func (m *ModelSpec) UnmarshalYAML(decode func(any) error) error {
	type plain ModelSpec
	return orNamed(decode, (*plain)(m), func(name string) plain { return plain{Name: name} })
}

// CommandSpec names an attacker or a measurement: a built-in attacker by its
// name alone, others with the command that speaks protocol 2 of
// docs/external.md.
type CommandSpec struct {
	Name    string   `yaml:"name"`              // in rows and tables; of a built-in attacker, its own
	Command []string `yaml:"command,omitempty"` // program and arguments; no shell is run
}

// UnmarshalYAML reads a name alone too, and so do those of other entries of a study.
func (c *CommandSpec) UnmarshalYAML(decode func(any) error) error {
	type plain CommandSpec // without methods
	return orNamed(decode, (*plain)(c), func(name string) plain { return plain{Name: name} })
}

// orNamed reads an entry, or one word that stands for it.
func orNamed[T any](decode func(any) error, entry *T, named func(string) T) error {
	var word string
	if decode(&word) == nil {
		*entry = named(word)
		return nil
	}
	return decode(entry)
}

// Check validates a command.
func (c CommandSpec) Check() error {
	if err := checkName("name", c.Name); err != nil {
		return err
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return fmt.Errorf("%s: command: must name a program", c.Name)
	}
	if external.NamesVectors(c.Command) {
		return fmt.Errorf("%s: command: {vectors} are those of a mechanism", c.Name)
	}
	return nil
}

// AttackerNames returns the names of attackers.
func AttackerNames(all []CommandSpec) []string {
	return list.Map(all, func(c CommandSpec) string { return c.Name })
}

// Check validates a data set on its own.
func (d DatasetSpec) Check() error {
	switch {
	case d.Name == "":
		return errors.New("a data set needs a name")
	case d.File == "" && (len(d.Text) > 0 || d.Label+d.Private+d.User+d.Delimiter+d.Encoding != ""):
		return fmt.Errorf("data set %q: text, label, private, user, delimiter and encoding describe a file of one's "+
			"own: give file too", d.Name)
	case d.File != "" && len(d.Text) == 0:
		return fmt.Errorf("data set %q: a file needs its text columns", d.Name)
	}
	_, err := d.Definition()
	return cmp.Or(check.Heading("data set", d.Name), err)
}

// Definition is that of the catalogue; of a file it is the zero value.
func (d DatasetSpec) Definition() (datasets.Definition, error) {
	if d.File != "" {
		return datasets.Definition{}, nil
	}
	return datasets.Find(d.Name)
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
		Name:          d.Name,
		Root:          root,
		File:          d.Path(root),
		TextColumns:   d.Text,
		LabelColumn:   d.Label,
		Delimiter:     d.Delimiter,
		Encoding:      d.Encoding,
		PrivateColumn: d.Private,
		UserColumn:    d.User,
		Unbalanced:    d.Balance == "no",
		ByHash:        d.Split == "hash",
		Sizes: datasets.Sizes{
			Train:      d.Train,
			Validation: d.Validation,
			Test:       d.Test,
		},
		MaxTokens: d.MaxTokens,
		Cleaning:  datasets.Cleaning(d.Cleaning),
		Seed:      seed,
	}
}

// Ref is the file or, without one, the name.
func (e EmbeddingSpec) Ref() string { return cmp.Or(e.File, e.Name) }

// IsNone reports whether there are no vectors.
func (e EmbeddingSpec) IsNone() bool { return e.File == "" && e.Name == NoVectors }

// repeats reports whether two embeddings have a name and a dimension in common.
func (e EmbeddingSpec) repeats(o EmbeddingSpec) bool {
	return e.Name == o.Name &&
		slices.ContainsFunc(e.Dimensions, func(d int) bool {
			return slices.Contains(o.Dimensions, d)
		})
}

// Check validates an embedding and fills in its name and, for a file, which may
// lie in the data folder root, its dimension.
func (e *EmbeddingSpec) Check(root string) error {
	if e.Name == "" && e.File == "" {
		return errors.New("an embedding needs a name or a file")
	}
	name, dimension := embeddings.SplitName(e.File)
	e.Name = cmp.Or(e.Name, name)
	if err := check.Heading("embedding", e.Name); err != nil {
		return err
	}
	if len(e.Dimensions) > 0 {
		return nil
	}
	if e.File == "" {
		return fmt.Errorf("embedding %q: needs dimensions, as in glove.6B.100d", e.Name)
	}
	if dimension == 0 { // only the file itself knows it
		path, err := VectorFile(e.File, datasets.Root(root))
		if err != nil {
			return err
		}
		options := embeddings.LoadOptions{CacheDir: embeddings.DefaultCacheDir()}
		s, err := embeddings.Load(context.Background(), path, options)
		if err != nil {
			return err
		}
		dimension = s.Dimension
	}
	e.Dimensions = []int{dimension}
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

// NamesFile reports whether a reference is a path and not a name: it has a path
// separator or the suffix of a vector file, or a file of that name is here.
func NamesFile(ref string) bool {
	info, err := os.Stat(ref)
	return strings.ContainsRune(ref, filepath.Separator) ||
		suffixes.MatchString(ref) ||
		err == nil && info.Mode().IsRegular() && ref != GeneratedEmbedding && ref != NoVectors
}

var suffixes = regexp.MustCompile(`\.(txt|vec|bin)(\.gz)?$`)
