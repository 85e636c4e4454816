package models

import (
	"context"
	"fmt"
	"math"

	"mldpbench/stream"
)

// Head is a classifier of given vectors.
type Head struct {
	Chosen string // "linear", or the sizes of the hidden layers
	score  func(ctx context.Context, x Examples) ([][]float64, error)
}

// Score returns a score per vector and class, in the units of what was chosen.
func (h *Head) Score(ctx context.Context, vectors [][]float32) ([][]float64, error) {
	if vectors == nil {
		return nil, fmt.Errorf("head: reads vectors, not token sequences")
	}
	return h.score(ctx, Examples{Vectors: vectors})
}

// Predict returns a class per vector.
func (h *Head) Predict(ctx context.Context, vectors [][]float32) ([]int, error) {
	return predictions(h.Score(ctx, vectors))
}

// FitHead trains classifiers of frozen vectors and keeps the one that is best on
// validation examples: logistic regression with its C chosen there, and, where
// hidden is not empty, a network with such layers of ReLU on standardised
// vectors. A tie goes to the linear one.
func FitHead(ctx context.Context, train, validation Examples, classes int, hidden []int, seed stream.Seed) (*Head,
	error) {
	if train.Vectors == nil || validation.Vectors == nil {
		return nil, fmt.Errorf("head: reads vectors, not token sequences")
	}
	m, err := New("logistic", Options{Classes: classes, Seed: seed})
	if err != nil {
		return nil, err
	}
	if _, err := m.Fit(ctx, train, validation); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	h := &Head{Chosen: "linear", score: m.Score}
	if len(hidden) == 0 {
		return h, nil
	}
	own := fitScaling(stack(train.Vectors))
	for j := range own.Scale { // variance 1 a column, for which the layers are initialised
		own.Scale[j] *= math.Sqrt(float64(len(own.Scale)))
	}
	scaled := func(x Examples) Examples {
		d := stack(x.Vectors)
		own.apply(d)
		out := Examples{Labels: x.Labels}
		for i := range d.len() {
			out.Vectors = append(out.Vectors, d.row(i))
		}
		return out
	}
	network := newPerceptron(len(train.Vectors[0]), hidden, classes, seed)
	if _, err := network.Fit(ctx, scaled(train), scaled(validation)); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	byNetwork := func(ctx context.Context, x Examples) ([][]float64, error) {
		return network.Score(ctx, scaled(x))
	}
	linear, err := predictions(h.score(ctx, validation))
	if err != nil {
		return nil, err
	}
	other, err := predictions(byNetwork(ctx, validation))
	if err != nil {
		return nil, err
	}
	if accuracy(other, validation.Labels) > accuracy(linear, validation.Labels) {
		h.Chosen, h.score = fmt.Sprintf("network %d", hidden), byNetwork
	}
	return h, nil
}
