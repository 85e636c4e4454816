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
	m := newNetwork(o)
	n := o.Embedding.Len()
	d := o.Embedding.Dimension
	table := slices.Clone(o.Embedding.Vectors)
	dense := make([]float32, d*o.Classes)
	glorot(dense, d, o.Classes, o.Seed.Derive("averaged", "weights").Derive("dense"))
	m.weights = []*tensor.Dense{
		newDense(tensor.Shape{n, d}, table),
		newDense(tensor.Shape{d, o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
	m.open = func(_ context.Context, x Examples, rng *rand.Rand) (*graph, error) {
		size := m.rows(rng)
		most := min(capacity(size, x), n)
		l := &averagedLayers{
			batch: newBatch(size, n, 0),
			table: denseRows{d: d, data: table},
			rows:  denseRows{d: d, data: make([]float32, most*d)},
		}
		weights := slices.Clone(m.weights)
		weights[0] = newDense(tensor.Shape{most, d}, l.rows.data)
		g, err := compile(l, weights, rng)
		if err == nil && rng != nil {
			g.movers[0] = &batchRows{
				batch:   l.batch,
				table:   l.table,
				moments: newMoments(len(table)),
			}
		}
		return g, err
	}
	return m
}

// averagedLayers are the mean of word vectors and a dense layer, for one batch.
type averagedLayers struct {
	batch *batch
	table denseRows // tokens × d
	rows  denseRows // those of the words of the batch, then of no word: the weight of the graph
}

func (l *averagedLayers) labels() []int32 { return l.batch.labels }

func (l *averagedLayers) fill(x Examples, indices []int) []int {
	order := l.batch.fill(x, indices)
	for k, w := range l.batch.words {
		copy(l.rows.row(k), l.table.row(int(w)))
	}
	return order
}

func (l *averagedLayers) build(_ *gorgonia.ExprGraph, weights gorgonia.Nodes) (*gorgonia.Node, error) {
	mean, err := meanRows[float32](l.batch, weights[0])
	if err != nil {
		return nil, err
	}
	return affine(mean, weights[1], weights[2])
}

// batchRows moves the rows of the table that the words of a batch have.
type batchRows struct {
	batch   *batch
	table   denseRows
	moments moments
}

func (b *batchRows) move(s adamStep, gradient []float32) {
	d := b.table.d
	for k, w := range b.batch.words {
		from := int(w) * d
		s.move(b.table.row(int(w)), gradient[k*d:(k+1)*d], b.moments.part(from, from+d))
	}
}

// meanRows adds the mean of the rows of each sequence of a batch as one op of
// rows (n × d): batch × d. An empty sequence has the mean zero.
func meanRows[T float](b *batch, rows *gorgonia.Node) (*gorgonia.Node, error) {
	d := rows.Shape()[1]
	shape := tensor.Shape{len(b.lengths), d}
	mean := make([]T, shape.TotalSize())
	return fuse("MeanRows", rows, shape, &meanLayer[T]{
		batch: b,
		d:     d,
		mean:  mean,
		out:   newDense(shape, mean),
	})
}

// meanLayer is the mean as an op: the derivative of a row is the sum of those of the sequences that have it, each over
// its number of tokens.
type meanLayer[T float] struct {
	batch *batch
	d     int
	mean  []T // batch × d, the numbers of out
	out   *tensor.Dense
}

// each calls f with the sequence and the row of every token.
func (l *meanLayer[T]) each(f func(sequence, row int)) {
	b := l.batch
	for t := range b.steps() {
		for i, row := range b.local[b.offset[t]:b.offset[t+1]] {
			f(i, int(row))
		}
	}
}

func (l *meanLayer[T]) forward(from []T) gorgonia.Value {
	clear(l.mean)
	l.each(func(i, row int) { add(l.mean[i*l.d:(i+1)*l.d], from[row*l.d:(row+1)*l.d]) })
	for i := range l.mean {
		if n := l.batch.lengths[i/l.d]; n > 1 {
			l.mean[i] /= T(n)
		}
	}
	return l.out
}

func (l *meanLayer[T]) backward(_ []T, gradient gorgonia.Value, to []T) {
	from := data[T](gradient)
	clear(to)
	l.each(func(i, row int) {
		sum := to[row*l.d : (row+1)*l.d]
		share := 1 / T(l.batch.lengths[i])
		for j, v := range from[i*l.d : (i+1)*l.d] {
			sum[j] += share * v
		}
	})
}
