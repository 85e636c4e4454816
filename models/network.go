package models

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gorgonia.org/tensor"

	"mldpbench/internal/params"
	"mldpbench/internal/stats"
	"mldpbench/stream"
)

// network is the common part of the networks: training and scores.
type network struct {
	schedule
	classes int
	seed    stream.Seed // of the order of examples and of dropout
	weights []*tensor.Dense
	// open compiles the network for batches of x: for training with a source of dropout, for scores with nil.
	open func(ctx context.Context, x Examples, rng *rand.Rand) (*graph, error)
}

// schedule says how a network is trained.
type schedule struct {
	batch        int  // examples of a step
	epochs       int  // at most
	patience     int  // epochs without a lower validation loss
	keepsLast    bool // the weights of the last epoch are kept instead of the best
	learningRate float64
	clip         float64 // largest norm of the gradient of all weights; 0 is no limit
}

// scheduleParameters holds the LSTM's defaults, chosen on plain and on privatised
// text (commit d61464d and its page have the numbers). A rate of 0.003 is as good on
// plain text but memorises the noise of CMP at ε = 5 in its first epoch; a lower
// rate, another hidden size or larger batches gain nothing more. The best of 30
// epochs is among the first 2 to 8 on privatised and 5 to 12 on plain text, and
// stopping after 3 epochs without a better one loses nothing. The clip bounds the
// effect of one unusual batch of privatised text.
var scheduleParameters = []Parameter{
	params.AtLeast("batch", 1, 64, "texts of a training step"),
	params.AtLeast("epochs", 1, 30, "passes over the training texts, at most"),
	params.AtLeast("patience", 1, 3, "epochs without a lower validation loss, after which training stops"),
	params.Positive("learning_rate", 0.001, "step size of Adam: about what a weight changes in a step"),
	params.NonNegative("clip", 1.0, "largest Euclidean norm of the gradient of all weights; 0 is no limit"),
}

// newNetwork is trained by the parameters of scheduleParameters; its weights and layers are the caller's to set.
func newNetwork(o Options) *network {
	v := values(o.Parameters)
	return &network{
		schedule: schedule{
			batch:        v.int("batch"),
			epochs:       v.int("epochs"),
			patience:     v.int("patience"),
			keepsLast:    v["weights"] == "last",
			learningRate: v.float("learning_rate"),
			clip:         v.float("clip"),
		},
		classes: o.Classes,
		seed:    o.Seed.Derive("network"),
	}
}

// classifier is that of a network of token sequences.
func (m *network) classifier(name string, o Options) Classifier {
	return &checked{
		learner: m,
		name:    name,
		classes: o.Classes,
		reads:   reads{sequences: true, tokens: o.Embedding.Len()},
	}
}

// rows is the number of examples that a graph processes at a time, with a source of dropout for training.
func (m *network) rows(rng *rand.Rand) int {
	if rng != nil {
		return m.batch
	}
	return m.scoredTogether()
}

// scoredTogether is the number of examples scored at a time. Scores do not depend on it. Larger batches share more
// words, and the recurrence projects each distinct word once.
func (m *network) scoredTogether() int { return max(m.batch, 512) }

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
	order := m.seed.Derive("order").Rand()
	indices := consecutive(train.Len())
	best := make([][]float32, len(m.weights))
	for epoch := 1; epoch <= m.epochs && epoch-history.Best-1 <= m.patience; epoch++ {
		order.Shuffle(len(indices), func(i, j int) {
			indices[i], indices[j] = indices[j], indices[i]
		})
		if err := m.trainOn(ctx, training, train, indices); err != nil {
			if ctx.Err() != nil {
				return history, ctx.Err()
			}
			return history, fmt.Errorf("epoch %d: %w", epoch, err)
		}
		loss, accuracy, err := m.validate(ctx, inference, validation)
		if err != nil {
			return history, err
		}
		better := loss < math.Inf(1) && (history.Best < 0 || loss < history.Losses[history.Best])
		history.Losses = append(history.Losses, loss)
		if better {
			history.Best = epoch - 1
			m.store(best)
		}
		if better || m.keepsLast {
			history.Accuracy = accuracy
		}
	}
	if history.Best < 0 {
		return history, fmt.Errorf("training diverged: the validation loss was never finite")
	}
	if m.keepsLast {
		history.Best = len(history.Losses) - 1
		return history, nil
	}
	m.restore(best)
	return history, nil
}

// trainOn makes a step for each batch of the examples with these indices, in their order.
func (m *network) trainOn(ctx context.Context, g *graph, x Examples, indices []int) error {
	for batch := range slices.Chunk(indices, m.batch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.fill(x, batch)
		if err := g.step(m.learningRate, m.clip); err != nil {
			return err
		}
	}
	return nil
}

// store copies the weights to a place for each.
func (m *network) store(to [][]float32) {
	for i, w := range m.weights {
		to[i] = append(to[i][:0], data[float32](w)...)
	}
}

// restore copies the weights back.
func (m *network) restore(from [][]float32) {
	for i, w := range m.weights {
		copy(data[float32](w), from[i])
	}
}

// validate returns the mean cross-entropy of examples with labels, and the share whose label has the highest score.
func (m *network) validate(ctx context.Context, g *graph, x Examples) (loss, accuracy float64, err error) {
	logits, err := m.logits(ctx, g, x)
	if err != nil {
		return 0, 0, err
	}
	right := 0
	for i, label := range x.Labels {
		row := logits[i*m.classes : (i+1)*m.classes]
		loss += logLoss(row, label) / float64(len(x.Labels))
		if argmax(row) == label {
			right++
		}
	}
	return loss, float64(right) / float64(len(x.Labels)), nil
}

// logits of all examples (examples × classes), in their order. Batches are made
// of sequences of similar length.
func (m *network) logits(ctx context.Context, g *graph, x Examples) ([]float32, error) {
	out := make([]float32, x.Len()*m.classes)
	indices := consecutive(x.Len())
	if x.Sequences != nil {
		slices.SortStableFunc(indices, func(i, j int) int {
			return len(x.Sequences[j]) - len(x.Sequences[i])
		})
	}
	for batch := range slices.Chunk(indices, m.scoredTogether()) {
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

// score returns the probabilities of the classes of each example.
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
		stats.Softmax(p, row)
		out = append(out, p)
	}
	return out, err
}

func consecutive(n int) []int {
	indices := make([]int, n)
	for i := range indices {
		indices[i] = i
	}
	return indices
}
