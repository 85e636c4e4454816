package models

import (
	"math/rand/v2"
	"mldpbench/internal/params"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func init() {
	Register(Definition{
		Name: "averaged",
		Parameters: append([]Parameter{
			params.OneOf("init", "embedding", "random"), // word vectors before training
			params.AtLeast("dimension", 1, 100),         // of random word vectors
		}, withDefaults(scheduleParameters, map[string]any{"learning_rate": 0.005, "clip": 0.0})...),
		New: func(o Options) Classifier { return newAveraged(o) },
	})
}

// averaged is the classifier of Joulin et al. 2017 (fastText) without n-grams,
// as used by Carvalho et al. 2023: the mean of the trainable vectors of a
// document's words → dense softmax. It is trained with Adam like the other
// networks. Each step moves only the word vectors of its batch and leaves the
// moments of all others unchanged (lazy Adam), so the cost of a step does not
// depend on the vocabulary.
type averaged struct {
	neural
	d int
}

func newAveraged(o Options) *averaged {
	m := &averaged{neural: newNeural("averaged", o), d: o.Embedding.Dimension}
	m.open = func(x Examples, rng *rand.Rand) (*graph, error) { return m.newGraph(x, rng != nil) }
	seed := o.Seed.Derive("averaged", "weights")
	table := slices.Clone(o.Embedding.Vectors)
	if values(o.Parameters).text("init") == "random" {
		n := o.Embedding.Len()
		m.d = values(o.Parameters).int("dimension")
		table = make([]float32, n*m.d)
		rng := seed.Derive("table").Rand()
		for i := range table { // uniform in ±1/d as in fastText
			table[i] = float32((2*rng.Float64() - 1) / float64(m.d))
		}
	}
	dense := make([]float32, m.d*o.Classes)
	glorot(dense, m.d, o.Classes, seed.Derive("dense"))
	m.weights = []*tensor.Dense{
		newDense(tensor.Shape{len(table) / m.d, m.d}, table),
		newDense(tensor.Shape{m.d, o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
	return m
}

// averagedBatch works on the distinct tokens of a batch: their vectors are
// copied into rows, one of the graph's weights.
type averagedBatch struct {
	*batcher
	m     *averaged
	words []int32 // the token of each row in use
	local []int32 // the row of each token of the batch
	row   []int32 // the row of every token in the vocabulary, -1 outside the batch
	rows  *tensor.Dense
}

func (m *averaged) newGraph(x Examples, training bool) (*graph, error) {
	size := m.schedule.size(training)
	most := capacity(size, x)
	distinct := min(most, m.options.Embedding.Len())
	b := &averagedBatch{
		m: m, batcher: newBatcher(size, most),
		local: make([]int32, most), row: slices.Repeat([]int32{-1}, m.options.Embedding.Len()),
		rows: newDense(tensor.Shape{distinct, m.d}, make([]float32, distinct*m.d)),
	}
	var train *adam
	if training {
		train = values(m.options.Parameters).adam()
		train.own = 1
	}
	out, err := newGraph([]*tensor.Dense{b.rows, m.weights[1], m.weights[2]}, b.labels,
		func(g *gorgonia.ExprGraph, w gorgonia.Nodes) (*gorgonia.Node, error) {
			mean, err := meanRows[float32](input(g, "tokens", vector(b.local)),
				input(g, "lengths", vector(b.lengths)), w[0])
			if err != nil {
				return nil, err
			}
			return affine(mean, w[1], w[2])
		}, train)
	if err != nil {
		return nil, err
	}
	out.fill = b.fill
	if training {
		moments := newMoments(len(data[float32](m.weights[0])))
		out.moveOwn = func() error { return b.move(out, moments) }
	}
	return out, nil
}

// fill lays out a batch and copies the vectors of its words into rows.
func (g *averagedBatch) fill(x Examples, indices []int) []int {
	g.batcher.fill(x, indices)
	total := 0
	for _, l := range g.lengths {
		total += int(l)
	}
	g.words = g.words[:0]
	table, rows := data[float32](g.m.weights[0]), data[float32](g.rows)
	d := g.m.d
	for k, id := range g.tokens[:total] {
		if g.row[id] < 0 {
			g.row[id] = int32(len(g.words))
			copy(rows[len(g.words)*d:(len(g.words)+1)*d], table[int(id)*d:])
			g.words = append(g.words, id)
		}
		g.local[k] = g.row[id]
	}
	for _, id := range g.words {
		g.row[id] = -1
	}
	return g.order
}

// move makes a step of the vectors of the words of the batch.
func (g *averagedBatch) move(trained *graph, all moments) error {
	v, err := trained.weights[0].Grad()
	if err != nil {
		return err
	}
	gradient, table, d, u := data[float32](v), data[float32](g.m.weights[0]), g.m.d, newUnbias(trained.steps)
	for k, id := range g.words {
		at := int(id) * d
		trained.adam.move(table[at:at+d], gradient[k*d:(k+1)*d], all.part(at, d), u)
	}
	return nil
}

// meanRows adds the mean of the rows of each sequence of a packed batch as one
// op: tokens (int32, packed) → lengths (int32) → rows (n × d) → batch × d.
// An empty sequence has the mean zero.
func meanRows[T float](tokens, lengths, rows *gorgonia.Node) (*gorgonia.Node, error) {
	d := rows.Shape()[1]
	shape := tensor.Shape{lengths.Shape()[0], d}
	out := newDense(shape, make([]T, shape.TotalSize()))
	var batch packed
	// each calls f with the sequence and the row of every token.
	each := func(f func(sequence, row int)) {
		for t := range batch.steps() {
			for i := range batch.active[t] {
				f(i, int(batch.tokens[batch.position(t, i, false)]))
			}
		}
	}
	return fuse("MeanRows", gorgonia.Nodes{tokens, lengths, rows}, 2, shape, matrixOf(dtypeOf[T]()),
		func(in []gorgonia.Value) (gorgonia.Value, error) {
			if err := batch.set(data[int32](in[0]), data[int32](in[1])); err != nil {
				return nil, err
			}
			from, to := data[T](in[2]), data[T](out)
			clear(to)
			each(func(i, id int) {
				sum := to[i*d : (i+1)*d]
				for j, v := range from[id*d : (id+1)*d] {
					sum[j] += v
				}
			})
			for i := range to {
				if l := batch.lengths[i/d]; l > 1 {
					to[i] /= T(l)
				}
			}
			return out, nil
		}, func(in []gorgonia.Value, drows gorgonia.Value) {
			from, to := data[T](in[4]), data[T](drows)
			clear(to)
			each(func(i, id int) {
				sum, scale := to[id*d:(id+1)*d], 1/T(batch.lengths[i])
				for j, v := range from[i*d : (i+1)*d] {
					sum[j] += scale * v
				}
			})
		})
}
