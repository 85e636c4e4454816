package models

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"mldpbench/stream"
)

// padded is a packed batch of sequences of one length, zeros of the table in
// front, as Keras' pad_sequences makes it: the naive computation.
func padded(ids, lengths []int32, length, zero int32) (tokens, all []int32) {
	var p packed
	if err := p.set(ids, lengths); err != nil {
		panic(err)
	}
	for t := range length {
		for i, l := range lengths {
			if t < length-l {
				tokens = append(tokens, zero)
			} else {
				tokens = append(tokens, ids[p.position(int(t-(length-l)), i, false)])
			}
		}
	}
	return tokens, slices.Repeat([]int32{length}, len(lengths))
}

// compareWithNaive returns the largest difference of outputs and of gradients
// from the naive computation, relative to the largest gradient.
func compareWithNaive[T float](t *testing.T, d, h int, length int32, lengths []int32, scale T) (state, gradient float64,
	steps int) {
	t.Helper()
	e, ids := raggedBatch(7, lengths, 30, d)
	clear(e.Vectors[29*d:]) // the zero vector
	w := randomWeights[T](8, (d+1+h)*4*h)
	for i := range w {
		w[i] *= scale
	}
	weigh := randomWeights[T](9, len(lengths)*h)
	run := func(padding int, tokens, lengths []int32) (out, dw []T, r *recurrence[T]) {
		r = newRecurrence(arithmeticOf[T](), e, h, 1)
		r.padding = padding
		out, dw = make([]T, len(lengths)*h), make([]T, len(w))
		inferred := make([]T, len(out))
		if err := r.forward(tokens, lengths, w, inferred, false); err != nil {
			t.Fatal(err)
		}
		if err := r.forward(tokens, lengths, w, out, true); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out, inferred) {
			t.Error("training and inference differ")
		}
		r.backward(w, weigh, dw)
		r.backward2(t, w, weigh, dw, tokens, lengths)
		return out, dw, r
	}
	out, dw, r := run(int(length), ids, lengths)
	tokens, all := padded(ids, lengths, length, 29)
	wantOut, wantDW, _ := run(0, tokens, all)
	largest := float64(magnitude(wantDW))
	for i, v := range wantOut {
		state = max(state, math.Abs(float64(v-out[i])))
	}
	for i, v := range wantDW {
		gradient = max(gradient, math.Abs(float64(v-dw[i]))/largest)
	}
	return state, gradient, r.zeros.steps
}

// backward2 runs the pass again: it must not depend on what the last one left.
func (r *recurrence[T]) backward2(t *testing.T, w, dout, want []T, tokens, lengths []int32) {
	t.Helper()
	again := make([]T, len(want))
	out := make([]T, len(lengths)*r.h)
	if err := r.forward(tokens, lengths, w, out, true); err != nil {
		t.Fatal(err)
	}
	r.backward(w, dout, again)
	if !slices.Equal(again, want) {
		t.Error("a second pass gives other gradients")
	}
}

// The zeros in front, computed once, give the states and the gradients of the
// naive computation: with weights that settle soon and with ones that do not,
// with full and with empty sequences.
func TestZerosInFrontEqualTheNaiveComputation(t *testing.T) {
	lengths := []int32{40, 31, 30, 12, 12, 5, 1, 0, 0}
	for _, scale := range []float64{0.3, 1, 2.5} {
		t.Run(fmt.Sprint("scale ", scale), func(t *testing.T) {
			state, gradient, steps := compareWithNaive[float64](t, 3, 4, 200, lengths, scale)
			t.Logf("float64: %d steps of zeros, states differ by %.2g, gradients by %.2g", steps, state, gradient)
			if state > 1e-12 || gradient > 1e-12 {
				t.Error("too much")
			}
			state, gradient, steps = compareWithNaive[float32](t, 10, 20, 500, lengths, float32(scale))
			t.Logf("float32: %d steps of zeros, states differ by %.2g, gradients by %.2g", steps, state, gradient)
			if state > 1e-5 || gradient > 1e-5 {
				t.Error("too much")
			}
		})
	}
	if state, gradient, _ := compareWithNaive[float64](t, 3, 4, 40, lengths, 1); state > 1e-12 || gradient > 1e-12 {
		t.Errorf("a sequence as long as all: %.2g, %.2g", state, gradient)
	}
	if state, gradient, _ := compareWithNaive[float64](t, 3, 4, 9, []int32{0, 0}, 1); state > 1e-12 || gradient > 1e-12 {
		t.Errorf("empty sequences: %.2g, %.2g", state, gradient)
	}
	if state, gradient, _ := compareWithNaive[float64](t, 3, 4, 9, []int32{9, 9}, 1); state > 1e-12 || gradient > 1e-12 {
		t.Errorf("full sequences: %.2g, %.2g", state, gradient)
	}
}

// Of a text longer than length only the last tokens count; the weights kept are
// those of the last epoch.
func TestLSTM2024(t *testing.T) {
	embedding, draw := topics(20, 3, 20, 10)
	train, val, test := draw(700, 12), draw(100, 12), draw(60, 12)
	o := Options{Classes: 3, Embedding: embedding, Seed: stream.FromUint64(21),
		Parameters: map[string]any{"hidden": 12, "length": 12, "batch": 32, "learning_rate": 0.01}}
	m, err := New("lstm-2024", o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := m.Fit(context.Background(), train, val)
	if err != nil {
		t.Fatal(err)
	}
	if h.Best != len(h.Epochs)-1 {
		t.Errorf("weights of epoch %d of %d are kept", h.Best+1, len(h.Epochs))
	}
	p, err := m.Predict(context.Background(), test)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(p, test.Labels); a < 0.85 {
		t.Errorf("accuracy %v", a)
	}
	long := Examples{Labels: test.Labels}
	for _, s := range test.Sequences {
		long.Sequences = append(long.Sequences, slices.Concat(train.Sequences[0], train.Sequences[1], s))
	}
	short := Examples{Labels: test.Labels}
	for _, s := range long.Sequences {
		short.Sequences = append(short.Sequences, s[len(s)-12:])
	}
	got, err := m.Score(context.Background(), long)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Score(context.Background(), short)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		for c := range got[i] {
			if math.Abs(got[i][c]-want[i][c]) > 1e-6 {
				t.Fatalf("text %d: %v with more tokens before, %v without", i, got[i], want[i])
			}
		}
	}
}
