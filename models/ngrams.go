package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/check"
)

// NGramOptions build a linear classifier of n-grams.
type NGramOptions struct {
	Classes   int
	Spelling  func(token int32) string // of n-grams of characters; nil leaves them out
	Embedding Embedding                // of mean vectors; the zero value leaves them out
}

// NGrams is a linear classifier of token sequences: logistic regression on
// tf-idf of words (one and two), tf-idf of the characters inside words (two to
// five, the ends of a word marked) and the mean vector. Which of these parts it
// reads, and how much it is regularised, is chosen by accuracy on validation
// examples; words alone, words with vectors, words with characters and all three
// are tried. Each part has squared length one, the mean vector on average.
//
// A document is a bag of words as far as characters and vectors are concerned,
// so these features are kept once per word and a product with all documents
// costs one product per word: tens of thousands of documents take seconds.
type NGrams struct {
	options NGramOptions
	parts   []ngramPart
	weights [][]float64
	Chosen  string // the parts that are read and C: "words+characters, C = 1"
	// Accuracy is the share of validation examples found, by which it was chosen.
	Accuracy float64
}

// ngramPart is one kind of feature, with what it learned of training examples.
type ngramPart interface {
	// matrix returns the features of documents.
	matrix(documents [][]int32) design
}

// ngramGrid is the grid of C, from strong to weak regularisation: parts have
// length one, so the range does not depend on the number of features.
var ngramGrid = []float64{0.1, 1, 10, 100}

// Stopping of one fit; held-out accuracy does not move after it.
const (
	ngramIterations = 60
	ngramTolerance  = 3e-4
)

// FitNGrams trains on train and chooses parts and C on validation; ties go to
// fewer parts and stronger regularisation. Examples must be sequences. It is
// deterministic.
func FitNGrams(ctx context.Context, o NGramOptions, train, validation Examples) (*NGrams, error) {
	if err := check.AtLeast("classes", o.Classes, 2); err != nil {
		return nil, err
	}
	tokens := -1
	if o.Embedding.Dimension > 0 {
		tokens = o.Embedding.Len()
	}
	for i, x := range []Examples{train, validation} {
		name := []string{"train", "validation"}[i]
		if err := x.checkLabels(name, o.Classes); err != nil {
			return nil, err
		}
		if x.Sequences == nil {
			return nil, fmt.Errorf("%s: n-grams are of token sequences, not of vectors", name)
		}
		if _, err := x.checkInputs(tokens); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	features := [3]struct {
		name       string
		part       ngramPart // nil for one that is left out
		seen, held design
	}{{name: "words", part: learnWordGrams(train.Sequences)}, {name: "characters"}, {name: "vectors"}}
	if o.Spelling != nil {
		features[1].part = learnCharacterGrams(train.Sequences, o.Spelling)
	}
	if o.Embedding.Dimension > 0 {
		features[2].part = learnMeans(o.Embedding, train.Sequences)
	}
	for i := range features {
		if f := &features[i]; f.part != nil {
			f.seen, f.held = f.part.matrix(train.Sequences), f.part.matrix(validation.Sequences)
		}
	}
	m := &NGrams{options: o, Accuracy: -1}
	for _, set := range [][]int{{0}, {0, 2}, {0, 1}, {0, 1, 2}} {
		if slices.ContainsFunc(set, func(i int) bool { return features[i].part == nil }) {
			continue
		}
		var seen, held beside
		var parts []ngramPart
		var names []string
		for _, i := range set {
			f := features[i]
			seen, held, parts = append(seen, f.seen), append(held, f.held), append(parts, f.part)
			names = append(names, f.name)
		}
		trainer := logisticOver(seen, train.Labels, o.Classes, ngramIterations, ngramTolerance)
		trainer.store = 5 // with hundreds of thousands of weights, these vectors are most of the work
		for _, c := range ngramGrid {
			weights, err := trainer.train(ctx, c)
			if err != nil {
				return nil, err
			}
			found, _ := predictions(scoresOf(held, weights, o.Classes), nil)
			if a := accuracy(found, validation.Labels); a > m.Accuracy {
				m.Accuracy, m.parts, m.weights = a, parts, weights
				m.Chosen = fmt.Sprintf("%s, C = %v", strings.Join(names, "+"), c)
			}
		}
	}
	return m, nil
}

// Score returns the signed distance of each example to each class, as
// Classifier.Score.
func (m *NGrams) Score(ctx context.Context, documents [][]int32) ([][]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tokens := -1
	if m.options.Embedding.Dimension > 0 {
		tokens = m.options.Embedding.Len()
	}
	if _, err := (Examples{Sequences: documents}).checkInputs(tokens); err != nil {
		return nil, err
	}
	var x beside
	for _, p := range m.parts {
		x = append(x, p.matrix(documents))
	}
	return scoresOf(x, m.weights, m.options.Classes), nil
}

// scoresOf returns the margins of each class.
func scoresOf(x design, weights [][]float64, classes int) [][]float64 {
	margins := make([][]float64, len(weights))
	for k, w := range weights {
		margins[k] = make([]float64, x.len())
		x.times(w[:len(w)-1], margins[k])
	}
	out := make([][]float64, x.len())
	for i := range out {
		row := make([]float64, classes)
		for k, w := range weights {
			row[k] = margins[k][i] + w[len(w)-1]
		}
		if classes == 2 {
			row[0], row[1] = -row[0], row[0]
		}
		out[i] = row
	}
	return out
}
