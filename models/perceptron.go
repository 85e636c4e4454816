package models

import (
	"context"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/stream"
)

// perceptron is a multilayer perceptron with ReLU between its layers.
type perceptron struct {
	network
	hidden []int
}

func newPerceptron(hidden []int, classes int, seed stream.Seed) Classifier {
	m := &perceptron{hidden: hidden, network: network{classes: classes, batch: 64, epochs: 50,
		patience: 5, learningRate: 0.001, seed: seed.Derive("perceptron")}}
	return &checked{learner: m, name: "perceptron", classes: classes, reads: reads{vectors: true}}
}

func (m *perceptron) fit(ctx context.Context, train, validation Examples) (History, error) {
	width := len(train.Vectors[0])
	in := width
	for layer, out := range append(m.hidden[:len(m.hidden):len(m.hidden)], m.classes) {
		w := make([]float32, in*out)
		glorot(w, in, out, m.seed.Derive("weights").At(uint64(layer)))
		m.weights = append(m.weights, newDense(tensor.Shape{in, out}, w),
			newDense(tensor.Shape{1, out}, make([]float32, out)))
		in = out
	}
	m.open = func(_ context.Context, _ Examples, rng *rand.Rand) (*graph, error) {
		return m.compile(width, rng != nil)
	}
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
