package models

import (
	"context"

	"mldpbench/internal/check"
)

// NGramOptions build a linear classifier of n-grams.
type NGramOptions struct {
	Classes   int
	Spelling  func(token int32) string // of n-grams of characters; nil leaves them out
	Embedding Embedding                // of mean vectors; the zero value leaves them out
}

// ngramGrid is the grid of C, from strong to weak regularisation: parts have
// length one, so the range does not depend on the number of features.
var ngramGrid = []float64{0.1, 1, 10, 100}

// ngramStop ends one fit; held-out accuracy does not move after it. With hundreds of
// thousands of weights, the vectors that L-BFGS remembers are most of the work.
var ngramStop = logisticStop{
	iterations: 60,
	tolerance:  3e-4,
	store:      5,
}

// FitNGrams trains a linear classifier of token sequences: logistic regression on
// tf-idf of words (one and two), tf-idf of the characters inside words (two to
// five, the ends of a word marked) and the mean vector. Which of these parts it
// reads, and how much it is regularised, is chosen by accuracy on validation
// examples: words alone, words with vectors, words with characters and all three
// are tried; ties go to fewer parts and stronger regularisation. Each part has
// squared length one, the mean vector on average. Scores are margins. It is
// deterministic.
//
// A document is a bag of words as far as characters and vectors are concerned,
// so these features are kept once per word and a product with all documents
// costs one product per word: tens of thousands of documents take seconds.
func FitNGrams(ctx context.Context, o NGramOptions, train, validation Examples) (Classifier, History, error) {
	if err := check.AtLeast("classes", o.Classes, 2); err != nil {
		return nil, History{}, err
	}
	in := reads{sequences: true, tokens: anyToken}
	if o.Embedding.Dimension > 0 {
		in.tokens = o.Embedding.Len()
	}
	m := &checked{
		name:    "ngrams",
		classes: o.Classes,
		reads:   in,
		learner: &linear{
			classes: o.Classes,
			grid:    ngramGrid,
			sets: [][]int{{wordPart}, {wordPart, vectorPart}, {wordPart, characterPart},
				{wordPart, characterPart, vectorPart}},
			learn:    o.learn,
			products: true,
			trainer: func(x design, labels []int) trainer {
				return newLogisticTrainer(x, labels, o.Classes, ngramStop)
			},
		},
	}
	h, err := m.Fit(ctx, train, validation)
	return m, h, err
}

// Places of the features in what learn returns.
const (
	wordPart = iota
	characterPart
	vectorPart
)

// learn makes the features of training examples.
func (o NGramOptions) learn(train Examples) []feature {
	features := make([]feature, 3)
	features[wordPart] = feature{name: "words", part: learnWordPairs(train.Sequences)}
	features[characterPart].name = "characters"
	features[vectorPart].name = "vectors"
	if o.Spelling != nil {
		features[characterPart].part = learnCharacterGrams(train.Sequences, o.Spelling)
	}
	if o.Embedding.Dimension > 0 {
		features[vectorPart].part = &means{learnDense(o.Embedding, train)}
	}
	return features
}
