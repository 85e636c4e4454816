package models

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/kernel"
)

// gateColumns says which quarter of the columns of W each gate reads.
type gateColumns struct{ input, forget, output, candidate int }

// An unrolledLSTM is one direction of the recurrence from Gorgonia's primitives alone: a node for each operation of
// each step. X_t and H_{t−1} are the inputs and states of n sequences; P_t is one where a sequence has a token t, else
// zero.
//
//	gate = σ or tanh (X_t·W_x + H_{t−1}·W_h)                     n × h, with columns of W of its own
//	C = f∘C_{t−1} + i∘g;  H = o∘tanh(C)                          n × h
//	H_t = P_t∘H + (1−P_t)∘H_{t−1};  C_t = P_t∘C + (1−P_t)∘C_{t−1}  a sequence that has ended keeps its state
type unrolledLSTM[T float] struct {
	inputs  [][]T // by step, n × (d+1): x, 1
	present [][]T // by step, n × h: P
	weigh   []T   // n × h: the loss is the sum of weigh∘H
	d, h    int
	columns gateColumns
}

// run returns the last states, n × h, and the gradient of the loss with respect to w, (d+1+h) × 4h.
func (u unrolledLSTM[T]) run(t *testing.T, w []T) (states, gradient []T) {
	t.Helper()
	g := gorgonia.NewGraph()
	inputs := 0
	matrix := func(numbers []T, columns int) *gorgonia.Node {
		inputs++
		name := fmt.Sprint("input ", inputs) // two inputs of one name and shape would be one node
		return input(g, name, newDense(tensor.Shape{len(numbers) / columns, columns}, numbers))
	}
	add := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }
	multiply := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Mul(a, b)) }
	elementwise := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.HadamardProd(a, b)) }
	sigmoid := func(x *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Sigmoid(x)) }
	tanh := func(x *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Tanh(x)) }

	var inputWeights, stateWeights gorgonia.Nodes // by quarter of the columns of w
	split := (u.d + 1) * u.h
	for quarter := range 4 {
		part := columnsOfGate(w, quarter, u.h)
		inputWeights = append(inputWeights, matrix(part[:split], u.h))
		stateWeights = append(stateWeights, matrix(part[split:], u.h))
	}
	state := matrix(make([]T, len(u.weigh)), u.h)
	cell := matrix(make([]T, len(u.weigh)), u.h)
	for step, numbers := range u.inputs {
		x := matrix(numbers, u.d+1)
		before := state
		weighed := func(quarter int) *gorgonia.Node {
			return add(multiply(x, inputWeights[quarter]), multiply(before, stateWeights[quarter]))
		}
		present := matrix(u.present[step], u.h)
		absent := matrix(complement(u.present[step]), u.h)
		i := sigmoid(weighed(u.columns.input))
		f := sigmoid(weighed(u.columns.forget))
		o := sigmoid(weighed(u.columns.output))
		candidate := tanh(weighed(u.columns.candidate))
		moved := add(elementwise(f, cell), elementwise(i, candidate))
		shown := elementwise(o, tanh(moved))
		cell = add(elementwise(present, moved), elementwise(absent, cell))
		state = add(elementwise(present, shown), elementwise(absent, state))
	}
	states, gradients := differentiated(t, g, state, u.weigh, append(inputWeights, stateWeights...))
	gradient = make([]T, len(w))
	for quarter := range 4 {
		setColumnsOfGate(gradient, quarter, u.h, append(gradients[quarter], gradients[4+quarter]...))
	}
	return states, gradient
}

// differentiated runs a graph on Gorgonia's tape: the numbers of out and, of each of weights, the gradient of the sum
// of weigh∘out.
func differentiated[T float](t *testing.T, g *gorgonia.ExprGraph, out *gorgonia.Node, weigh []T,
	weights gorgonia.Nodes) (numbers []T, gradients [][]T) {
	t.Helper()
	weighed := gorgonia.Must(gorgonia.HadamardProd(out, input(g, "weigh", newDense(out.Shape().Clone(), weigh))))
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(weighed)), weights...); err != nil {
		t.Fatal(err)
	}
	var value gorgonia.Value
	gorgonia.Read(out, &value)
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for _, w := range weights {
		v, err := w.Grad()
		if err != nil {
			t.Fatal(err)
		}
		gradients = append(gradients, slices.Clone(data[T](v)))
	}
	return slices.Clone(data[T](value)), gradients
}

func complement[T float](x []T) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = 1 - v
	}
	return y
}

// columnsOfGate are a quarter of the columns of w, which has 4h.
func columnsOfGate[T float](w []T, quarter, h int) []T {
	var part []T
	for row := range slices.Chunk(w, 4*h) {
		part = append(part, row[quarter*h:(quarter+1)*h]...)
	}
	return part
}

func setColumnsOfGate[T float](w []T, quarter, h int, part []T) {
	for row := range slices.Chunk(w, 4*h) {
		copy(row[quarter*h:(quarter+1)*h], part[:h])
		part = part[h:]
	}
}

// unroll lays out the tokens of a batch for one direction of r: the second one reads each sequence from its end.
func unroll[T float](r *recurrence[T], e Embedding, direction int) unrolledLSTM[T] {
	b := r.batch
	u := unrolledLSTM[T]{d: r.d, h: r.h, columns: gateColumns{input: 0, forget: 1, output: 2, candidate: 3}}
	for step := range b.steps() {
		inputs := make([]T, len(b.lengths)*(r.d+1))
		present := make([]T, len(b.lengths)*r.h)
		for i := range b.active[step] {
			position := step
			if direction == 1 {
				position = int(b.lengths[i]) - 1 - step
			}
			x := inputs[i*(r.d+1) : (i+1)*(r.d+1)]
			for j, v := range e.row(b.words[b.local[b.offset[position]+i]]) {
				x[j] = T(v)
			}
			x[r.d] = 1
			for j := range r.h {
				present[i*r.h+j] = 1
			}
		}
		u.inputs = append(u.inputs, inputs)
		u.present = append(u.present, present)
	}
	return u
}

// compareWithGorgonia returns the largest difference, relative to the largest number, of outputs and of gradients
// between the fused op in a graph of Gorgonia and four steps of Gorgonia's own operations, in both directions.
func compareWithGorgonia[T float](t *testing.T, columns gateColumns) (outputs, gradients float64) {
	t.Helper()
	const d, h, directions = 5, 16, 2
	e, b := ragged(30, []int{4, 4, 3, 1, 0}, 9, d, 0)
	r := newTestRecurrence[T](e, h, directions, b)
	w := random[T](31, r.weightCount())
	weigh := random[T](32, len(b.lengths)*r.outputs())
	building.Lock()
	defer building.Unlock()
	g := gorgonia.NewGraph()
	wn := input(g, "w", newDense(tensor.Shape{directions * r.width(), 4 * h}, w))
	fused, fusedGradients := differentiated(t, g, gorgonia.Must(lastHidden(r, r.forward, wn)), weigh,
		gorgonia.Nodes{wn})
	for direction := range directions {
		u := unroll(r, e, direction)
		u.columns = columns
		u.weigh = columnsOfDirection(weigh, direction, h)
		size := r.width() * 4 * h
		states, gradient := u.run(t, w[direction*size:(direction+1)*size])
		outputs = max(outputs, farthest(columnsOfDirection(fused, direction, h), states))
		gradients = max(gradients, farthest(fusedGradients[0][direction*size:(direction+1)*size], gradient))
	}
	return outputs, gradients
}

// columnsOfDirection are half of the columns of outputs of two directions.
func columnsOfDirection[T float](x []T, direction, h int) []T {
	var part []T
	for row := range slices.Chunk(x, 2*h) {
		part = append(part, row[direction*h:(direction+1)*h]...)
	}
	return part
}

// farthest is the largest difference relative to the largest number of want.
func farthest[T float](got, want []T) float64 {
	worst := 0.0
	for i, v := range want {
		worst = max(worst, math.Abs(float64(got[i]-v)))
	}
	return worst / float64(magnitude(want))
}

// The fused op has the outputs and the gradients of Gorgonia's own matrix products, sigmoids, tanh and elementwise
// products, up to rounding. With two gates exchanged they differ by orders of magnitude more, so the comparison would
// find such a fault.
func TestFusedEqualsGorgonia(t *testing.T) {
	own := gateColumns{input: 0, forget: 1, output: 2, candidate: 3}
	outputs, gradients := compareWithGorgonia[float64](t, own)
	if outputs > 1e-14 || gradients > 1e-14 {
		t.Errorf("float64: outputs differ by %.2g, gradients by %.2g, want at most 1e-14", outputs, gradients)
	}
	kernel.OnPaths(func(path string) {
		outputs, gradients := compareWithGorgonia[float32](t, own)
		if outputs > 1e-6 || gradients > 1e-6 {
			t.Errorf("float32, %s: outputs differ by %.2g, gradients by %.2g, want at most 1e-6", path, outputs,
				gradients)
		}
	})
	for _, exchanged := range []gateColumns{
		{input: 1, forget: 0, output: 2, candidate: 3},
		{input: 2, forget: 1, output: 0, candidate: 3},
		{input: 3, forget: 1, output: 2, candidate: 0},
		{input: 0, forget: 2, output: 1, candidate: 3},
		{input: 0, forget: 3, output: 2, candidate: 1},
		{input: 0, forget: 1, output: 3, candidate: 2},
	} {
		outputs, gradients = compareWithGorgonia[float64](t, exchanged)
		if outputs < 0.01 || gradients < 0.01 {
			t.Errorf("gates in columns %+v: outputs differ by %.2g, gradients by %.2g, want at least 0.01", exchanged,
				outputs, gradients)
		}
	}
}
