package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"mldpbench/internal/params"
	"mldpbench/internal/stats"
)

// Encoder is the parameter that names a sentence encoder. A model that has it
// reads the vectors that this encoder gives to documents: whoever trains it makes
// them.
const Encoder = "encoder"

var (
	iterations   = params.AtLeast("iterations", 1, 1000, "iterations of L-BFGS for one value of c, at most")
	stopGradient = params.Positive("tolerance", 1e-4,
		"a fit stops where no derivative of the objective, over c times the number of texts, is larger")
	encoderParameter = Parameter{
		Name:    Encoder,
		Default: "sif",
		Legal:   "sif, a folder with model.onnx and tokenizer.json, or a name of sentence-transformers",
		Doc:     "what makes the vector of a text",
	}
)

// L2-regularised logistic regression (softmax for more than two classes) on mean
// embeddings, tf-idf or given vectors; as encoder on sentence vectors: what a
// transformer, which is not trained here itself, makes of released text.
func init() {
	Register(Definition{
		Name:       "logistic",
		Vectors:    true,
		Words:      linearWords,
		Parameters: []Parameter{linearFeatures, linearCost, iterations, stopGradient},
		New:        func(o Options) Classifier { return newLogistic("logistic", o) },
	})
	Register(Definition{
		Name:       "encoder",
		Parameters: []Parameter{encoderParameter, linearCost, iterations, stopGradient},
		New:        func(o Options) Classifier { return newLogistic("encoder", o) },
	})
}

func newLogistic(name string, o Options) Classifier {
	p := values(o.Parameters)
	stop := logisticStop{iterations: p.int("iterations"), tolerance: p.float("tolerance")}
	return newLinear(name, o, &linear{
		probabilities: true,
		trainer: func(x design, labels []int) trainer {
			return newLogisticTrainer(x, labels, o.Classes, stop)
		},
	})
}

// logisticStop says when a fit for one C ends.
type logisticStop struct {
	iterations int     // at most
	tolerance  float64 // largest component of the gradient of the objective
	store      int     // vectors that L-BFGS remembers; 0: its default
}

// logisticTrainer minimises ½|w|² + C·Σ −ln p(y|x) by L-BFGS (gonum), with
// p(y|x) = softmax of the margins; two classes share one machine with margins
// −m and m, so that p(1|x) is the logistic function of 2m. A constant feature
// holds the bias, the last weight of a machine.
//
// The objective is that over C·n, so that the tolerance means the same for any C and
// any number n of examples.
type logisticTrainer struct {
	x       design
	labels  []int
	classes int
	stop    logisticStop
	weights []float64   // machines × (width + 1), kept for the next C
	margins [][]float64 // of each machine and example, without bias, at the weights in at
	at      []float64
	slopes  [][]float64 // scratch, like margins: derivatives of the objective with respect to margins
	row     []float64   // scratch: margins, or probabilities, of the classes of one example
}

// newLogisticTrainer starts from weights of zero; labels are in [0, classes), one for each row of x.
func newLogisticTrainer(x design, labels []int, classes int, stop logisticStop) *logisticTrainer {
	t := &logisticTrainer{
		x:       x,
		labels:  labels,
		classes: classes,
		stop:    stop,
		weights: make([]float64, machines(classes)*(x.width()+1)),
		row:     make([]float64, classes),
	}
	for range machines(classes) {
		t.margins = append(t.margins, make([]float64, x.len()))
		t.slopes = append(t.slopes, make([]float64, x.len()))
	}
	return t
}

// split views a flat weight vector as machines, width + 1 numbers each.
func (t *logisticTrainer) split(flat []float64) [][]float64 {
	width := t.x.width() + 1
	var out [][]float64
	for ; len(flat) > 0; flat = flat[width:] {
		out = append(out, flat[:width:width])
	}
	return out
}

// scale is the factor of ½|w|² in the objective.
func (t *logisticTrainer) scale(c float64) float64 { return 1 / (c * float64(t.x.len())) }

// objective returns |w|²/(2·c·n) + (1/n)·Σ −ln p(y|x).
func (t *logisticTrainer) objective(flat []float64, c float64) float64 {
	loss := 0.0
	for _, w := range flat {
		loss += float64(w * w)
	}
	loss *= t.scale(c) / 2
	weights := t.split(flat)
	t.computeMargins(flat, weights)
	n := float64(t.x.len())
	for i, y := range t.labels {
		t.rowOf(i, weights)
		loss += logLoss(t.row, y) / n
	}
	return loss
}

// gradient writes that of the objective: w/(c·n) + (1/n)·Σ (dloss/dmargin)·x for each machine.
func (t *logisticTrainer) gradient(to, flat []float64, c float64) {
	scale := t.scale(c)
	for j, w := range flat {
		to[j] = w * scale
	}
	weights := t.split(flat)
	t.computeMargins(flat, weights)
	gradients := t.split(to)
	bias := t.x.width()
	n := float64(t.x.len())
	for i, y := range t.labels {
		t.rowOf(i, weights)
		stats.Softmax(t.row, t.row)
		for k, g := range gradients {
			t.slopes[k][i] = t.slope(k, y) / n
			g[bias] += t.slopes[k][i]
		}
	}
	for k, g := range gradients {
		t.x.transposed(t.slopes[k], g[:bias])
	}
}

// computeMargins computes w·x of all examples, once for the objective and the gradient at the same weights.
func (t *logisticTrainer) computeMargins(flat []float64, weights [][]float64) {
	if slices.Equal(t.at, flat) {
		return
	}
	t.at = append(t.at[:0], flat...)
	for k, w := range weights {
		t.x.times(w[:len(w)-1], t.margins[k])
	}
}

// rowOf writes the margins of the classes of an example to row.
func (t *logisticTrainer) rowOf(i int, weights [][]float64) {
	for k, w := range weights {
		t.row[k] = t.margins[k][i] + w[len(w)-1]
	}
	if t.classes == 2 {
		t.row[1] = t.row[0]
		t.row[0] = -t.row[0]
	}
}

// slope is the derivative of −ln p(y|x) with respect to the margin of machine k, given the probabilities in row. With
// two classes both margins move with the one of the machine, in opposite directions.
func (t *logisticTrainer) slope(k, y int) float64 {
	switch {
	case t.classes == 2:
		return t.row[1] - t.row[0] - float64(2*y-1)
	case k == y:
		return t.row[k] - 1
	}
	return t.row[k]
}

// train minimises from the weights of the last C. A line search without progress
// means that float64 cannot resolve a better point, so the best one so far is the result.
func (t *logisticTrainer) train(ctx context.Context, c float64) ([][]float64, error) {
	problem := optimize.Problem{
		Func:   func(w []float64) float64 { return t.objective(w, c) },
		Grad:   func(gradient, w []float64) { t.gradient(gradient, w, c) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	result, err := optimize.Minimize(problem, t.weights, &optimize.Settings{
		GradientThreshold: t.stop.tolerance,
		MajorIterations:   t.stop.iterations,
		Concurrent:        1,
	}, &optimize.LBFGS{Store: t.stop.store})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, optimize.ErrNoProgress) && !errors.Is(err, optimize.ErrLinesearcherFailure) {
		return nil, fmt.Errorf("logistic regression with c = %v: %w", c, err)
	}
	t.weights = slices.Clone(result.X)
	return t.split(slices.Clone(t.weights)), nil
}
