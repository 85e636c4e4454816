package models

import (
	"context"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/cores"
	"mldpbench/internal/kernel"
	"mldpbench/internal/params"
)

var (
	hiddenParameter  = params.AtLeast("hidden", 1, 64, "numbers of the hidden state of each direction")
	dropoutParameter = Parameter{
		Name:    "dropout",
		Default: 0.2,
		Legal:   "in [0, 1)",
		Doc:     "share of the last hidden state that is dropped in training",
		Valid:   func(x float64) bool { return x >= 0 && x < 1 },
	}
	lengthParameter = params.AtLeast("length", 1, 500,
		"tokens read, the last ones of a longer text; a shorter one has zeros in front")
	weightsParameter = params.OneOf("weights",
		"weights that are kept: of the last epoch, or of the one with the lowest validation loss", "last", "best")
)

// The network lstm-2024 is that of lstm, whose initial weights are Keras' own; how it is fed and when it stops differ
// (train.ipynb, util/train.py of the replication package of Meisenbacher et al. 2024).
func init() {
	parameters := append([]Parameter{hiddenParameter, dropoutParameter}, scheduleParameters...)
	registerLSTM(Definition{Name: "lstm", Parameters: parameters}, 1)
	registerLSTM(Definition{Name: "bilstm", Parameters: parameters}, 2)
	of2024 := append([]Parameter{lengthParameter, weightsParameter, dropoutParameter, hiddenParameter},
		scheduleParameters...)
	registerLSTM(Definition{
		Name:       "lstm-2024",
		Parameters: withDefaults(of2024, map[string]any{"hidden": 100, "clip": 0.0}),
		Tokenized:  true,
	}, 1)
}

// registerLSTM registers a network that reads in one direction or two.
func registerLSTM(d Definition, directions int) {
	d.New = func(o Options) Classifier { return newLSTM(directions, o).classifier(d.Name, o) }
	Register(d)
}

// newLSTM makes the network of Meisenbacher et al. 2024: frozen word vectors →
// LSTM → dropout → dense softmax, trained with Adam on the cross-entropy. Padding
// is masked exactly: the state used is the one after the last token.
func newLSTM(directions int, o Options) *network {
	m := newNetwork(o)
	p := values(o.Parameters)
	size := layerSize{
		d:          o.Embedding.Dimension,
		h:          p.int("hidden"),
		directions: directions,
	}
	m.weights = lstmWeights(size, o)
	dropout := p.float("dropout")
	padding, _ := p["length"].(int)
	m.open = func(ctx context.Context, _ Examples, rng *rand.Rand) (*graph, error) {
		batch := newBatch(m.rows(rng), o.Embedding.Len(), padding)
		r := newRecurrence(inFloat32, o.Embedding, size, batch)
		r.free = func() int { return cores.Free(ctx) }
		l := &lstmLayers{
			recurrence: r,
			dropout:    dropout,
			rng:        rng,
		}
		if rng != nil && dropout > 0 {
			r.mask = resized(r.mask, len(batch.lengths), size.outputs())
		}
		return compile(l, m.weights, rng)
	}
	return m
}

// lstmWeights are those of the recurrence, (directions·(d+1+h)) × 4h, and of the dense layer, outputs × classes and
// 1 × classes. They start as in Keras: Glorot uniform, orthogonal recurrence, forget gate bias 1, other biases 0.
func lstmWeights(size layerSize, o Options) []*tensor.Dense {
	seed := o.Seed.Derive("lstm", "weights")
	d := size.d
	h := size.h
	length := size.width() * 4 * h
	recurrent := make([]float32, size.directions*length)
	for direction := range size.directions {
		w := recurrent[direction*length : (direction+1)*length]
		glorot(w[:d*4*h], d, 4*h, seed.Derive("input").At(uint64(direction)))
		bias := w[d*4*h : (d+1)*4*h]
		for j := h; j < 2*h; j++ {
			bias[j] = 1
		}
		orthogonal(w[(d+1)*4*h:], h, 4*h, seed.Derive("recurrent").At(uint64(direction)))
	}
	dense := make([]float32, size.outputs()*o.Classes)
	glorot(dense, size.outputs(), o.Classes, seed.Derive("dense"))
	return []*tensor.Dense{
		newDense(tensor.Shape{size.directions * size.width(), 4 * h}, recurrent),
		newDense(tensor.Shape{size.outputs(), o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
}

// lstmLayers are an LSTM, dropout of its output and a dense layer, for one batch.
type lstmLayers struct {
	recurrence *recurrence[float32]
	dropout    float64    // share of the output that is dropped
	rng        *rand.Rand // nil without training
}

func (l *lstmLayers) labels() []int32 { return l.recurrence.batch.labels }

// fill draws the dropout of the batch too: a number of the output is kept, and divided by the share that is.
func (l *lstmLayers) fill(x Examples, indices []int) []int {
	mask := l.recurrence.mask.Data
	for i := range mask {
		mask[i] = 0
		if l.rng.Float64() >= l.dropout {
			mask[i] = float32(1 / (1 - l.dropout))
		}
	}
	return l.recurrence.batch.fill(x, indices)
}

func (l *lstmLayers) build(_ *gorgonia.ExprGraph, weights gorgonia.Nodes) (*gorgonia.Node, error) {
	pass := l.recurrence.forward
	if l.rng == nil {
		pass = l.recurrence.infer
	}
	hidden, err := lastHidden(l.recurrence, pass, weights[0])
	if err != nil {
		return nil, err
	}
	return affine(hidden, weights[1], weights[2])
}

// lastHidden adds the whole recurrence as one op of its weights: batch × outputs. The token vectors are frozen, so the
// only derivative is that of the weights. pass is forward, or infer where no derivative is taken.
func lastHidden[T float](r *recurrence[T], pass func(w, out kernel.Matrix[T]), weights *gorgonia.Node) (*gorgonia.Node,
	error) {
	shape := tensor.Shape{len(r.batch.lengths), r.outputs()}
	out := newDense(shape, make([]T, shape.TotalSize()))
	return fuse("LSTM", weights, shape, &recurrenceLayer[T]{
		recurrence: r,
		pass:       pass,
		out:        out,
	})
}

// recurrenceLayer is a recurrence as an op.
type recurrenceLayer[T float] struct {
	recurrence *recurrence[T]
	pass       func(w, out kernel.Matrix[T])
	out        *tensor.Dense // batch × outputs
}

func (l *recurrenceLayer[T]) forward(w []T) gorgonia.Value {
	r := l.recurrence
	l.pass(r.weightMatrix(w), r.outputMatrix(data[T](l.out)))
	return l.out
}

func (l *recurrenceLayer[T]) backward(w []T, gradient gorgonia.Value, to []T) {
	r := l.recurrence
	r.backward(r.weightMatrix(w), r.outputMatrix(data[T](gradient)), r.weightMatrix(to))
}
