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
	Register(Definition{Name: "logistic", Vectors: true, Words: linearWords,
		Parameters: []Parameter{linearFeatures, linearCost, iterations, stopGradient},
		New:        func(o Options) Classifier { return newLogistic("logistic", o) }})
	Register(Definition{Name: "encoder",
		Parameters: []Parameter{encoderParameter, linearCost, iterations, stopGradient},
		New:        func(o Options) Classifier { return newLogistic("encoder", o) }})
}

func newLogistic(name string, o Options) Classifier {
	p := values(o.Parameters)
	return newLinear(name, o, true, func(x design, labels []int) trainer {
		return newLogisticTrainer(x, labels, o.Classes, p.int("iterations"), p.float("tolerance"))
	})
}

// logisticTrainer minimises ½|w|² + C·Σ −log p(y|x) by L-BFGS (gonum), with
// p(y|x) = softmax of the margins; two classes share one machine with margins
// −m and m, so that p(1|x) is the logistic function of 2m.
type logisticTrainer struct {
	x          design
	labels     []int
	classes    int
	iterations int
	tolerance  float64
	store      int         // vectors that L-BFGS remembers; 0: its default
	weights    []float64   // machines × (width + 1), kept for the next C
	margins    [][]float64 // of each machine and example, at the weights in at
	at         []float64
	slopes     [][]float64 // scratch, like margins
}

func newLogisticTrainer(x design, labels []int, classes, iterations int, tolerance float64) *logisticTrainer {
	t := &logisticTrainer{x: x, labels: labels, classes: classes, iterations: iterations, tolerance: tolerance,
		weights: make([]float64, machines(classes)*(x.width()+1))}
	for range machines(classes) {
		t.margins = append(t.margins, make([]float64, x.len()))
		t.slopes = append(t.slopes, make([]float64, x.len()))
	}
	return t
}

// split views a flat weight vector as machines.
func (t *logisticTrainer) split(flat []float64) [][]float64 {
	width := t.x.width() + 1
	var out [][]float64
	for ; len(flat) > 0; flat = flat[width:] {
		out = append(out, flat[:width:width])
	}
	return out
}

// objective returns the loss divided by c·n or, where gradient is not nil,
// writes its gradient; the division keeps the tolerance's meaning for any
// size of training set and any c.
func (t *logisticTrainer) objective(flat []float64, c float64, gradient []float64) float64 {
	n, bias := float64(t.x.len()), t.x.width()
	scale := 1 / (c * n)
	loss := 0.0
	for _, w := range flat {
		loss += float64(w * w)
	}
	loss *= scale / 2
	for j, w := range flat {
		if gradient != nil {
			gradient[j] = w * scale
		}
	}
	weights, slopes := t.split(flat), t.split(gradient)
	row := make([]float64, t.classes)
	if !slices.Equal(t.at, flat) { // value and gradient are asked for at the same weights
		t.at = append(t.at[:0], flat...)
		for k, w := range weights {
			t.x.times(w[:bias], t.margins[k])
		}
	}
	for i, y := range t.labels {
		for k, w := range weights {
			row[k] = t.margins[k][i] + w[bias]
		}
		if t.classes == 2 {
			row[0], row[1] = -row[0], row[0]
		}
		if gradient == nil {
			loss += logLoss(row, y) / n
			continue
		}
		stats.Softmax(row, row)
		for k, g := range slopes {
			slope := row[k] // dloss/dmargin of machine k
			if t.classes == 2 {
				slope = row[1] - row[0] - float64(2*y-1) // both margins move with m, in opposite directions
			} else if k == y {
				slope--
			}
			t.slopes[k][i] = slope / n
			g[bias] += t.slopes[k][i]
		}
	}
	for k, g := range slopes {
		t.x.transposed(t.slopes[k], g[:bias])
	}
	return loss
}

func (t *logisticTrainer) train(ctx context.Context, c float64) ([][]float64, error) {
	problem := optimize.Problem{
		Func:   func(w []float64) float64 { return t.objective(w, c, nil) },
		Grad:   func(gradient, w []float64) { t.objective(w, c, gradient) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	result, err := optimize.Minimize(problem, t.weights, &optimize.Settings{
		GradientThreshold: t.tolerance,
		MajorIterations:   t.iterations,
		Concurrent:        1,
	}, &optimize.LBFGS{Store: t.store})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, optimize.ErrNoProgress) && !errors.Is(err, optimize.ErrLinesearcherFailure) {
		return nil, fmt.Errorf("logistic regression with c = %v: %w", c, err)
	}
	// A line search without progress means that float64 cannot resolve a better
	// point, so the best one so far is the result.
	t.weights = slices.Clone(result.X)
	return t.split(slices.Clone(t.weights)), nil
}
