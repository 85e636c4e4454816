package datasets

import (
	"context"
	"fmt"

	"mldpbench/internal/registry"
)

// Row is one text of a source, before sampling and cleaning.
type Row struct {
	Text string
	// Second is the other text of a pair, "" where the source has no pairs.
	Second string
	Label  int    // index into the classes
	Split  string // "train", "validation" or "test" where the source has splits, else ""
	// Private is an index into Rows.Privates, User a name; see Document.
	Private int
	User    string
}

// Rows is the content of a source.
type Rows struct {
	Rows    []Row
	Classes []string // nil means those of the definition
	Source  string   // the file or folder read
	// InOrder means that the whole source keeps its order and its splits, which
	// every row then has; a sample of it is drawn like any other.
	InOrder bool
	// Note is what a reader of results on these rows must know, "" for nothing.
	Note string
	// Privates are the names of the private labels, nil for a source without
	// one. Every sample and split of a class then has the same shares of them
	// as the class.
	Privates []string
}

// Sizes are numbers of documents per split. All zero means the whole source.
type Sizes struct {
	Train, Validation, Test int
}

func (s Sizes) zero() bool  { return s == Sizes{} }
func (s Sizes) all() [3]int { return [3]int{s.Train, s.Validation, s.Test} }

// splitNames are those of the three splits, in order.
var splitNames = []string{"train", "validation", "test"}

// Definition registers a data set: one file, one registry line.
type Definition struct {
	Name  string `yaml:"name"`  // "imdb"
	Title string `yaml:"title"` // "IMDb"
	Doc   string `yaml:"doc"`   // description in one line
	// Needs are the entries of the fetch catalogue that Read uses where the data
	// folder is root; nil for a set that needs none.
	Needs     func(root string) []string `yaml:"-"`
	Classes   []string                   `yaml:"classes"` // names of the labels 0, 1, …
	Generated bool                       `yaml:"-"`
	WordLevel bool                       `yaml:"word_level"`
	Pairs     bool                       `yaml:"-"`          // every document is two texts
	Sizes     Sizes                      `yaml:"sizes"`      // default sample
	Cleaning  Cleaning                   `yaml:"cleaning"`   // default cleaning
	MaxTokens int                        `yaml:"max_tokens"` // default cut; 0 means none
	// Read returns all rows of the source in its own order.
	Read func(ctx context.Context, q Request) (Rows, error) `yaml:"-"`
}

var definitions = registry.New[Definition]("data set")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Names returns all registered data sets, sorted.
func Names() []string { return definitions.Names() }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) {
	d, err := definitions.Find(name)
	if err != nil {
		return d, fmt.Errorf("%w, or come with a file and the names of its text and label columns", err)
	}
	return d, nil
}
