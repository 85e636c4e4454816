package models

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/kernel"
	"mldpbench/internal/realdata"
	"mldpbench/stream"
)

func TestBatch(t *testing.T) {
	x := Examples{Sequences: [][]int32{{6}, {4, 5, 4}, {}, {4, 6}, {7, 7}}, Labels: []int{6, 4, 0, 2, 9}}
	b := newBatch(5, 8, 0)
	b.fill(x, []int{4}) // what a batch left must not show in the next
	order := b.fill(x, []int{0, 1, 2, 3})
	got := fmt.Sprint(order, b.labels, b.lengths, b.active, b.offset, b.words, b.local)
	// Sequences 4 5 4, 4 6, 6: time by time.
	if want := "[1 3 0 2] [4 2 6 0 -1] [3 2 1 0 0] [3 2 1 0] [0 3 5 6] [4 6 5] [0 0 1 2 1 0]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if b.longest = 1; fmt.Sprint(b.fill(x, []int{1, 3}), b.words) != "[0 1] [4 6]" {
		t.Errorf("the last tokens are %d", b.words)
	}
	if b.fill(Examples{Sequences: [][]int32{nil}}, []int{0}); b.steps() != 0 || b.labels[0] != noLabel {
		t.Error("batch of an empty sequence")
	}
	if n := capacity(2, x); n != 6 {
		t.Errorf("capacity %d, want 3 + 2 + 1", n)
	}
}

// The derivative of the fused op against central differences in float64, for
// every weight, for one and two directions, with a mask and without.
func TestRecurrenceGradient(t *testing.T) {
	for _, directions := range []int{1, 2} {
		// long enough to accumulate in several parts
		e, b := ragged(1, []int{150, 9, 9, 4, 1, 0}, 11, 4, 0)
		r := newTestRecurrence[float64](e, 3, directions, b)
		w := random[float64](2, r.weightCount())
		// The loss is a fixed random weighing of the outputs.
		weigh := random[float64](3, len(b.lengths)*r.outputs())
		if directions == 2 {
			r.mask = r.outputMatrix(random[float64](4, len(weigh)))
		}
		out, got := make([]float64, len(weigh)), make([]float64, len(w))
		r.run(w, out)
		r.gradient(w, weigh, got)
		if worst := checkGradient(func() float64 {
			r.predict(w, out)
			return product(out, weigh)
		}, w, got); worst > 1e-6 {
			t.Errorf("%d directions: relative error %v", directions, worst)
		}
	}
}

// The numbers are the same whether the memory of the forward pass is kept or
// not.
func TestInferenceEqualsTraining(t *testing.T) {
	e, b := ragged(4, []int{12, 7, 7, 2, 0}, 20, 5, 0)
	r := newTestRecurrence[float32](e, 8, 2, b)
	w := random[float32](5, r.weightCount())
	kept, inferred := make([]float32, 5*16), make([]float32, 5*16)
	r.run(w, kept)
	r.predict(w, inferred)
	if !slices.Equal(kept, inferred) {
		t.Error("outputs differ")
	}
	if magnitude(kept[4*16:]) != 0 {
		t.Error("an empty sequence has a state")
	}
}

// Whole graphs against differences, to detect a gradient that is passed on wrongly
// between ops: LSTM or mean of rows → dense → cross-entropy.
func TestGraphGradient(t *testing.T) {
	const d, h, classes = 3, 2, 3
	for _, name := range []string{"lstm", "mean"} {
		e, b := ragged(8, []int{5, 3, 3, 1, 0}, 9, d, 0)
		copy(b.labels, []int32{2, 0, noLabel, 1, 1})
		r := newTestRecurrence[float64](e, h, 2, b)
		first, outputs := newDense(tensor.Shape{2 * r.width(), 4 * h}, random[float64](9, r.weightCount())), 2*h
		if name == "mean" {
			first, outputs = newDense(tensor.Shape{9, d}, random[float64](10, 9*d)), d
		}
		dense := newDense(tensor.Shape{outputs, classes}, random[float64](11, outputs*classes))

		building.Lock()
		g := gorgonia.NewGraph()
		wn, dn := input(g, "w", first), input(g, "dense", dense)
		layer := func(w *gorgonia.Node) (*gorgonia.Node, error) { return lastHidden(r, r.forward, w) }
		if name == "mean" {
			layer = func(w *gorgonia.Node) (*gorgonia.Node, error) { return meanRows[float64](b, w) }
		}
		state, err := layer(wn)
		if err != nil {
			t.Fatal(err)
		}
		loss := gorgonia.Must(crossEntropy[float64](gorgonia.Must(gorgonia.Mul(state, dn)), b.labels))
		if _, err := gorgonia.Grad(loss, wn, dn); err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(wn, dn))
		building.Unlock()
		defer vm.Close()
		run := func() float64 {
			t.Helper()
			vm.Reset()
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			return loss.Value().Data().(float64)
		}
		run()
		gradients := map[*gorgonia.Node][]float64{} // copied now: later runs add to them
		for _, n := range []*gorgonia.Node{wn, dn} {
			v, err := n.Grad()
			if err != nil {
				t.Fatal(err)
			}
			gradients[n] = slices.Clone(data[float64](v))
		}
		for n, got := range gradients {
			if worst := checkGradient(run, data[float64](n.Value()), got); worst > 1e-5 {
				t.Errorf("%s, %s: relative error %v", name, n.Name(), worst)
			}
		}
	}
}

func TestLogLossIsStable(t *testing.T) {
	for label, want := range []float64{0, 1000, 2000} {
		if got := logLoss([]float32{1000, 0, -1000}, label); got != want {
			t.Errorf("loss of %d is %v, want %v", label, got, want)
		}
	}
}

// Every SIMD path agrees with float64, forwards and backwards, up to float32
// rounding: no path is faster by being less exact.
func TestPathsAgree(t *testing.T) {
	e, b := ragged(14, []int{40, 33, 33, 20, 5, 1, 0}, 60, 20, 0)
	exact := newTestRecurrence[float64](e, 16, 2, b)
	w := random[float64](15, exact.weightCount())
	dout := random[float64](16, len(b.lengths)*exact.outputs())
	out, dw := make([]float64, len(dout)), make([]float64, len(w))
	exact.run(w, out)
	exact.gradient(w, dout, dw)
	narrow := func(x []float64) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(v)
		}
		return y
	}
	apart := func(got []float32, want []float64) (worst float64) {
		for i, v := range want {
			worst = max(worst, math.Abs(float64(got[i])-v))
		}
		return worst
	}
	kernel.OnPaths(func(path string) {
		r := newTestRecurrence[float32](e, 16, 2, b)
		got, gotdw := make([]float32, len(out)), make([]float32, len(dw))
		r.run(narrow(w), got)
		r.gradient(narrow(w), narrow(dout), gotdw)
		if a, b := apart(got, out), apart(gotdw, dw); a > 1e-5 || b > 1e-4*magnitude(dw) {
			t.Errorf("%s: outputs differ by %v, gradients by %v", path, a, b)
		}
	})
}

// No bit depends on the number of cores, nor on one that gets free between the passes, on any SIMD path: with
// tokens of few words and of many, one direction and two, zeros in front, sequences that end early or have no token.
func TestCoresDoNotChangeBits(t *testing.T) {
	many := []int{90, 77, 77, 60, 41, 40, 40, 33, 20, 8, 5, 1, 1, 0, 0}
	for _, c := range []struct {
		lengths                       []int
		words, h, directions, longest int
	}{{many, 9, 60, 2, 0}, {many, 200, 57, 1, 0}, {many, 200, 60, 1, 95}, {[]int{450, 1}, 9, 60, 1, 0}} {
		e, b := ragged(17, c.lengths, c.words, 21, c.longest)
		kernel.OnPaths(func(path string) {
			var want [3][]float32
			for n := range 4 {
				r := newTestRecurrence[float32](e, c.h, c.directions, b)
				w := random[float32](18, r.weightCount())
				dout := random[float32](19, len(c.lengths)*r.outputs())
				got := [3][]float32{make([]float32, len(dout)), make([]float32, len(dout)), make([]float32, len(w))}
				r.free = func() int { return n + 1 }
				r.predict(w, got[0])
				r.run(w, got[1])
				if r.division.cores != min(n+1, 3) { // the batch is worth three
					t.Errorf("%d cores for %d", r.division.cores, n+1)
				}
				r.gradient(w, dout, got[2])
				if n == 0 {
					want = got
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%+v, %s, %d cores: other bits of %s", c, path, n+1, []string{"scores", "states", "gradients"}[i])
					}
				}
			}
		})
	}
}

// compareWithNaive returns the largest difference of outputs and of gradients from
// the naive computation, zeros of the table in front of each sequence as Keras'
// pad_sequences makes it; relative to the largest gradient.
func compareWithNaive[T float](t *testing.T, d, h, length int, lengths []int, scale T) (state, gradient float64) {
	t.Helper()
	e, b := ragged(7, lengths, 30, d, length)
	clear(e.row(29)) // the zero vector
	w, weigh := random[T](8, (d+1+h)*4*h), random[T](9, len(lengths)*h)
	for i := range w {
		w[i] *= scale
	}
	run := func(b *batch) (out, dw []T) {
		r := newTestRecurrence[T](e, h, 1, b)
		out, dw = make([]T, len(lengths)*h), make([]T, len(w))
		inferred, again := make([]T, len(out)), make([]T, len(w))
		r.predict(w, inferred)
		for _, to := range [][]T{again, dw} { // a pass must not depend on what the last one left
			r.run(w, out)
			r.gradient(w, weigh, to)
		}
		if !slices.Equal(out, inferred) || !slices.Equal(again, dw) {
			t.Error("training and inference differ, or a second pass")
		}
		return out, dw
	}
	out, dw := run(b)
	var padded Examples
	for i, l := range b.lengths {
		s := slices.Repeat([]int32{29}, length-int(l))
		for t := range int(l) {
			s = append(s, b.words[b.local[b.offset[t]+i]])
		}
		padded.Sequences = append(padded.Sequences, s)
	}
	naive := newBatch(len(lengths), 30, 0)
	naive.fill(padded, consecutive(len(lengths)))
	wantOut, wantDW := run(naive)
	for i, v := range wantOut {
		state = max(state, math.Abs(float64(v-out[i])))
	}
	for i, v := range wantDW {
		gradient = max(gradient, math.Abs(float64(v-dw[i])/float64(magnitude(wantDW))))
	}
	return state, gradient
}

// The zeros in front, computed once, give the states and the gradients of the
// naive computation: with weights that settle soon and with ones that do not,
// with full and with empty sequences.
func TestZerosInFrontEqualTheNaiveComputation(t *testing.T) {
	many := []int{40, 31, 30, 12, 12, 5, 1, 0, 0}
	for _, c := range []struct {
		length  int
		lengths []int
		scale   float64
	}{{200, many, 0.3}, {200, many, 1}, {200, many, 2.5}, {40, many, 1}, {9, []int{0, 0}, 1}, {9, []int{9, 9}, 1}} {
		if state, gradient := compareWithNaive(t, 3, 4, c.length, c.lengths, c.scale); state > 1e-12 || gradient > 1e-12 {
			t.Errorf("float64, %+v: states differ by %.2g, gradients by %.2g", c, state, gradient)
		}
		state, gradient := compareWithNaive(t, 10, 20, 2*c.length, c.lengths, float32(c.scale))
		if state > 1e-5 || gradient > 1e-5 {
			t.Errorf("float32, %+v: states differ by %.2g, gradients by %.2g", c, state, gradient)
		}
	}
}

// BenchmarkLSTM times training steps of 64 documents of 80 random tokens out of
// 27,000, nearly all of a batch distinct, in processor time, which is meaningful on
// a machine that also does other work.
func BenchmarkLSTM(b *testing.B) {
	const size, batches, length, words = 64, 8, 80, 27_000
	for _, d := range []int{50, 100, 300} {
		b.Run(fmt.Sprintf("random/d=%d/train", d), func(b *testing.B) {
			rng, x := stream.FromUint64(29).Rand(), Examples{}
			for i := range size * batches {
				x.Sequences, x.Labels = append(x.Sequences, make([]int32, length)), append(x.Labels, i%2)
				for t := range length {
					x.Sequences[i][t] = int32(rng.IntN(words))
				}
			}
			c, err := New("lstm", Options{Classes: 2, Embedding: Embedding{d, random[float32](29, words*d)}})
			if err != nil {
				b.Fatal(err)
			}
			m := c.(*checked).learner.(*network)
			g, err := m.open(b.Context(), x, rng)
			if err != nil {
				b.Fatal(err)
			}
			defer g.vm.Close()
			var times []float64
			for b.Loop() {
				start := realdata.CPU()
				g.fill(x, consecutive(x.Len())[len(times)%batches*size:][:size])
				if err := g.step(m.learningRate, m.clip); err != nil {
					b.Fatal(err)
				}
				times = append(times, 1000*(realdata.CPU()-start))
			}
			slices.Sort(times)
			b.ReportMetric(times[0], "best-cpu-ms")
			b.ReportMetric(times[len(times)/2], "median-cpu-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
