package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/params"
	"mldpbench/internal/stats"
)

// linearGrid is searched from strong to weak regularisation; each fit starts
// from the one before.
var linearGrid = []float64{0.01, 0.1, 1, 10, 100}

var (
	linearFeatures = params.OneOf("features",
		"what a text is read as: the mean of its word vectors, or tf-idf; vectors of texts are read as they are",
		"mean", "tfidf")
	linearCost = params.NonNegative("c", 0,
		"weight of the loss of a text against half the squared norm of the weights; 0 chooses .01, .1, 1, 10 or 100 "+
			"by validation accuracy")
)

// linearWords reports whether a linear model with these parameters learns something of each word.
func linearWords(parameters map[string]any) bool { return parameters[linearFeatures.Name] == "tfidf" }

// linear is the common part of the linear models: features, the choice of C and
// of features by accuracy on validation examples, margins. A constant feature
// holds the bias, which is regularised like any weight. Two classes need one
// machine: the margin of class 0 is minus that of class 1.
//
// The weights kept are those trained on the training set alone with what was
// chosen; validation examples are used to choose, not to train, as in the other
// models.
type linear struct {
	classes       int
	grid          []float64 // of C; a tie goes to the smaller one
	learn         func(train Examples) []feature
	sets          [][]int // of features that are tried together; a tie goes to the earlier one
	trainer       func(x design, labels []int) trainer
	products      bool // the trainer takes many products with all examples
	probabilities bool // scores are the softmax of margins

	// What training chose.
	parts   []part
	weights [][]float64 // machines × (features + 1), the bias last
}

// feature is a part of the input, nil for one that is left out, and its name.
type feature struct {
	name string
	part part
}

// part is one kind of feature, with what it learned of training examples.
type part interface {
	matrix(x Examples) design
}

// trainer fits machines for one C after the other.
type trainer interface {
	train(ctx context.Context, c float64) (weights [][]float64, err error)
}

// newLinear completes a model of the registry: one of given vectors or of sequences.
func newLinear(name string, o Options, m *linear) Classifier {
	features, _ := o.Parameters[linearFeatures.Name].(string)
	m.classes = o.Classes
	m.sets = [][]int{{0}}
	m.grid = linearGrid
	c := values(o.Parameters).float("c")
	if c > 0 {
		m.grid = []float64{c}
	}
	m.learn = func(train Examples) []feature {
		if train.Vectors == nil && features == "tfidf" {
			return []feature{{part: learnWords(train.Sequences)}}
		}
		return []feature{{part: learnDense(o.Embedding, train)}}
	}
	in := reads{vectors: true, sequences: features != "", tokens: anyToken}
	if features == "mean" {
		in.tokens = o.Embedding.Len()
	}
	return &checked{learner: m, name: name, classes: o.Classes, reads: in}
}

// fit tries each set of features with each C and keeps what is most accurate on validation examples.
func (m *linear) fit(ctx context.Context, train, validation Examples) (History, error) {
	history := History{Best: -1, Accuracy: -1}
	features := m.learn(train)
	seen := designs(features, train)
	held := designs(features, validation)
	if m.products {
		seen = list.Map(seen, pack)
	}
	for _, set := range m.sets {
		if slices.ContainsFunc(set, func(i int) bool { return features[i].part == nil }) {
			continue
		}
		trainer := m.trainer(join(set, seen), train.Labels)
		heldOut := join(set, held)
		for _, c := range m.grid {
			weights, err := trainer.train(ctx, c)
			if err != nil {
				return history, err
			}
			a := accuracy(margins(heldOut, weights, m.classes), validation.Labels)
			if a > history.Accuracy {
				m.weights = weights
				m.parts = list.Map(set, func(i int) part { return features[i].part })
				history.Accuracy = a
				history.Chosen = chosen(features, set, c)
			}
			if a == 1 {
				return history, nil // nothing is more accurate
			}
		}
	}
	return history, nil
}

// designs are the matrices of features of examples, nil for one that is left out.
func designs(features []feature, x Examples) []design {
	out := make([]design, len(features))
	for i, f := range features {
		if f.part != nil {
			out[i] = f.part.matrix(x)
		}
	}
	return out
}

// chosen says which features and which C: "words+characters, C = 1", "C = 1" of one without a name.
func chosen(features []feature, set []int, c float64) string {
	names := strings.Join(list.Map(set, func(i int) string { return features[i].name }), "+")
	if names == "" {
		return fmt.Sprintf("C = %v", c)
	}
	return fmt.Sprintf("%s, C = %v", names, c)
}

// score returns the margins of the classes of each example, or their softmax.
func (m *linear) score(_ context.Context, x Examples) ([][]float64, error) {
	parts := list.Map(m.parts, func(p part) design { return p.matrix(x) })
	out := margins(join(consecutive(len(parts)), parts), m.weights, m.classes)
	if m.probabilities {
		for _, row := range out {
			stats.Softmax(row, row)
		}
	}
	return out, nil
}

// join puts some of the parts side by side.
func join(set []int, parts []design) design {
	if len(set) == 1 {
		return parts[set[0]]
	}
	return beside(list.Map(set, func(i int) design { return parts[i] }))
}

// machines returns the number of weight vectors for a number of classes.
func machines(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// margins returns the signed scores w·x + b of every class: examples × classes, of weights that are machines ×
// (features + 1).
func margins(x design, weights [][]float64, classes int) [][]float64 {
	out := make([][]float64, x.len())
	for i := range out {
		out[i] = make([]float64, classes)
	}
	products := make([]float64, x.len())
	for k, w := range weights {
		bias := w[len(w)-1]
		x.times(w[:len(w)-1], products)
		for i, product := range products {
			m := product + bias
			if classes == 2 {
				out[i][0] = -m
				out[i][1] = m
			} else {
				out[i][k] = m
			}
		}
	}
	return out
}
