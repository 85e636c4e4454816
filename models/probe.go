package models

import (
	"context"
	"fmt"

	"mldpbench/stream"
)

// LinearProbe is how well a linear classifier (logistic regression, with its C
// chosen on validation) finds the labels from given vectors, sentence
// embeddings above all: what a text still says to a reader who takes it whole.
// It returns the predictions for test. Unlike a classifier of tokens, it has
// no vocabulary of its own to lose.
func LinearProbe(ctx context.Context, train, validation, test Examples, classes int, seed stream.Seed) ([]int,
	error) {
	for _, x := range []Examples{train, validation, test} {
		if x.Vectors == nil {
			return nil, fmt.Errorf("linear probe: reads vectors, not token sequences")
		}
	}
	m, err := New("logistic", Options{Classes: classes, Seed: seed})
	if err != nil {
		return nil, err
	}
	if _, err := m.Fit(ctx, train, validation); err != nil {
		return nil, fmt.Errorf("linear probe: %w", err)
	}
	return m.Predict(ctx, test)
}
