package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"mldpbench/internal/params"
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
		products:      true,
		trainer: func(x design, labels []int) trainer {
			return newLogisticTrainer(x, labels, o.Classes, stop)
		},
	})
}

// leastGradient stops any fit: gonum's default.
const leastGradient = 1e-12

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
	weights []float64 // machines × (width + 1), kept for the next C

	// At the weights in at:
	at      []float64
	margins [][]float64 // of each machine and example, without bias
	losses  []float64   // −ln p(y|x) of each example, over n
	slopes  [][]float64 // of each machine and example: derivatives of losses with respect to margins
	row     []float64   // scratch: margins, then probabilities, of more than two classes of one example
}

// newLogisticTrainer starts from weights of zero; labels are in [0, classes), one for each row of x.
func newLogisticTrainer(x design, labels []int, classes int, stop logisticStop) *logisticTrainer {
	t := &logisticTrainer{
		x:       x,
		labels:  labels,
		classes: classes,
		stop:    stop,
		weights: make([]float64, machines(classes)*(x.width()+1)),
		losses:  make([]float64, x.len()),
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
	t.evaluate(flat)
	loss := 0.0
	for _, w := range flat {
		loss += float64(w * w)
	}
	loss *= t.scale(c) / 2
	for _, v := range t.losses {
		loss += v
	}
	return loss
}

// gradient writes that of the objective: w/(c·n) + (1/n)·Σ (dloss/dmargin)·x for each machine.
func (t *logisticTrainer) gradient(to, flat []float64, c float64) {
	t.evaluate(flat)
	scale := t.scale(c)
	for j, w := range flat {
		to[j] = w * scale
	}
	bias := t.x.width()
	for k, g := range t.split(to) {
		for _, slope := range t.slopes[k] {
			g[bias] += slope
		}
		t.x.transposed(t.slopes[k], g[:bias])
	}
}

// evaluate computes losses and slopes of all examples, once for the objective and the gradient at the same weights.
func (t *logisticTrainer) evaluate(flat []float64) {
	if slices.Equal(t.at, flat) {
		return
	}
	t.at = append(t.at[:0], flat...)
	weights := t.split(flat)
	for k, w := range weights {
		t.x.times(w[:len(w)-1], t.margins[k])
	}
	n := float64(t.x.len())
	for i, y := range t.labels {
		if t.classes == 2 {
			loss, slope := lossAndSlope(t.margins[0][i]+weights[0][t.x.width()], y)
			t.losses[i] = loss / n
			t.slopes[0][i] = slope / n
			continue
		}
		for k, w := range weights {
			t.row[k] = t.margins[k][i] + w[len(w)-1]
		}
		t.losses[i] = lossAndSoftmax(t.row, y) / n
		for k, p := range t.row {
			if k == y {
				p--
			}
			t.slopes[k][i] = p / n
		}
	}
}

// lossAndSlope returns −ln p(label) of two classes of margins −m and m, and its derivative with respect to m, which
// moves both. It is lossAndSoftmax of them to the bit.
func lossAndSlope(m float64, label int) (loss, slope float64) {
	top := math.Abs(m)
	smaller := math.Exp(-top - top)
	sum := smaller + 1
	difference := 1/sum - smaller/sum // of the probabilities, the larger first
	below := 0.0                      // the label's margin, less the larger
	if m < 0 {
		difference = -difference
	}
	if m < 0 == (label == 1) {
		below = -top - top
	}
	return -(below - math.Log(sum)), difference - float64(2*label-1)
}

// lossAndSoftmax returns −ln softmax(row)[label] and replaces row by its softmax: logLoss and stats.Softmax to the bit,
// with the exponentials in common, and that of the largest number, one, left out.
func lossAndSoftmax(row []float64, label int) float64 {
	top := slices.Max(row)
	below := row[label] - top
	sum := 0.0
	for k, v := range row {
		row[k] = 1
		if v != top {
			row[k] = math.Exp(v - top)
		}
		sum += row[k]
	}
	for k := range row {
		row[k] /= sum
	}
	return -(below - math.Log(sum))
}

// gradientConverge stops where no derivative is as large as tolerance, or where gonum's default does. What gonum does
// itself takes the largest of all derivatives, twice for each step; most of the time the first one is enough.
type gradientConverge struct {
	optimize.FunctionConverge
	tolerance float64
}

// Converged says whether the location is good enough.
func (g *gradientConverge) Converged(at *optimize.Location) optimize.Status {
	for _, derivative := range at.Gradient {
		if !(math.Abs(derivative) < g.tolerance) {
			return g.FunctionConverge.Converged(at)
		}
	}
	return optimize.GradientThreshold
}

// train minimises from the weights of the last C. A line search without progress
// means that float64 cannot resolve a better point, so the best one so far is the result.
func (t *logisticTrainer) train(ctx context.Context, c float64) ([][]float64, error) {
	problem := optimize.Problem{
		Func:   func(w []float64) float64 { return t.objective(w, c) },
		Grad:   func(gradient, w []float64) { t.gradient(gradient, w, c) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	converge := &gradientConverge{
		FunctionConverge: optimize.FunctionConverge{Absolute: 1e-10, Iterations: 100}, // gonum's default
		tolerance:        max(t.stop.tolerance, leastGradient),
	}
	result, err := optimize.Minimize(problem, t.weights, &optimize.Settings{
		Converger:       converge,
		MajorIterations: t.stop.iterations,
		Concurrent:      1,
	}, &optimize.LBFGS{Store: t.stop.store, GradStopThreshold: math.NaN()})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, optimize.ErrNoProgress) && !errors.Is(err, optimize.ErrLinesearcherFailure) {
		return nil, fmt.Errorf("logistic regression with c = %v: %w", c, err)
	}
	t.weights = slices.Clone(result.X)
	return t.split(slices.Clone(t.weights)), nil
}
