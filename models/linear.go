package models

import (
	"context"
	"errors"
	"fmt"
	"mldpbench/internal/params"
)

// linearGrid is searched from strong to weak regularisation; each fit starts
// from the one before.
var linearGrid = []float64{0.01, 0.1, 1, 10, 100}

var (
	// of token sequences: mean of the word vectors, or tf-idf; given vectors are taken as they are
	linearFeatures = params.OneOf("features", "mean", "tfidf")
	// cost of the loss against the squared norm of the weights; 0 chooses from linearGrid by validation accuracy
	linearCost = params.NonNegative("c", 0)
)

// linear is the common part of the linear models: features, the choice of C,
// margins. A constant feature holds the bias, which is
// regularised like any weight. Dense features are standardised on the training
// set. Two classes need one machine: the margin of class 0 is minus that of
// class 1.
//
// The weights kept are those trained on the training set alone with the chosen
// C; validation examples are used to choose, not to train, as in the other
// models.
type linear struct {
	options    Options
	newTrainer func(x rows, labels []int, o Options) trainer
	scores     func(margins []float64) // turns margins into scores in place; nil keeps margins
	fitted     bool

	// What training found.
	width   int         // of given vectors, 0 for sequences
	weights [][]float64 // machines × (features + 1), the bias last
	scaling scaling     // dense features only
	idf     []float64   // tf-idf only
}

// trainer fits machines for one C after the other.
type trainer interface {
	train(ctx context.Context, c float64) (weights [][]float64, err error)
}

func (m *linear) checkInputs(x Examples) (width int, err error) {
	tokens := -1
	switch m.features() {
	case "":
		if x.Vectors == nil {
			return 0, errors.New("reads vectors, not token sequences")
		}
	case "mean":
		tokens = m.options.Embedding.Len()
	}
	return x.checkInputs(tokens)
}

func (m *linear) Fit(ctx context.Context, train, validation Examples) (History, error) {
	history := History{Best: -1, Chosen: map[string]float64{}}
	if m.fitted {
		return history, errFitted
	}
	for _, part := range []struct {
		name string
		x    Examples
	}{{"train", train}, {"validation", validation}} {
		if err := part.x.checkLabels(part.name, m.options.Classes); err != nil {
			return history, err
		}
		width, err := m.checkInputs(part.x)
		if err != nil {
			return history, fmt.Errorf("%s: %w", part.name, err)
		}
		if part.name == "train" {
			m.width = width
		} else if width != m.width {
			return history, fmt.Errorf("validation: vectors of length %d, train has %d", width, m.width)
		}
	}

	var x rows
	if m.dense() {
		d := m.denseFeatures(train)
		m.scaling = fitScaling(d)
		m.scaling.apply(d)
		x = d
	} else {
		m.idf = inverseDocumentFrequency(train.Sequences)
		x = tfidf(m.idf, train.Sequences)
	}
	held := m.rows(validation)

	grid := linearGrid
	if c := values(m.options.Parameters).float("c"); c > 0 {
		grid = []float64{c}
	}
	trainer := m.newTrainer(x, train.Labels, m.options)
	best := -1.0
	for _, c := range grid {
		weights, err := trainer.train(ctx, c)
		if err != nil {
			return history, err
		}
		predicted, _ := predictions(margins(held, weights, m.options.Classes), nil)
		if a := accuracy(predicted, validation.Labels); a > best { // a tie goes to the smaller C
			best = a
			m.weights = weights
			history.Chosen["c"] = c
		}
	}
	history.Chosen["validation_accuracy"] = best
	m.fitted = true
	return history, nil
}

func (m *linear) dense() bool { return m.width > 0 || m.features() == "mean" }

// machines returns the number of weight vectors for a number of classes.
func machines(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// features of token sequences; "" of a model that reads vectors only.
func (m *linear) features() string {
	features, _ := m.options.Parameters[linearFeatures.Name].(string)
	return features
}

// denseFeatures returns new copies, not yet scaled.
func (m *linear) denseFeatures(x Examples) denseRows {
	if x.Vectors != nil {
		return stack(x.Vectors)
	}
	return meanVectors(m.options.Embedding, x.Sequences)
}

func (m *linear) rows(x Examples) rows {
	if m.dense() {
		d := m.denseFeatures(x)
		m.scaling.apply(d)
		return d
	}
	return tfidf(m.idf, x.Sequences)
}

// margins returns the signed scores w·x + b of every class.
func margins(x rows, weights [][]float64, classes int) [][]float64 {
	out := make([][]float64, x.len())
	for i := range out {
		out[i] = make([]float64, classes)
		for k, w := range weights {
			m := x.dot(i, w[:len(w)-1]) + w[len(w)-1]
			if classes == 2 {
				out[i][0], out[i][1] = -m, m
			} else {
				out[i][k] = m
			}
		}
	}
	return out
}

func (m *linear) Score(ctx context.Context, x Examples) ([][]float64, error) {
	if !m.fitted {
		return nil, errNotFitted
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x.Len() == 0 {
		return nil, nil
	}
	width, err := m.checkInputs(x)
	if err != nil {
		return nil, err
	}
	if width != m.width {
		return nil, fmt.Errorf("vectors of length %d: the model was trained on %d", width, m.width)
	}
	out := margins(m.rows(x), m.weights, m.options.Classes)
	if m.scores != nil {
		for _, row := range out {
			m.scores(row)
		}
	}
	return out, nil
}

func (m *linear) Predict(ctx context.Context, x Examples) ([]int, error) {
	return predictions(m.Score(ctx, x))
}
