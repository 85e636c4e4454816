package models

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/stream"
)

// Membership is what an attacker knows about a trained model: some documents it
// was trained on and some it was not.
type Membership struct {
	Model   Classifier
	Members Examples
	Others  Examples
}

// MembershipInference attacks target as in Carvalho et al. 2023, Appendix C
// (after Shokri et al. 2017 with one shadow model): a multilayer perceptron
// with two layers of 64 ReLU learns to tell members from others by the scores
// that the shadow model gives them, and is then applied to the scores of the
// target. It sees the scores only, not the label or the text.
//
// It returns, for the target's members and then its others, the attack's
// probability of membership and the truth: the input of an AUC, 0.5 for an
// attack that learns nothing. A fifth of the shadow's documents, drawn from
// seed, decides when training stops. Both models must be trained, on the same
// number of classes; the four sets should not overlap.
func MembershipInference(ctx context.Context, shadow, target Membership, seed stream.Seed) (scores []float64,
	member []bool, err error) {
	known, err := shadow.outputs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("shadow model: %w", err)
	}
	attacked, err := target.outputs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("target model: %w", err)
	}
	if a, b := len(known.Vectors[0]), len(attacked.Vectors[0]); a != b {
		return nil, nil, fmt.Errorf("shadow model has %d classes, target model %d", a, b)
	}
	seed = seed.Derive("membership")
	train, validation := known.SplitVectors(max(1, known.Len()/5), seed.Derive("split")) // there are two at least
	attack := newPerceptron(len(known.Vectors[0]), []int{64, 64}, 2, seed)
	if _, err := attack.Fit(ctx, train, validation); err != nil {
		return nil, nil, fmt.Errorf("attack: %w", err)
	}
	probabilities, err := attack.Score(ctx, attacked)
	if err != nil {
		return nil, nil, fmt.Errorf("attack: %w", err)
	}
	for i, p := range probabilities {
		scores = append(scores, p[1])
		member = append(member, attacked.Labels[i] == 1)
	}
	return scores, member, nil
}

// outputs returns the model's scores of members (label 1), then of others (0).
func (m Membership) outputs(ctx context.Context) (Examples, error) {
	var out Examples
	for _, part := range []struct {
		x     Examples
		label int
	}{{m.Members, 1}, {m.Others, 0}} {
		if part.x.Len() == 0 {
			return out, fmt.Errorf("needs members and others, has %d and %d", m.Members.Len(), m.Others.Len())
		}
		scores, err := m.Model.Score(ctx, part.x)
		if err != nil {
			return out, err
		}
		for _, s := range scores {
			v := make([]float32, len(s))
			for j := range v {
				v[j] = float32(s[j])
			}
			out.Vectors = append(out.Vectors, v)
			out.Labels = append(out.Labels, part.label)
		}
	}
	return out, nil
}

// newPerceptron makes a multilayer perceptron with ReLU between its layers.
func newPerceptron(inputs int, hidden []int, classes int, seed stream.Seed) *neural {
	m := &neural{
		name: "perceptron", options: Options{Classes: classes}, width: inputs, seed: seed.Derive("perceptron"),
		schedule: schedule{batch: 64, epochs: 50, patience: 5},
	}
	m.open = func(_ Examples, rng *rand.Rand) (*graph, error) { return m.perceptron(rng != nil) }
	in := inputs
	for layer, out := range append(hidden, classes) {
		w := make([]float32, in*out)
		glorot(w, in, out, m.seed.Derive("weights").At(uint64(layer)))
		m.weights = append(m.weights, newDense(tensor.Shape{in, out}, w),
			newDense(tensor.Shape{1, out}, make([]float32, out)))
		in = out
	}
	return m
}

func (m *neural) perceptron(training bool) (*graph, error) {
	var train *adam
	if training {
		train = &adam{learningRate: 0.001}
	}
	size := m.schedule.size(training)
	inputs, labels := make([]float32, size*m.width), make([]int32, size)
	out, err := newGraph(m.weights, labels, func(g *gorgonia.ExprGraph, w gorgonia.Nodes) (x *gorgonia.Node,
		err error) {
		x = input(g, "inputs", newDense(tensor.Shape{size, m.width}, inputs))
		for layer := 0; layer < len(w); layer += 2 {
			if layer > 0 {
				if x, err = gorgonia.Rectify(x); err != nil {
					return nil, err
				}
			}
			if x, err = affine(x, w[layer], w[layer+1]); err != nil {
				return nil, err
			}
		}
		return x, nil
	}, train)
	if err != nil {
		return nil, err
	}
	out.fill = func(x Examples, indices []int) []int {
		clear(inputs)
		for row := range labels {
			labels[row] = noLabel
		}
		for row, i := range indices {
			copy(inputs[row*m.width:(row+1)*m.width], x.Vectors[i])
			if x.Labels != nil {
				labels[row] = int32(x.Labels[i])
			}
		}
		return consecutive(len(indices))
	}
	return out, nil
}
