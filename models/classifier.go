// Package models trains and applies text classifiers. It sees token ids,
// vectors and labels, never text.
package models

import (
	"context"
	"errors"
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

// Examples are inputs with labels: either Sequences (token ids into the
// classifier's Embedding) or Vectors (dense features, all of one length).
type Examples struct {
	Sequences [][]int32
	Vectors   [][]float32
	Labels    []int
}

// Epoch is what one pass over the training set led to.
type Epoch struct{ ValidationLoss, ValidationAccuracy float64 }

// History is the training log and the choices made by validation.
type History struct {
	Epochs []Epoch            // of networks
	Best   int                // index into Epochs of the weights kept, -1 without epochs
	Chosen map[string]float64 // e.g. the SVM's C
}

// errNotFitted is returned by Predict and Score before Fit, errFitted by a second
// Fit.
var (
	errNotFitted = errors.New("model is not trained: call Fit first")
	errFitted    = errors.New("model is already trained: build a new one to train again")
)

// Classifier is the interface of all models. Fit may be called once; all its
// randomness comes from the seed given at construction.
type Classifier interface {
	// Fit trains on train and uses validation for early stopping or for the
	// choice of parameters. A cancelled ctx stops it within one batch.
	Fit(ctx context.Context, train, validation Examples) (History, error)
	// Predict returns a class per example.
	Predict(ctx context.Context, x Examples) ([]int, error)
	// Score returns one number per example and class: probabilities or margins.
	Score(ctx context.Context, x Examples) ([][]float64, error)
}
