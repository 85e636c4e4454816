// Package models trains and applies text classifiers. It sees token ids,
// vectors and labels, never text.
//
// Of the networks, Gorgonia holds the graph, the tape and the dense layers, one of
// them of the LSTM; the fused op that does nearly all of the LSTM's multiplications,
// with its derivative, is ours, over package kernel. A test compares it with four
// steps of Gorgonia's own operations.
package models

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Embedding is a frozen table of token vectors.
type Embedding struct {
	Dimension int
	Vectors   []float32 // tokens × Dimension, row-major; a token without a vector has a zero row
}

// Len returns the number of tokens.
func (e Embedding) Len() int {
	if e.Dimension == 0 {
		return 0
	}
	return len(e.Vectors) / e.Dimension
}

// row is the vector of a token.
func (e Embedding) row(token int32) []float32 {
	return e.Vectors[int(token)*e.Dimension : (int(token)+1)*e.Dimension]
}

// Examples are inputs with labels: either Sequences (token ids into the
// classifier's Embedding) or Vectors (dense features, all of one length).
type Examples struct {
	Sequences [][]int32
	Vectors   [][]float32
	Labels    []int
}

// History is what training came to.
type History struct {
	Losses   []float64 // on validation examples after each epoch of a network
	Best     int       // index into Losses of the weights kept, -1 without epochs
	Accuracy float64   // share of validation examples found by what was kept; NaN of a model that does not validate
	Chosen   string    // by validation: "words+characters, C = 1"; "" of networks
}

// Classifier is the interface of all models. Fit may be called once; all its
// randomness comes from the seed given at construction.
type Classifier interface {
	// Fit trains on train and uses validation for early stopping or for the
	// choice of parameters. A cancelled ctx stops it within one batch.
	Fit(ctx context.Context, train, validation Examples) (History, error)
	// Score returns one number per example and class: probabilities or margins.
	Score(ctx context.Context, x Examples) ([][]float64, error)
}

// errNotFitted is returned by Score before Fit, errFitted by a second
// Fit.
var (
	errNotFitted = errors.New("model is not trained: call Fit first")
	errFitted    = errors.New("model is already trained: build a new one to train again")
)

// learner is a classifier without its checks.
type learner interface {
	fit(ctx context.Context, train, validation Examples) (History, error)
	score(ctx context.Context, x Examples) ([][]float64, error)
}

// reads are the inputs that a learner takes; anyToken lets sequences have any id.
type reads struct {
	vectors, sequences bool
	tokens             int // ids are below it
}

const anyToken = math.MaxInt

// checked is the classifier of a learner.
type checked struct {
	learner
	name    string
	classes int
	reads   reads
	width   int // of the vectors it was trained on, 0 for sequences
	fitted  bool
}

// Fit checks the examples, of which validation has the inputs of train, and trains once.
func (m *checked) Fit(ctx context.Context, train, validation Examples) (History, error) {
	if m.fitted {
		return History{Best: -1}, errFitted
	}
	width, err := m.checkExamples(train)
	if err != nil {
		return History{Best: -1}, fmt.Errorf("train: %w", err)
	}
	m.width = width
	width, err = m.checkExamples(validation)
	if err == nil {
		err = m.checkWidth(width)
	}
	if err != nil {
		return History{Best: -1}, fmt.Errorf("validation: %w", err)
	}
	h, err := m.fit(ctx, train, validation)
	m.fitted = err == nil
	return h, err
}

// checkExamples checks labels and inputs and returns the length of vectors.
func (m *checked) checkExamples(x Examples) (int, error) {
	if err := x.checkLabels(m.classes); err != nil {
		return 0, err
	}
	return m.widthOf(x)
}

// widthOf checks inputs and returns the length of vectors.
func (m *checked) widthOf(x Examples) (int, error) {
	width, err := x.checkInputs(m.reads.tokens)
	switch {
	case err != nil:
		return 0, err
	case width > 0 && !m.reads.vectors:
		return 0, fmt.Errorf("model %s reads token sequences, not vectors", m.name)
	case width == 0 && !m.reads.sequences:
		return 0, fmt.Errorf("model %s reads vectors, not token sequences", m.name)
	}
	return width, nil
}

func (m *checked) checkWidth(width int) error {
	if width != m.width {
		return fmt.Errorf("vectors of length %d: the model is trained on %d", width, m.width)
	}
	return nil
}

// Score checks that the inputs are like those of training. No examples have no scores.
func (m *checked) Score(ctx context.Context, x Examples) ([][]float64, error) {
	if !m.fitted {
		return nil, errNotFitted
	}
	if err := ctx.Err(); err != nil || x.Len() == 0 {
		return nil, err
	}
	width, err := m.widthOf(x)
	if err == nil {
		err = m.checkWidth(width)
	}
	if err != nil {
		return nil, err
	}
	return m.score(ctx, x)
}
