package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"mldpbench/internal/kernel"
	"mldpbench/stream"
)

// topics makes documents whose words come mostly from the topic of their
// label: words [label·per, (label+1)·per), otherwise any word. Word vectors
// are Gaussian around a centre per topic.
func topics(seed uint64, classes, per, dimension int) (Embedding, func(n, length int) Examples) {
	rng := stream.FromUint64(seed).Rand()
	e := Embedding{Dimension: dimension}
	for range classes {
		centre := make([]float64, dimension)
		for j := range centre {
			centre[j] = 0.5 * rng.NormFloat64()
		}
		for range per {
			for j := range dimension {
				e.Vectors = append(e.Vectors, float32(centre[j]+rng.NormFloat64()))
			}
		}
	}
	return e, func(n, length int) Examples {
		var x Examples
		for i := range n {
			label := i % classes
			s := make([]int32, 5+rng.IntN(length))
			for t := range s {
				s[t] = int32(rng.IntN(classes * per))
				if rng.Float64() < 0.5 {
					s[t] = int32(label*per + rng.IntN(per))
				}
			}
			x.Sequences = append(x.Sequences, s)
			x.Labels = append(x.Labels, label)
		}
		return x
	}
}

// clouds are Gaussian clouds, one per class.
func clouds(rng *rand.Rand, n, classes, dimension int, distance float64) Examples {
	var x Examples
	for i := range n {
		label := i % classes
		v := make([]float32, dimension)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		v[label%dimension] += float32(distance)
		x.Vectors = append(x.Vectors, v)
		x.Labels = append(x.Labels, label)
	}
	return x
}

// fitted trains a model and returns it with what it learned, as text.
func fitted(t testing.TB, name string, o Options, train, validation Examples) (*checked, History, string) {
	t.Helper()
	m, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Fit(t.Context(), train, validation)
	if err != nil {
		t.Fatal(err)
	}
	c, learned := m.(*checked), ""
	switch l := c.learner.(type) {
	case *linear:
		learned = fmt.Sprint(l.weights)
	case *network:
		for _, w := range l.weights {
			learned += fmt.Sprintf("%x", data[float32](w))
		}
	}
	return c, h, learned
}

func scores(t testing.TB, m Classifier, x Examples) [][]float64 {
	t.Helper()
	s, err := m.Score(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustFind fails if fewer than a share of the labels are found.
func mustFind(t testing.TB, m Classifier, x Examples, least float64) {
	t.Helper()
	if a := accuracy(scores(t, m, x), x.Labels); a < least {
		t.Errorf("accuracy %.3f, want %v", a, least)
	}
}

// inFloat64 is the arithmetic for checking derivatives against differences.
var inFloat64 = arithmetic[float64]{plainProduct, plainTransposedProduct, kernel.ReferenceCellForward[float64],
	kernel.ReferenceCellBackward[float64]}

// newTestRecurrence is in either arithmetic.
func newTestRecurrence[T float](e Embedding, hidden, directions int, b *batch) *recurrence[T] {
	a, ok := any(inFloat32).(arithmetic[T])
	if !ok {
		a = any(inFloat64).(arithmetic[T])
	}
	return newRecurrence(a, e, layerSize{d: e.Dimension, h: hidden, directions: directions}, b)
}

// run is a forward pass that keeps what backward needs; predict one that does not; gradient the backward pass.
func (r *recurrence[T]) run(w, out []T)     { r.forward(r.weightMatrix(w), r.outputMatrix(out)) }
func (r *recurrence[T]) predict(w, out []T) { r.infer(r.weightMatrix(w), r.outputMatrix(out)) }
func (r *recurrence[T]) gradient(w, dout, dw []T) {
	r.backward(r.weightMatrix(w), r.outputMatrix(dout), r.weightMatrix(dw))
}

func plainProduct(c, a, b kernel.Matrix[float64]) {
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, c.Rows, c.Columns, a.Columns, 1, a.Data, a.Stride,
		b.Data, b.Stride, 0, c.Data, c.Stride)
}

func plainTransposedProduct(c, a, b kernel.Matrix[float64]) {
	gonum.Implementation{}.Dgemm(blas.Trans, blas.NoTrans, c.Rows, c.Columns, a.Rows, 1, a.Data, a.Stride,
		b.Data, b.Stride, 1, c.Data, c.Stride)
}

func random[T float](seed uint64, n int) []T {
	rng := stream.FromUint64(seed).Rand()
	w := make([]T, n)
	for i := range w {
		w[i] = T(rng.NormFloat64() / 2)
	}
	return w
}

// ragged draws token vectors and a batch of sequences of these lengths, longest
// first.
func ragged(seed uint64, lengths []int, tokens, d, longest int) (Embedding, *batch) {
	rng := stream.FromUint64(seed).Rand()
	e := Embedding{Dimension: d, Vectors: random[float32](seed+1000, tokens*d)}
	var x Examples
	for _, l := range lengths {
		s := make([]int32, l)
		for i := range s {
			s[i] = int32(rng.IntN(tokens))
		}
		x.Sequences = append(x.Sequences, s)
	}
	b := newBatch(len(lengths), tokens, longest)
	b.fill(x, consecutive(len(lengths)))
	return e, b
}

func (r *recurrence[T]) weightCount() int { return r.directions * r.width() * 4 * r.h }

// checkGradient compares derivatives with central differences of a loss and
// returns the largest relative error.
func checkGradient[T float](loss func() float64, weights []T, gradient []T) (worst float64) {
	const step = 1e-5
	for i, at := range weights {
		weights[i] = at + step
		up := loss()
		weights[i] = at - step
		want := (up - loss()) / (2 * step)
		weights[i] = at
		// Differences carry an absolute error of about 1e-11; a derivative that is
		// zero by chance has no relative one.
		worst = max(worst, math.Abs(float64(gradient[i])-want)/max(math.Abs(want), 1e-4))
	}
	return worst
}
