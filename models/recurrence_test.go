package models

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/kernel"
	"mldpbench/stream"
)

// raggedBatch draws token vectors and a packed batch with sequences of many
// lengths, empty ones and room to spare included.
func raggedBatch(seed uint64, lengths []int32, tokens, d int) (Embedding, []int32) {
	rng := stream.FromUint64(seed).Rand()
	e := Embedding{Dimension: d, Vectors: make([]float32, tokens*d)}
	for i := range e.Vectors {
		e.Vectors[i] = float32(rng.NormFloat64())
	}
	var n int32
	for _, l := range lengths {
		n += l
	}
	ids := make([]int32, n+3)
	for i := range ids {
		ids[i] = int32(rng.IntN(tokens))
	}
	return e, ids
}

func randomWeights[T float](seed uint64, n int) []T {
	rng := stream.FromUint64(seed).Rand()
	w := make([]T, n)
	for i := range w {
		w[i] = T(rng.NormFloat64() / 2)
	}
	return w
}

func TestPacked(t *testing.T) {
	var p packed
	// Sequences a b c, d e, f: time by time.
	if err := p.set([]int32{'a', 'd', 'f', 'b', 'e', 'c', 0}, []int32{3, 2, 1, 0}); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(p.active, p.offset) != "[3 2 1 0] [0 3 5 6]" {
		t.Errorf("active %v, offset %v", p.active, p.offset)
	}
	for i, want := range []string{"abc", "de", "f"} {
		forward, backward := "", ""
		for s := range want {
			forward += string(rune(p.tokens[p.position(s, i, false)]))
			backward = string(rune(p.tokens[p.position(s, i, true)])) + backward
		}
		if forward != want || backward != want {
			t.Errorf("sequence %d: %s and %s, want %s", i, forward, backward, want)
		}
	}
	if err := p.set([]int32{1, 2, 3}, []int32{1, 2}); err == nil {
		t.Error("increasing lengths accepted")
	}
	if err := p.set([]int32{1, 2}, []int32{2, 1}); err == nil {
		t.Error("too few tokens accepted")
	}
	if err := p.set(nil, []int32{0, 0}); err != nil || p.steps() != 0 || p.rows() != 0 {
		t.Error("batch of empty sequences")
	}
}

// The derivative of the fused op against central differences in float64, for
// every weight, through ops and graph, for one and two directions.
func TestRecurrenceGradient(t *testing.T) {
	const d, h = 4, 3
	lengths := []int32{150, 9, 9, 4, 1, 0} // long enough to accumulate in several parts
	e, ids := raggedBatch(1, lengths, 11, d)
	for _, directions := range []int{1, 2} {
		r := newRecurrence(inFloat64, e, h, directions)
		w := randomWeights[float64](2, r.weightCount())
		// The loss is a fixed random weighing of the outputs.
		weigh := randomWeights[float64](3, len(lengths)*r.outputs())
		out := make([]float64, len(weigh))
		loss := func() float64 {
			if err := r.forward(ids, lengths, w, out, false); err != nil {
				t.Fatal(err)
			}
			var sum float64
			for i, v := range out {
				sum += v * weigh[i]
			}
			return sum
		}
		got := make([]float64, len(w))
		if err := r.forward(ids, lengths, w, out, true); err != nil {
			t.Fatal(err)
		}
		r.backward(w, weigh, got)

		columns := 4 * h
		worst := map[string]float64{}
		for i := range w {
			const step = 1e-5
			before := w[i]
			w[i] = before + step
			up := loss()
			w[i] = before - step
			down := loss()
			w[i] = before
			want := (up - down) / (2 * step)
			row, block := i/columns%r.width(), "recurrent"
			if row < d {
				block = "input"
			} else if row == d {
				block = "bias"
			}
			name := fmt.Sprintf("direction %d, %s, gate %c", i/columns/r.width(), block, "ifog"[i%columns/h])
			// Differences carry an absolute error of about 1e-11; a
			// derivative that is zero by chance has no relative one.
			worst[name] = max(worst[name], math.Abs(got[i]-want)/max(math.Abs(want), 1e-4))
		}
		if len(worst) != directions*12 {
			t.Fatalf("%d weight blocks", len(worst))
		}
		for name, v := range worst {
			if v > 1e-6 {
				t.Errorf("%d directions: %s: relative error %v", directions, name, v)
			}
		}
	}
}

// The numbers are the same whether the memory of the forward pass is kept or
// not.
func TestInferenceEqualsTraining(t *testing.T) {
	lengths := []int32{12, 7, 7, 2, 0}
	e, ids := raggedBatch(4, lengths, 20, 5)
	r := newRecurrence(inFloat32, e, 8, 2)
	w := randomWeights[float32](5, r.weightCount())
	a, b := make([]float32, len(lengths)*16), make([]float32, len(lengths)*16)
	for _, c := range []struct {
		out  []float32
		keep bool
	}{{a, true}, {b, false}} {
		if err := r.forward(ids, lengths, w, c.out, c.keep); err != nil {
			t.Fatal(err)
		}
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("output %d: %v while training, %v else", i, a[i], b[i])
		}
	}
	for _, v := range a[4*16:] {
		if v != 0 {
			t.Fatal("an empty sequence has a state")
		}
	}
}

// unrolled builds the same layer from Gorgonia primitives, one node per
// operation and step, with masks instead of packing.
func unrolled(g *gorgonia.ExprGraph, e Embedding, batch *packed, hidden int, w *gorgonia.Node,
	reversed bool) *gorgonia.Node {
	b, d := len(batch.lengths), e.Dimension
	must := gorgonia.Must
	constant := func(rows, columns int, data []float32) *gorgonia.Node {
		return gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(rows, columns),
			gorgonia.WithName(fmt.Sprintf("constant%d", opCount.Add(1))),
			gorgonia.WithValue(newDense(tensor.Shape{rows, columns}, data)))
	}
	state, cell := constant(b, hidden, make([]float32, b*hidden)), constant(b, hidden, make([]float32, b*hidden))
	for t := range batch.steps() {
		x, on, off := make([]float32, b*(d+1)), make([]float32, b*hidden), make([]float32, b*hidden)
		for i := range b {
			going := i < batch.active[t]
			if going {
				id := int(batch.tokens[batch.position(t, i, reversed)])
				copy(x[i*(d+1):], e.Vectors[id*d:(id+1)*d])
			}
			x[i*(d+1)+d] = 1
			for j := range hidden {
				if going {
					on[i*hidden+j] = 1
				} else {
					off[i*hidden+j] = 1
				}
			}
		}
		joined := must(gorgonia.Concat(1, constant(b, d+1, x), state))
		z := must(gorgonia.Mul(joined, w))
		gate := func(k int) *gorgonia.Node {
			return must(gorgonia.Slice(z, nil, gorgonia.S(k*hidden, (k+1)*hidden)))
		}
		in, forget := must(gorgonia.Sigmoid(gate(0))), must(gorgonia.Sigmoid(gate(1)))
		out, candidate := must(gorgonia.Sigmoid(gate(2))), must(gorgonia.Tanh(gate(3)))
		next := must(gorgonia.Add(must(gorgonia.HadamardProd(forget, cell)),
			must(gorgonia.HadamardProd(in, candidate))))
		shown := must(gorgonia.HadamardProd(out, must(gorgonia.Tanh(next))))
		keep, change := constant(b, hidden, off), constant(b, hidden, on)
		mix := func(new, old *gorgonia.Node) *gorgonia.Node {
			return must(gorgonia.Add(must(gorgonia.HadamardProd(change, new)), must(gorgonia.HadamardProd(keep, old))))
		}
		state, cell = mix(shown, state), mix(next, cell)
	}
	return state
}

func TestFusedEqualsUnrolled(t *testing.T) {
	const d, h = 6, 5
	lengths := []int32{9, 7, 7, 3, 1}
	e, ids := raggedBatch(6, lengths, 15, d)
	for direction, reversed := range []bool{false, true} {
		r := newRecurrence(inFloat32, e, h, 2)
		size := r.width() * 4 * h
		w := randomWeights[float32](7, r.weightCount())
		out := make([]float32, len(lengths)*2*h)
		if err := r.forward(ids, lengths, w, out, false); err != nil {
			t.Fatal(err)
		}
		g := gorgonia.NewGraph()
		weights := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(r.width(), 4*h), gorgonia.WithName("w"),
			gorgonia.WithValue(newDense(tensor.Shape{r.width(), 4 * h}, w[direction*size:(direction+1)*size])))
		building.Lock()
		state := unrolled(g, e, &r.batch, h, weights, reversed)
		vm := gorgonia.NewTapeMachine(g)
		building.Unlock()
		defer vm.Close()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		for i, want := range data[float32](state.Value()) {
			got := out[i/h*2*h+direction*h+i%h]
			if math.Abs(float64(got-want)) > 1e-5 {
				t.Errorf("direction %d, output %d: fused %v, unrolled %v", direction, i, got, want)
			}
		}
	}
}

// The whole graph against differences, to detect a gradient that is passed on
// wrongly between ops.
func TestGraphGradient(t *testing.T) {
	const d, h, classes = 3, 2, 3
	lengths := []int32{5, 3, 3, 1}
	e, ids := raggedBatch(8, lengths, 9, d)
	r := newRecurrence(inFloat64, e, h, 2)
	w := newDense(tensor.Shape{r.weightRows(), 4 * h}, randomWeights[float64](9, r.weightCount()))
	dense := newDense(tensor.Shape{2 * h, classes}, randomWeights[float64](10, 2*h*classes))

	building.Lock()
	g := gorgonia.NewGraph()
	input := func(name string, v []int32) *gorgonia.Node {
		return gorgonia.NewTensor(g, tensor.Int32, 1, gorgonia.WithShape(len(v)), gorgonia.WithName(name),
			gorgonia.WithValue(newDense(tensor.Shape{len(v)}, v)))
	}
	wn := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(w.Shape()...), gorgonia.WithName("w"),
		gorgonia.WithValue(w))
	dn := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(dense.Shape()...), gorgonia.WithName("dense"),
		gorgonia.WithValue(dense))
	state, err := lastHidden(r, input("tokens", ids), input("lengths", lengths), wn, true)
	if err != nil {
		t.Fatal(err)
	}
	loss := gorgonia.Must(crossEntropy[float64](gorgonia.Must(gorgonia.Mul(state, dn)),
		input("labels", []int32{2, 0, noLabel, 1})))
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
		grad, err := n.Grad()
		if err != nil {
			t.Fatal(err)
		}
		gradients[n] = slices.Clone(data[float64](grad))
	}
	for n, got := range gradients {
		for i, weights := 0, data[float64](n.Value()); i < len(weights); i++ {
			const step = 1e-5
			before := weights[i]
			weights[i] = before + step
			up := run()
			weights[i] = before - step
			down := run()
			weights[i] = before
			want := (up - down) / (2 * step)
			if math.Abs(got[i]-want) > 1e-6*max(math.Abs(want), 1e-3) {
				t.Errorf("%s[%d]: %v, want %v", n.Name(), i, got[i], want)
			}
		}
	}
}

func TestLogLossIsStable(t *testing.T) {
	if got := logLoss([]float32{1000, 0, -1000}, 0); got != 0 {
		t.Errorf("loss of certainty = %v", got)
	}
	if got := logLoss([]float32{1000, 0, -1000}, 2); got != 2000 {
		t.Errorf("loss of certain error = %v", got)
	}
	p := make([]float64, 3)
	softmax(p, []float32{1000, 1000, -1000})
	if p[0] != 0.5 || p[1] != 0.5 || p[2] != 0 {
		t.Errorf("softmax %v", p)
	}
}

func BenchmarkRecurrence(b *testing.B) {
	const h, batch, steps = 64, 64, 80
	for _, d := range []int{50, 100, 300} {
		e, ids := raggedBatch(11, slices.Repeat([]int32{steps}, batch), 27_000, d)
		lengths := slices.Repeat([]int32{steps}, batch)
		r := newRecurrence(inFloat32, e, h, 1)
		w := randomWeights[float32](12, r.weightCount())
		out, dout, dw := make([]float32, batch*h), randomWeights[float32](13, batch*h), make([]float32, len(w))
		for i := range w {
			w[i] /= 8
		}
		b.Run(fmt.Sprintf("forward+backward/d=%d", d), func(b *testing.B) {
			for b.Loop() {
				if err := r.forward(ids, lengths, w, out, true); err != nil {
					b.Fatal(err)
				}
				r.backward(w, dout, dw)
			}
		})
		b.Run(fmt.Sprintf("forward/d=%d", d), func(b *testing.B) {
			for b.Loop() {
				if err := r.forward(ids, lengths, w, out, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Every SIMD path agrees with float64, forwards and backwards, up to float32
// rounding: no path is faster by being less exact.
func TestPathsAgree(t *testing.T) {
	lengths := []int32{40, 33, 33, 20, 5, 1, 0}
	const d, h = 20, 16
	e, ids := raggedBatch(14, lengths, 60, d)
	exact := newRecurrence(inFloat64, e, h, 2)
	w := randomWeights[float64](15, exact.weightCount())
	dout := randomWeights[float64](16, len(lengths)*exact.outputs())
	out, dw := make([]float64, len(dout)), make([]float64, len(w))
	if err := exact.forward(ids, lengths, w, out, true); err != nil {
		t.Fatal(err)
	}
	exact.backward(w, dout, dw)
	largest := 0.0
	for _, v := range dw {
		largest = max(largest, math.Abs(v))
	}
	narrow := func(x []float64) []float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(v)
		}
		return y
	}
	for _, path := range kernel.Paths() {
		restore, err := kernel.Use(path)
		if err != nil {
			t.Fatal(err)
		}
		r := newRecurrence(inFloat32, e, h, 2)
		got, gotdw := make([]float32, len(out)), make([]float32, len(dw))
		if err := r.forward(ids, lengths, narrow(w), got, true); err != nil {
			t.Fatal(err)
		}
		r.backward(narrow(w), narrow(dout), gotdw)
		restore()
		for i := range out {
			if math.Abs(float64(got[i])-out[i]) > 1e-5 {
				t.Fatalf("%s: output %d: %v, want %v", path, i, got[i], out[i])
			}
		}
		for i := range dw {
			if math.Abs(float64(gotdw[i])-dw[i]) > 1e-4*largest {
				t.Fatalf("%s: gradient %d: %v, want %v", path, i, gotdw[i], dw[i])
			}
		}
	}
}

func (r *recurrence[T]) weightRows() int  { return r.directions * r.width() }
func (r *recurrence[T]) weightCount() int { return r.weightRows() * 4 * r.h }
