package models

import (
	"context"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/cores"
	"mldpbench/internal/params"
)

// dropoutParameter is the share of the last state dropped while training.
var dropoutParameter = Parameter{Name: "dropout", Default: 0.2, Legal: "in [0, 1)",
	Valid: func(x float64) bool { return x >= 0 && x < 1 }}

// The network lstm-2024 is that of lstm, whose initial weights are Keras' own; how
// it is fed and when it stops differ (train.ipynb, util/train.py of the
// replication package of Meisenbacher et al. 2024).
func init() {
	hidden := params.AtLeast("hidden", 1, 64) // size of the hidden state, per direction
	for _, d := range []struct {
		name       string
		directions int // with two, the second reads backwards
		tokenized  bool
		parameters []Parameter
	}{
		{"lstm", 1, false, append([]Parameter{hidden, dropoutParameter}, scheduleParameters...)},
		{"bilstm", 2, false, append([]Parameter{hidden, dropoutParameter}, scheduleParameters...)},
		{"lstm-2024", 1, true, append([]Parameter{
			params.AtLeast("length", 1, 500),        // tokens: the last ones of a longer text; zeros before a shorter one
			params.OneOf("weights", "last", "best"), // weights kept: those of the last epoch or of the best
			dropoutParameter,
		}, withDefaults(append([]Parameter{hidden}, scheduleParameters...), map[string]any{"hidden": 100, "clip": 0.0})...)},
	} {
		Register(Definition{Name: d.name, Parameters: d.parameters, Tokenized: d.tokenized,
			New: func(o Options) Classifier { return newLSTM(d.directions, o).classifier(d.name, o) }})
	}
}

// newLSTM makes the network of Meisenbacher et al. 2024: frozen word vectors →
// LSTM → dropout → dense softmax, trained with Adam on the cross-entropy. Padding
// is masked exactly: the state used is the one after the last token. Weights start
// as in Keras: Glorot uniform, orthogonal recurrence, forget gate bias 1, other
// biases 0.
func newLSTM(directions int, o Options) *network {
	m, p := newNetwork(o), values(o.Parameters)
	d, h := o.Embedding.Dimension, p.int("hidden")
	k, out := d+1+h, directions*h
	w, dense := make([]float32, directions*k*4*h), make([]float32, out*o.Classes)
	seed := o.Seed.Derive("lstm", "weights")
	for direction := range directions {
		part := w[direction*k*4*h : (direction+1)*k*4*h]
		glorot(part[:d*4*h], d, 4*h, seed.Derive("input").At(uint64(direction)))
		bias := part[d*4*h : (d+1)*4*h]
		for j := h; j < 2*h; j++ {
			bias[j] = 1
		}
		orthogonal(part[(d+1)*4*h:], h, 4*h, seed.Derive("recurrent").At(uint64(direction)))
	}
	glorot(dense, out, o.Classes, seed.Derive("dense"))
	m.weights = []*tensor.Dense{
		newDense(tensor.Shape{directions * k, 4 * h}, w),
		newDense(tensor.Shape{out, o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
	drop := p.float("dropout")
	m.open = func(ctx context.Context, _ Examples, rng *rand.Rand) (*graph, error) {
		padding, _ := p["length"].(int)
		batch := newBatch(m.size(rng != nil), o.Embedding.Len(), padding)
		r := newRecurrence(inFloat32, o.Embedding, h, directions, batch)
		r.free = func() int { return cores.Free(ctx) }
		if rng != nil && drop > 0 {
			r.mask = make([]float32, len(batch.lengths)*out)
		}
		return newGraph(m, m.weights, batch.labels, rng != nil, func(x Examples, indices []int) []int {
			for i := range r.mask {
				r.mask[i] = 0
				if rng.Float64() >= drop {
					r.mask[i] = float32(1 / (1 - drop))
				}
			}
			return batch.fill(x, indices)
		}, func(_ *gorgonia.ExprGraph, w gorgonia.Nodes) (*gorgonia.Node, error) {
			return affine(w[1], w[2])(lastHidden(r, w[0], rng != nil))
		})
	}
	return m
}
