package models

import (
	"fmt"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/registry"
	"mldpbench/stream"
)

// Options build a classifier.
type Options struct {
	Classes    int
	Embedding  Embedding // for models that read Sequences
	Seed       stream.Seed
	Parameters map[string]any // per model; unknown names are errors; absent ones take defaults
}

// Definition registers a model: one file, one registry line.
type Definition struct {
	Name       string // "lstm"
	Parameters []Parameter
	// Vectors means that the model reads dense features too, so it can be used
	// after a mechanism that releases vectors and on a data set of single
	// words.
	Vectors bool
	// Tokenized means that it reads words by the numbers that a tokenizer of the
	// plain train texts gives them (embeddings.NewTokenizer), with their vectors;
	// else by those of the space.
	Tokenized bool
	// Words reports whether, with these parameters, the model learns something of
	// each word, not of its vector alone; nil is no.
	Words func(parameters map[string]any) bool
	// New builds the model. Options are checked before: at least two classes, a
	// well-formed Embedding (not empty unless Vectors or an Encoder), all parameters present and of
	// the default's type.
	New func(Options) Classifier
}

// Has reports whether the model takes a parameter.
func (d Definition) Has(parameter string) bool {
	return slices.ContainsFunc(d.Parameters, func(p Parameter) bool {
		return p.Name == parameter
	})
}

var definitions = registry.New[Definition]("model")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Definitions returns all, by name.
func Definitions() []Definition { return definitions.All() }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) { return definitions.Find(name) }

// New builds the model of that name.
func New(name string, o Options) (Classifier, error) {
	d, err := Find(name)
	if err != nil {
		return nil, err
	}
	if err := check.AtLeast("classes", o.Classes, 2); err != nil {
		return nil, err
	}
	if e := o.Embedding; len(e.Vectors) > 0 && (e.Dimension < 1 || len(e.Vectors)%e.Dimension != 0) {
		return nil, fmt.Errorf("embedding: %d numbers are no rows of dimension %d", len(e.Vectors), e.Dimension)
	}
	if !d.Vectors && !d.Has(Encoder) && o.Embedding.Len() == 0 {
		return nil, fmt.Errorf("model %s: needs an embedding", name)
	}
	if o.Parameters, err = d.Resolve(o.Parameters); err != nil {
		return nil, err
	}
	return d.New(o), nil
}
