package models

import (
	"context"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/stream"
)

// perceptron is a multilayer perceptron with ReLU between its layers, all of them Gorgonia's.
type perceptron struct {
	network
	hidden []int
}

// newPerceptron has hidden layers of these widths and reads vectors. It is trained with Adam as the other networks are.
func newPerceptron(hidden []int, classes int, seed stream.Seed) Classifier {
	m := &perceptron{
		network: network{
			schedule: schedule{
				batch:        64,
				epochs:       50,
				patience:     5,
				learningRate: 0.001,
			},
			classes: classes,
			seed:    seed.Derive("perceptron"),
		},
		hidden: hidden,
	}
	return &checked{
		learner: m,
		name:    "perceptron",
		classes: classes,
		reads:   reads{vectors: true},
	}
}

// fit makes weights for vectors of the width of those in train, and trains them.
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
		size := m.rows(rng)
		l := &perceptronLayers{
			inputs: denseRows{d: width, data: make([]float32, size*width)},
			number: make([]int32, size),
		}
		return compile(l, m.weights, rng)
	}
	return m.network.fit(ctx, train, validation)
}

// perceptronLayers are a perceptron with the vectors of a batch.
type perceptronLayers struct {
	inputs denseRows // batch × width
	number []int32   // of the label of each row
}

func (l *perceptronLayers) labels() []int32 { return l.number }

func (l *perceptronLayers) fill(x Examples, indices []int) []int {
	clear(l.inputs.data)
	for row := range l.number {
		l.number[row] = noLabel
	}
	for row, i := range indices {
		copy(l.inputs.row(row), x.Vectors[i])
		if x.Labels != nil {
			l.number[row] = int32(x.Labels[i])
		}
	}
	return consecutive(len(indices))
}

// build stacks dense layers: weights has w, in × out, and b, 1 × out, of each.
func (l *perceptronLayers) build(g *gorgonia.ExprGraph, weights gorgonia.Nodes) (*gorgonia.Node, error) {
	x := input(g, "inputs", newDense(tensor.Shape{l.inputs.len(), l.inputs.width()}, l.inputs.data))
	var err error
	for first := 0; first < len(weights); first += 2 {
		if first > 0 {
			x, err = gorgonia.Rectify(x)
			if err != nil {
				return nil, err
			}
		}
		x, err = affine(x, weights[first], weights[first+1])
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}
