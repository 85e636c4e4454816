package models

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"gorgonia.org/tensor"

	"mldpbench/internal/list"
)

// neural is the common part of the networks over token sequences: checks,
// training, scores, saved weights.
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

func (m *neural) Save(w io.Writer) error {
	if !m.fitted {
		return errNotFitted
	}
	return saveState(w, m.name, weightData(m.weights))
}

func (m *neural) Load(r io.Reader) error {
	if m.fitted {
		return errFitted
	}
	err := loadWeights(r, m.name, m.weights)
	m.fitted = err == nil
	return err
}

func weightData(weights []*tensor.Dense) [][]float32 {
	return list.Map(weights, func(w *tensor.Dense) []float32 { return data[float32](w) })
}

// loadWeights reads weights saved by a model of the same shapes.
func loadWeights(r io.Reader, model string, weights []*tensor.Dense) error {
	var all [][]float32
	if err := loadState(r, model, &all); err != nil {
		return err
	}
	if len(all) != len(weights) {
		return fmt.Errorf("load %s: %d weight matrices: must be %d", model, len(all), len(weights))
	}
	for i, w := range weights {
		if len(all[i]) != w.Shape().TotalSize() {
			return fmt.Errorf("load %s: matrix %d has %d weights: must be %d, as embedding, hidden size and "+
				"classes have it", model, i, len(all[i]), w.Shape().TotalSize())
		}
		for _, v := range all[i] {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("load %s: a weight is not finite", model)
			}
		}
	}
	for i, w := range weights {
		copy(data[float32](w), all[i])
	}
	return nil
}
