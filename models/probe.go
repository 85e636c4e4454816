package models

import (
	"context"
	"fmt"

	"mldpbench/stream"
)

// LinearProbe returns the predictions for test of a linear classifier (logistic
// regression, with its C chosen on validation) trained on given vectors,
// usually sentence embeddings. It measures how much a text as a whole still
// tells about its label. Unlike a classifier of tokens, it does not depend on a
// vocabulary.
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
