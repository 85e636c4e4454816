package models

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gorgonia.org/tensor"

	"mldpbench/stream"
)

// neural is the common part of the networks: checks, training, scores.
type neural struct {
	name     string
	options  Options
	schedule schedule
	width    int         // of the vectors it reads; 0: it reads token sequences
	seed     stream.Seed // of the order of examples and of dropout
	weights  []*tensor.Dense
	// open compiles the network for batches of x; a nil rng means inference.
	open   func(x Examples, rng *rand.Rand) (*graph, error)
	fitted bool
}

func newNeural(name string, o Options) neural {
	return neural{name: name, options: o, schedule: values(o.Parameters).schedule(), seed: o.Seed.Derive("network")}
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
	width, err := x.checkInputs(m.options.Embedding.Len())
	if err == nil && width != m.width {
		want := "token sequences, not vectors"
		if m.width > 0 {
			want = fmt.Sprintf("vectors of length %d", m.width)
		}
		err = fmt.Errorf("model %s reads %s", m.name, want)
	}
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
	training, err := m.open(train, m.seed.Derive("dropout").Rand())
	if err != nil {
		return History{Best: -1}, err
	}
	defer training.close()
	inference, err := m.open(validation, nil)
	if err != nil {
		return History{Best: -1}, err
	}
	defer inference.close()
	history, err := m.schedule.fit(ctx, training, inference, m.weights, m.options.Classes,
		m.seed.Derive("order").Rand(), train, validation)
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
	logits, err := m.schedule.logits(ctx, inference, x, m.options.Classes)
	if err != nil {
		return nil, err
	}
	return softmaxRows(logits, m.options.Classes), nil
}

func (m *neural) Predict(ctx context.Context, x Examples) ([]int, error) {
	return predictions(m.Score(ctx, x))
}
