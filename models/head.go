package models

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/stream"
)

// FitHead trains classifiers of frozen vectors and keeps the one that is best on
// validation examples: logistic regression with its C chosen there, and, where
// hidden is not empty, a network with such layers of ReLU on standardised
// vectors. A tie goes to the linear one. History.Chosen says which it is.
func FitHead(ctx context.Context, train, validation Examples, classes int, hidden []int, seed stream.Seed) (Classifier,
	History, error) {
	best, err := New("logistic", Options{Classes: classes, Seed: seed})
	if err != nil {
		return nil, History{}, err
	}
	if train.Vectors == nil || validation.Vectors == nil {
		return nil, History{}, fmt.Errorf("head: reads vectors, not token sequences")
	}
	history, err := best.Fit(ctx, train, validation)
	history.Chosen = "linear"
	if err == nil && len(hidden) > 0 {
		var h History
		network := newPerceptron(hidden, classes, seed, true)
		if h, err = network.Fit(ctx, train, validation); h.Accuracy > history.Accuracy {
			best, history, history.Chosen = network, h, fmt.Sprintf("network %d", hidden)
		}
	}
	if err != nil {
		return nil, History{}, fmt.Errorf("head: %w", err)
	}
	return best, history, nil
}

// perceptron is a multilayer perceptron with ReLU between its layers.
type perceptron struct {
	network
	hidden      []int
	standardise bool
	scaling     *scaling
}

func newPerceptron(hidden []int, classes int, seed stream.Seed, standardise bool) Classifier {
	m := &perceptron{hidden: hidden, standardise: standardise, network: network{classes: classes, batch: 64, epochs: 50,
		patience: 5, learningRate: 0.001, seed: seed.Derive("perceptron")}}
	return &checked{learner: m, name: "perceptron", classes: classes, reads: reads{vectors: true}}
}

func (m *perceptron) fit(ctx context.Context, train, validation Examples) (History, error) {
	width := len(train.Vectors[0])
	if m.standardise {
		own := fitScaling(vectorsOf(Embedding{}, train))
		for j := range own.Scale { // variance 1 a column, for which the layers are initialised
			own.Scale[j] *= math.Sqrt(float64(width))
		}
		m.scaling = &own
	}
	in := width
	for layer, out := range append(m.hidden[:len(m.hidden):len(m.hidden)], m.classes) {
		w := make([]float32, in*out)
		glorot(w, in, out, m.seed.Derive("weights").At(uint64(layer)))
		m.weights = append(m.weights, newDense(tensor.Shape{in, out}, w),
			newDense(tensor.Shape{1, out}, make([]float32, out)))
		in = out
	}
	m.open = func(_ Examples, rng *rand.Rand) (*graph, error) { return m.compile(width, rng != nil) }
	return m.network.fit(ctx, train, validation)
}

func (m *perceptron) compile(width int, training bool) (*graph, error) {
	size := m.size(training)
	inputs, labels := denseRows{width, make([]float32, size*width)}, make([]int32, size)
	return newGraph(&m.network, m.weights, labels, training, func(x Examples, indices []int) []int {
		clear(inputs.data)
		for row := range labels {
			labels[row] = noLabel
		}
		for row, i := range indices {
			copy(inputs.row(row), x.Vectors[i])
			if x.Labels != nil {
				labels[row] = int32(x.Labels[i])
			}
		}
		if m.scaling != nil {
			m.scaling.apply(denseRows{width, inputs.data[:len(indices)*width]})
		}
		return consecutive(len(indices))
	}, func(g *gorgonia.ExprGraph, w gorgonia.Nodes) (x *gorgonia.Node, err error) {
		x = input(g, "inputs", newDense(tensor.Shape{size, width}, inputs.data))
		for layer := 0; layer < len(w) && err == nil; layer += 2 {
			if layer > 0 {
				x, err = gorgonia.Rectify(x)
			}
			x, err = affine(w[layer], w[layer+1])(x, err)
		}
		return x, err
	})
}
