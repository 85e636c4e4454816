package models

import (
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/params"
)

func init() {
	for _, d := range []struct {
		name       string
		directions int // with two, the second reads backwards
	}{{"lstm", 1}, {"bilstm", 2}} {
		Register(Definition{
			Name: d.name,
			Parameters: append([]Parameter{
				params.AtLeast("hidden", 1, 64), dropoutParameter, // size of the hidden state, per direction
			}, scheduleParameters...),
			New: func(o Options) Classifier { return newLSTM(d.name, d.directions, o) },
		})
	}
}

// dropoutParameter is the share of the last state dropped while training.
var dropoutParameter = Parameter{Name: "dropout", Default: 0.2, Legal: "in [0, 1)",
	Valid: func(x float64) bool { return x >= 0 && x < 1 }}

// lstm is the network of Meisenbacher et al. 2024: frozen word vectors → LSTM →
// dropout → dense softmax, trained with Adam on the cross-entropy. Padding is
// masked exactly: the state used is the one after the last token. Weights start
// as in Keras: Glorot uniform, orthogonal recurrence, forget gate bias 1, other
// biases 0.
type lstm struct {
	neural
	directions int
}

func newLSTM(name string, directions int, o Options) *lstm {
	m := &lstm{neural: newNeural(name, o), directions: directions}
	m.open = m.newGraph
	d, h := o.Embedding.Dimension, values(o.Parameters).int("hidden")
	k := d + 1 + h
	w := make([]float32, directions*k*4*h)
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
	out := directions * h
	dense := make([]float32, out*o.Classes)
	glorot(dense, out, o.Classes, seed.Derive("dense"))
	m.weights = []*tensor.Dense{
		newDense(tensor.Shape{directions * k, 4 * h}, w),
		newDense(tensor.Shape{out, o.Classes}, dense),
		newDense(tensor.Shape{1, o.Classes}, make([]float32, o.Classes)),
	}
	return m
}

// newGraph compiles the network for batches of x. A nil rng makes an inference
// graph.
func (m *lstm) newGraph(x Examples, rng *rand.Rand) (*graph, error) {
	training, p := rng != nil, values(m.options.Parameters)
	size := m.schedule.size(training)
	batch := newBatcher(size, capacity(size, x))
	r := newRecurrence(inFloat32, m.options.Embedding, p.int("hidden"), m.directions)
	r.padding, _ = p["length"].(int)
	batch.longest = r.padding
	var train *adam
	if training {
		train = p.adam()
	}
	drop := p.float("dropout")
	var mask []float32
	out, err := newGraph(m.weights, batch.labels, func(g *gorgonia.ExprGraph, w gorgonia.Nodes) (*gorgonia.Node,
		error) {
		state, err := lastHidden(r, input(g, "tokens", vector(batch.tokens)), input(g, "lengths", vector(batch.lengths)),
			w[0], training)
		if err == nil && training && drop > 0 {
			// The mask is an input: gorgonia.Dropout is seeded from the
			// clock and scales wrongly for shares other than one half.
			mask = make([]float32, size*r.outputs())
			state, err = gorgonia.HadamardProd(state, input(g, "mask", newDense(tensor.Shape{size, r.outputs()}, mask)))
		}
		if err != nil {
			return nil, err
		}
		return affine(state, w[1], w[2])
	}, train)
	if err != nil {
		return nil, err
	}
	out.fill = func(x Examples, indices []int) []int {
		batch.fill(x, indices)
		keep := float32(1 / (1 - drop))
		for i := range mask {
			mask[i] = 0
			if rng.Float64() >= drop {
				mask[i] = keep
			}
		}
		return batch.order
	}
	return out, nil
}

// input adds a tensor that the caller fills before each run.
func input(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewTensor(g, t.Dtype(), t.Dims(), gorgonia.WithShape(t.Shape()...), gorgonia.WithName(name),
		gorgonia.WithValue(t))
}

// affine is x·w + b for every row of x.
func affine(x, w, b *gorgonia.Node) (*gorgonia.Node, error) {
	y, err := gorgonia.Mul(x, w)
	if err != nil {
		return nil, err
	}
	return gorgonia.BroadcastAdd(y, b, nil, []byte{0})
}

func init() {
	parameters := []Parameter{
		params.AtLeast("hidden", 1, 100), // size of the hidden state
		dropoutParameter,
		params.AtLeast("length", 1, 500),        // tokens of a sequence: of a longer text the last ones, before a shorter one zeros
		params.OneOf("weights", "last", "best"), // weights kept: those of the last epoch or of the best
		params.AtLeast("patience", 1, 3),        // epochs without a lower validation loss before stopping
	}
	for _, p := range withDefaults(scheduleParameters, map[string]any{"clip": 0.0}) {
		if p.Name != "patience" {
			parameters = append(parameters, p)
		}
	}
	Register(Definition{
		Name:       "lstm-2024",
		Parameters: parameters, Tokenized: true,
		// The network is that of the model lstm, whose initial weights are Keras'
		// own; how it is fed and when it stops differ (train.ipynb, util/train.py
		// of the replication package of Meisenbacher et al. 2024).
		New: func(o Options) Classifier { return newLSTM("lstm-2024", 1, o) },
	})
}
