package models

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/params"
	"mldpbench/stream"
)

// graph is one compiled Gorgonia graph over weights that may be shared with
// other graphs.
type graph struct {
	vm      gorgonia.VM
	logits  *gorgonia.Node
	weights gorgonia.Nodes
	// fill lays out the examples with these indices in the inputs and returns
	// which of them each row holds.
	fill func(x Examples, indices []int) []int

	// For training only.
	loss    *gorgonia.Node
	adam    *adam
	moments []moments // of each weight that moveOwn does not move
	steps   int
	moveOwn func() error // moves the first adam.own weights after a step
}

// adam is the update rule of weights: Kingma & Ba 2015 with β 0.9 and 0.999 and
// ε 1e-7 (as in Keras). A gradient whose norm over all weights exceeds clip > 0
// is scaled down to it.
type adam struct {
	learningRate, clip float64
	// own is the number of leading weights that graph.moveOwn moves.
	own int
}

const adamBeta1, adamBeta2, adamEpsilon = 0.9, 0.999, 1e-7

// moments are Adam's running means of a gradient and of its square.
type moments struct{ mean, square []float32 }

func newMoments(n int) moments { return moments{make([]float32, n), make([]float32, n)} }

// part returns the moments of n weights from index at on.
func (m moments) part(at, n int) moments { return moments{m.mean[at : at+n], m.square[at : at+n]} }

// unbias holds the factors that make the moments of one step, counted from 1,
// unbiased.
type unbias struct{ mean, square float32 }

func newUnbias(step int) unbias {
	of := func(beta float64) float32 { return float32(1 / (1 - math.Pow(beta, float64(step)))) }
	return unbias{of(adamBeta1), of(adamBeta2)}
}

// move makes one step of Adam (Kingma & Ba 2015, Algorithm 1) and zeroes the
// gradient: Gorgonia adds the next gradient to the stored one. Gorgonia's own
// solver does the same in a dozen passes and copies.
func (a *adam) move(weights, gradient []float32, m moments, u unbias) {
	mean, square := m.mean[:len(weights)], m.square[:len(weights)]
	rate := float32(a.learningRate)
	for j, e := range gradient[:len(weights)] {
		mean[j] = adamBeta1*mean[j] + (1-adamBeta1)*e
		square[j] = adamBeta2*square[j] + (1-adamBeta2)*e*e
		weights[j] -= rate * (mean[j] * u.mean) / (float32(math.Sqrt(float64(square[j]*u.square))) + adamEpsilon)
	}
	clear(gradient)
}

// layers adds a network to g and returns its logits.
type layers func(g *gorgonia.ExprGraph, weights gorgonia.Nodes) (logits *gorgonia.Node, err error)

// newGraph compiles a network over weights. Inputs are tensors bound by build;
// the caller sets fill, which writes to them. With an adam the graph trains on the
// mean cross-entropy with labels, without one it only infers.
func newGraph(weights []*tensor.Dense, labels []int32, build layers, train *adam) (*graph, error) {
	building.Lock()
	defer building.Unlock()
	g := gorgonia.NewGraph()
	out := &graph{adam: train}
	for i, w := range weights { // the same numbers under a header of its own: a machine writes to headers
		out.weights = append(out.weights, gorgonia.NewTensor(g, w.Dtype(), w.Dims(), gorgonia.WithShape(w.Shape()...),
			gorgonia.WithName(fmt.Sprintf("weights%d", i)), gorgonia.WithValue(w.ShallowClone())))
	}
	var err error
	if out.logits, err = build(g, out.weights); err != nil {
		return nil, err
	}
	if train == nil {
		out.vm = gorgonia.NewTapeMachine(g)
		return out, nil
	}
	if out.loss, err = crossEntropy[float32](out.logits, input(g, "labels", vector(labels))); err != nil {
		return nil, err
	}
	if _, err := gorgonia.Grad(out.loss, out.weights...); err != nil {
		return nil, err
	}
	out.vm = gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(out.weights...))
	for _, w := range weights[train.own:] {
		out.moments = append(out.moments, newMoments(w.Shape().TotalSize()))
	}
	return out, nil
}

func (g *graph) close() { g.vm.Close() }

// run runs the graph and returns its logits, valid until the next run.
func (g *graph) run() ([]float32, error) {
	g.vm.Reset() // without it a tape machine returns the results of its last run
	if err := g.vm.RunAll(); err != nil {
		return nil, err
	}
	return data[float32](g.logits.Value()), nil
}

// infer writes the logits (len(indices) × classes) of the examples with these
// indices.
func (g *graph) infer(x Examples, indices []int, logits []float32) error {
	order := g.fill(x, indices)
	out, err := g.run()
	if err != nil {
		return err
	}
	classes := g.logits.Shape()[1]
	for row, k := range order {
		copy(logits[k*classes:(k+1)*classes], out[row*classes:])
	}
	return nil
}

// step trains on the examples with these indices and returns their mean loss
// before it.
func (g *graph) step(x Examples, indices []int) (float64, error) {
	g.fill(x, indices)
	loss, err := g.move()
	if err == nil && g.moveOwn != nil {
		err = g.moveOwn()
	}
	return loss, err
}

// move runs the graph, moves the weights and returns the loss before the step.
func (g *graph) move() (float64, error) {
	if _, err := g.run(); err != nil {
		return 0, err
	}
	loss := float64(g.loss.Value().Data().(float32))
	var square float64
	var gradients [][]float32
	for _, w := range g.weights {
		v, err := w.Grad()
		if err != nil {
			return 0, err
		}
		gradient := data[float32](v)
		gradients = append(gradients, gradient)
		for _, x := range gradient {
			square += float64(float64(x) * float64(x))
		}
	}
	if math.IsNaN(loss) || math.IsNaN(square) || math.IsInf(square, 0) {
		return 0, fmt.Errorf("training diverged: loss %v, squared gradient norm %v; lower the learning rate or clip",
			loss, square)
	}
	if norm := math.Sqrt(square); g.adam.clip > 0 && norm > g.adam.clip {
		scale := float32(g.adam.clip / norm)
		for _, gradient := range gradients {
			for i := range gradient {
				gradient[i] *= scale
			}
		}
	}
	g.steps++
	u := newUnbias(g.steps)
	for i, m := range g.moments {
		k := g.adam.own + i
		g.adam.move(data[float32](g.weights[k].Value()), gradients[k], m, u)
	}
	return loss, nil
}

// schedule holds the training settings of a network.
type schedule struct {
	batch, epochs, patience int
	last                    bool // the weights of the last epoch are kept instead of the best
}

// size is the number of examples a graph processes at a time. Scores do not
// depend on it. Larger batches share more words, and the recurrence projects
// each distinct word once.
func (s schedule) size(training bool) int {
	if training {
		return s.batch
	}
	return max(s.batch, 512)
}

// scheduleParameters holds the LSTM's defaults, chosen on plain and on privatised
// text (commit d61464d and its page have the numbers). A rate of 0.003 is as good on
// plain text but memorises the noise of CMP at ε = 5 in its first epoch; a lower
// rate, another hidden size or larger batches gain nothing more. The best of 30
// epochs is among the first 2 to 8 on privatised and 5 to 12 on plain text, and
// stopping after 3 epochs without a better one loses nothing. The clip bounds the
// effect of one unusual batch of privatised text.
var scheduleParameters = []Parameter{
	params.AtLeast("batch", 1, 64),          // examples per training step
	params.AtLeast("epochs", 1, 30),         // largest number of passes over the training set
	params.AtLeast("patience", 1, 3),        // epochs without a lower validation loss before stopping; the best weights are kept
	params.Positive("learning_rate", 0.001), // of Adam
	params.NonNegative("clip", 1.0),         // largest norm of the gradient of all weights; 0 is no limit
}

func (v values) adam() *adam {
	return &adam{learningRate: v.float("learning_rate"), clip: v.float("clip")}
}

func (v values) schedule() schedule {
	return schedule{batch: v.int("batch"), epochs: v.int("epochs"), patience: v.int("patience"),
		last: v["weights"] == "last"}
}

// fit trains with early stopping on the validation loss and keeps the best
// weights, or the last.
func (s schedule) fit(ctx context.Context, training, inference *graph, weights []*tensor.Dense, classes int,
	order *rand.Rand, train, validation Examples) (History, error) {
	history := History{Best: -1}
	indices := consecutive(train.Len())
	best := make([][]float32, len(weights))
	lowest := math.Inf(1)
	for epoch := 1; epoch <= s.epochs && epoch-history.Best-1 <= s.patience; epoch++ {
		order.Shuffle(len(indices), func(i, j int) { indices[i], indices[j] = indices[j], indices[i] })
		var line Epoch
		for batch := range slices.Chunk(indices, s.batch) {
			if err := ctx.Err(); err != nil {
				return history, err
			}
			if _, err := training.step(train, batch); err != nil {
				return history, fmt.Errorf("epoch %d: %w", epoch, err)
			}
		}
		logits, err := s.logits(ctx, inference, validation, classes)
		if err != nil {
			return history, err
		}
		right := 0
		for i, label := range validation.Labels {
			x := logits[i*classes : (i+1)*classes]
			line.ValidationLoss += logLoss(x, label) / float64(len(validation.Labels))
			if argmax(x) == label {
				right++
			}
		}
		line.ValidationAccuracy = float64(right) / float64(len(validation.Labels))
		history.Epochs = append(history.Epochs, line)
		if line.ValidationLoss < lowest {
			lowest = line.ValidationLoss
			history.Best = epoch - 1
			for i, w := range weights {
				best[i] = append(best[i][:0], data[float32](w)...)
			}
		}
	}
	if history.Best < 0 {
		return history, fmt.Errorf("training diverged: the validation loss was never finite")
	}
	if s.last {
		history.Best = len(history.Epochs) - 1
		return history, nil
	}
	for i, w := range weights {
		copy(data[float32](w), best[i])
	}
	return history, nil
}

// logits of all examples (examples × classes), in their order. Batches are made
// of sequences of similar length.
func (s schedule) logits(ctx context.Context, g *graph, x Examples, classes int) ([]float32, error) {
	out := make([]float32, x.Len()*classes)
	indices := consecutive(x.Len())
	if x.Sequences != nil {
		slices.SortStableFunc(indices, func(i, j int) int { return len(x.Sequences[j]) - len(x.Sequences[i]) })
	}
	part := make([]float32, s.size(false)*classes)
	for batch := range slices.Chunk(indices, s.size(false)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.infer(x, batch, part); err != nil {
			return nil, err
		}
		for k, i := range batch {
			copy(out[i*classes:(i+1)*classes], part[k*classes:(k+1)*classes])
		}
	}
	return out, nil
}

// softmaxRows computes the softmax of logits, row by row.
func softmaxRows(logits []float32, classes int) [][]float64 {
	var out [][]float64
	for row := range slices.Chunk(logits, classes) {
		p := make([]float64, classes)
		softmax(p, row)
		out = append(out, p)
	}
	return out
}

func consecutive(n int) []int {
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i
	}
	return indices
}

// glorot fills w (in × out) with the uniform distribution of Glorot & Bengio
// 2010, eq. 16.
func glorot(w []float32, in, out int, seed stream.Seed) {
	rng, limit := seed.Rand(), math.Sqrt(6/float64(in+out))
	for i := range w {
		w[i] = float32(limit * (2*rng.Float64() - 1))
	}
}

// orthogonal fills w (rows × columns, rows <= columns) with orthonormal rows
// of uniform distribution (Saxe et al. 2014): Gram–Schmidt on Gaussian rows,
// run twice over each row, which keeps rounding errors from adding up.
func orthogonal(w []float32, rows, columns int, seed stream.Seed) {
	rng := seed.Rand()
	basis := make([][]float64, rows)
	for i := range basis {
		v := make([]float64, columns)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 2 {
			for _, u := range basis[:i] {
				p := product(u, v)
				for j := range v {
					v[j] -= float64(p * u[j])
				}
			}
		}
		length := math.Sqrt(product(v, v))
		for j := range v {
			v[j] /= length
			w[i*columns+j] = float32(v[j])
		}
		basis[i] = v
	}
}

func product(a, b []float64) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}
