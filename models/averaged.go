package models

import (
	"context"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func init() {
	Register(Definition{
		Name:  "averaged",
		Words: func(map[string]any) bool { return true },
		Parameters: append([]Parameter{
			{Name: "init", Default: "embedding", Fixed: true}, // word vectors before training
			{Name: "dimension", Default: 100, Fixed: true},
		}, withDefaults(scheduleParameters, map[string]any{"learning_rate": 0.005, "clip": 0.0})...),
		New: func(o Options) Classifier { return newAveraged(o).classifier("averaged", o) },
	})
}

// newAveraged makes the classifier of Joulin et al. 2017 (fastText) without
// n-grams, as used by Carvalho et al. 2023: the mean of the trainable vectors of a
// document's words → dense softmax. It is trained with Adam like the other
// networks. Each step moves only the word vectors of its batch and leaves the
// moments of all others unchanged (lazy Adam), so the cost of a step does not
// depend on the vocabulary.
func newAveraged(o Options) *network {
	m, n, d := newNetwork(o), o.Embedding.Len(), o.Embedding.Dimension
	table, dense := slices.Clone(o.Embedding.Vectors), make([]float32, d*o.Classes)
	glorot(dense, d, o.Classes, o.Seed.Derive("averaged", "weights").Derive("dense"))
	m.weights = []*tensor.Dense{
		newDense(tensor.Shape{n, d}, table),
		newDense(tensor.Shape{d, o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
	m.open = func(_ context.Context, x Examples, rng *rand.Rand) (*graph, error) {
		// The graph's weights are copies of the vectors of the words of a batch.
		size := m.size(rng != nil)
		batch := newBatch(size, n, 0)
		rows := make([]float32, min(capacity(size, x), n)*d)
		weights := []*tensor.Dense{newDense(tensor.Shape{len(rows) / d, d}, rows), m.weights[1], m.weights[2]}
		g, err := newGraph(m, weights, batch.labels, rng != nil, func(x Examples, indices []int) []int {
			order := batch.fill(x, indices)
			for k, w := range batch.words {
				copy(rows[k*d:(k+1)*d], table[int(w)*d:])
			}
			return order
		}, func(_ *gorgonia.ExprGraph, w gorgonia.Nodes) (*gorgonia.Node, error) {
			return affine(w[1], w[2])(meanRows[float32](batch, w[0]))
		})
		if err == nil && rng != nil {
			all := moments{make([]float32, len(table)), make([]float32, len(table))}
			g.move[0] = func(gradient []float32, u unbias) {
				for k, w := range batch.words {
					from, to := int(w)*d, int(w+1)*d
					m.move(table[from:to], gradient[k*d:(k+1)*d], moments{all.mean[from:to], all.square[from:to]}, u)
				}
			}
		}
		return g, err
	}
	return m
}

// meanRows adds the mean of the rows of each sequence of a batch as one op of
// rows (n × d): batch × d. An empty sequence has the mean zero.
func meanRows[T float](b *batch, rows *gorgonia.Node) (*gorgonia.Node, error) {
	d := rows.Shape()[1]
	shape := tensor.Shape{len(b.lengths), d}
	mean := make([]T, shape.TotalSize())
	out := newDense(shape, mean)
	// each calls f with the sequence and the row of every token.
	each := func(f func(sequence, row int)) {
		for t := range b.steps() {
			for i, row := range b.local[b.offset[t]:b.offset[t+1]] {
				f(i, int(row))
			}
		}
	}
	return fuse("MeanRows", rows, shape, func(from []T) gorgonia.Value {
		clear(mean)
		each(func(i, row int) {
			sum := mean[i*d : (i+1)*d]
			for j, v := range from[row*d : (row+1)*d] {
				sum[j] += v
			}
		})
		for i := range mean {
			if l := b.lengths[i/d]; l > 1 {
				mean[i] /= T(l)
			}
		}
		return out
	}, func(_ []T, gradient gorgonia.Value, to []T) {
		from := data[T](gradient)
		clear(to)
		each(func(i, row int) {
			sum, scale := to[row*d:(row+1)*d], 1/T(b.lengths[i])
			for j, v := range from[i*d : (i+1)*d] {
				sum[j] += scale * v
			}
		})
	})
}
