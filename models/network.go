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

// network is the common part of the networks: training and scores.
type network struct {
	classes                 int
	batch, epochs, patience int
	last                    bool // the weights of the last epoch are kept instead of the best
	learningRate, clip      float64
	seed                    stream.Seed // of the order of examples and of dropout
	weights                 []*tensor.Dense
	// open compiles the network for batches of x; a nil rng means inference.
	open func(ctx context.Context, x Examples, rng *rand.Rand) (*graph, error)
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
	params.AtLeast("patience", 1, 3),        // epochs without a lower validation loss, then the best weights are kept
	params.Positive("learning_rate", 0.001), // of Adam
	params.NonNegative("clip", 1.0),         // largest norm of the gradient of all weights; 0 is no limit
}

func newNetwork(o Options) *network {
	v := values(o.Parameters)
	return &network{classes: o.Classes, batch: v.int("batch"), epochs: v.int("epochs"), patience: v.int("patience"),
		last: v["weights"] == "last", learningRate: v.float("learning_rate"), clip: v.float("clip"),
		seed: o.Seed.Derive("network")}
}

// classifier is that of a network of token sequences.
func (m *network) classifier(name string, o Options) Classifier {
	return &checked{learner: m, name: name, classes: o.Classes,
		reads: reads{sequences: true, tokens: o.Embedding.Len()}}
}

// size is the number of examples a graph processes at a time. Scores do not
// depend on it. Larger batches share more words, and the recurrence projects
// each distinct word once.
func (m *network) size(training bool) int {
	if training {
		return m.batch
	}
	return max(m.batch, 512)
}

// fit trains with early stopping on the validation loss and keeps the best
// weights, or the last.
func (m *network) fit(ctx context.Context, train, validation Examples) (History, error) {
	history := History{Best: -1}
	training, err := m.open(ctx, train, m.seed.Derive("dropout").Rand())
	if err != nil {
		return history, err
	}
	defer training.vm.Close()
	inference, err := m.open(ctx, validation, nil)
	if err != nil {
		return history, err
	}
	defer inference.vm.Close()
	order, indices := m.seed.Derive("order").Rand(), consecutive(train.Len())
	best := make([][]float32, len(m.weights))
	for epoch := 1; epoch <= m.epochs && epoch-history.Best-1 <= m.patience; epoch++ {
		order.Shuffle(len(indices), func(i, j int) { indices[i], indices[j] = indices[j], indices[i] })
		for batch := range slices.Chunk(indices, m.batch) {
			if err := ctx.Err(); err != nil {
				return history, err
			}
			training.fill(train, batch)
			if err := training.step(m); err != nil {
				return history, fmt.Errorf("epoch %d: %w", epoch, err)
			}
		}
		logits, err := m.logits(ctx, inference, validation)
		if err != nil {
			return history, err
		}
		loss, right := 0.0, 0
		for i, label := range validation.Labels {
			x := logits[i*m.classes : (i+1)*m.classes]
			loss += logLoss(x, label) / float64(len(validation.Labels))
			if argmax(x) == label {
				right++
			}
		}
		better := loss < math.Inf(1) && (history.Best < 0 || loss < history.Losses[history.Best])
		history.Losses = append(history.Losses, loss)
		if better {
			history.Best = epoch - 1
			for i, w := range m.weights {
				best[i] = append(best[i][:0], data[float32](w)...)
			}
		}
		if better || m.last {
			history.Accuracy = float64(right) / float64(len(validation.Labels))
		}
	}
	if history.Best < 0 {
		return history, fmt.Errorf("training diverged: the validation loss was never finite")
	}
	if m.last {
		history.Best = len(history.Losses) - 1
		return history, nil
	}
	for i, w := range m.weights {
		copy(data[float32](w), best[i])
	}
	return history, nil
}

// logits of all examples (examples × classes), in their order. Batches are made
// of sequences of similar length.
func (m *network) logits(ctx context.Context, g *graph, x Examples) ([]float32, error) {
	out := make([]float32, x.Len()*m.classes)
	indices := consecutive(x.Len())
	if x.Sequences != nil {
		slices.SortStableFunc(indices, func(i, j int) int { return len(x.Sequences[j]) - len(x.Sequences[i]) })
	}
	for batch := range slices.Chunk(indices, m.size(false)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		order := g.fill(x, batch)
		if err := g.run(); err != nil {
			return nil, err
		}
		logits := data[float32](g.logits.Value())
		for row, k := range order {
			copy(out[batch[k]*m.classes:(batch[k]+1)*m.classes], logits[row*m.classes:])
		}
	}
	return out, nil
}

func (m *network) score(ctx context.Context, x Examples) ([][]float64, error) {
	inference, err := m.open(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	defer inference.vm.Close()
	logits, err := m.logits(ctx, inference, x)
	var out [][]float64
	for row := range slices.Chunk(logits, m.classes) {
		p := make([]float64, m.classes)
		softmax(p, row)
		out = append(out, p)
	}
	return out, err
}

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
	loss  *gorgonia.Node
	steps int
	move  []func(gradient []float32, u unbias) // of each weight
}

// newGraph compiles a network over weights: build adds it to g and returns its
// logits. While training it minimises the mean cross-entropy with labels.
func newGraph(m *network, weights []*tensor.Dense, labels []int32, training bool,
	fill func(x Examples, indices []int) []int, build func(g *gorgonia.ExprGraph, weights gorgonia.Nodes) (
		logits *gorgonia.Node, err error)) (*graph, error) {
	building.Lock()
	defer building.Unlock()
	g := gorgonia.NewGraph()
	out := &graph{fill: fill}
	for i, w := range weights { // the same numbers under a header of its own: a machine writes to headers
		out.weights = append(out.weights, input(g, fmt.Sprintf("weights%d", i), w.ShallowClone()))
		var own moments
		out.move = append(out.move, func(gradient []float32, u unbias) {
			if own.mean == nil {
				own = moments{make([]float32, len(gradient)), make([]float32, len(gradient))}
			}
			m.move(data[float32](w), gradient, own, u)
		})
	}
	var err error
	if out.logits, err = build(g, out.weights); err != nil {
		return nil, err
	}
	if !training {
		out.vm = gorgonia.NewTapeMachine(g)
		return out, nil
	}
	if out.loss, err = crossEntropy[float32](out.logits, labels); err != nil {
		return nil, err
	}
	if _, err := gorgonia.Grad(out.loss, out.weights...); err != nil {
		return nil, err
	}
	out.vm = gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(out.weights...))
	return out, nil
}

func (g *graph) run() error {
	g.vm.Reset() // without it a tape machine returns the results of its last run
	return g.vm.RunAll()
}

// step runs the graph and moves the weights. A gradient whose norm over all
// weights exceeds clip > 0 is scaled down to it.
func (g *graph) step(m *network) error {
	if err := g.run(); err != nil {
		return err
	}
	loss := float64(g.loss.Value().Data().(float32))
	var square float64
	gradients := make([][]float32, len(g.weights))
	for k, w := range g.weights {
		v, err := w.Grad()
		if err != nil {
			return err
		}
		gradients[k] = data[float32](v)
		for _, x := range gradients[k] {
			square += float64(float64(x) * float64(x))
		}
	}
	if math.IsNaN(loss) || math.IsNaN(square) || math.IsInf(square, 0) {
		return fmt.Errorf("training diverged: loss %v, squared gradient norm %v; lower the learning rate or clip", loss,
			square)
	}
	g.steps++
	u := newUnbias(g.steps)
	norm := math.Sqrt(square)
	for k, gradient := range gradients {
		if m.clip > 0 && norm > m.clip {
			for i := range gradient {
				gradient[i] *= float32(m.clip / norm)
			}
		}
		g.move[k](gradient, u)
	}
	return nil
}

// Adam is the update rule of weights: Kingma & Ba 2015 with ε 1e-7, as in Keras.
const adamBeta1, adamBeta2, adamEpsilon = 0.9, 0.999, 1e-7

// moments are Adam's running means of a gradient and of its square.
type moments struct{ mean, square []float32 }

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
func (m *network) move(weights, gradient []float32, of moments, u unbias) {
	mean, square := of.mean[:len(weights)], of.square[:len(weights)]
	rate := float32(m.learningRate)
	for j, e := range gradient[:len(weights)] {
		mean[j] = adamBeta1*mean[j] + (1-adamBeta1)*e
		square[j] = adamBeta2*square[j] + (1-adamBeta2)*e*e
		weights[j] -= rate * (mean[j] * u.mean) / (float32(math.Sqrt(float64(square[j]*u.square))) + adamEpsilon)
	}
	clear(gradient)
}

func consecutive(n int) []int {
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i
	}
	return indices
}
