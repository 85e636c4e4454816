package models

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gorgonia.org/tensor"
)

// neural is the common part of the networks over token sequences: checks,
// training, scores.
type neural struct {
	name       string
	options    Options
	parameters values
	weights    []*tensor.Dense
	// open compiles the network for batches of x; a nil rng means inference.
	open   func(x Examples, rng *rand.Rand) (batchGraph, error)
	fitted bool
}

func (m *neural) check(name string, x Examples) error {
	if err := x.checkLabels(name, m.options.Classes); err != nil {
		return err
	}
	if err := m.checkInputs(x); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (m *neural) checkInputs(x Examples) error {
	if x.Vectors != nil {
		return fmt.Errorf("model %s reads token sequences, not vectors", m.name)
	}
	_, err := x.checkInputs(m.options.Embedding.Len())
	return err
}

func (m *neural) Fit(ctx context.Context, train, validation Examples) (History, error) {
	if m.fitted {
		return History{Best: -1}, errFitted
	}
	if err := m.check("train", train); err != nil {
		return History{Best: -1}, err
	}
	if err := m.check("validation", validation); err != nil {
		return History{Best: -1}, err
	}
	seed := m.options.Seed.Derive("network")
	training, err := m.open(train, seed.Derive("dropout").Rand())
	if err != nil {
		return History{Best: -1}, err
	}
	defer training.close()
	inference, err := m.open(validation, nil)
	if err != nil {
		return History{Best: -1}, err
	}
	defer inference.close()
	history, err := m.parameters.schedule().fit(ctx, training, inference, m.weights, m.options.Classes,
		seed.Derive("order").Rand(), train, validation)
	m.fitted = err == nil
	return history, err
}

func (m *neural) Score(ctx context.Context, x Examples) ([][]float64, error) {
	if !m.fitted {
		return nil, errNotFitted
	}
	if x.Len() == 0 {
		return nil, nil
	}
	if err := m.checkInputs(x); err != nil {
		return nil, err
	}
	inference, err := m.open(x, nil)
	if err != nil {
		return nil, err
	}
	defer inference.close()
	logits, err := m.parameters.schedule().logits(ctx, inference, x, m.options.Classes)
	if err != nil {
		return nil, err
	}
	return softmaxRows(logits, m.options.Classes), nil
}

func (m *neural) Predict(ctx context.Context, x Examples) ([]int, error) {
	return predictions(m.Score(ctx, x))
}
