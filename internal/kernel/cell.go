package kernel

import (
	"fmt"
	"math"
)

// CellForward advances LSTM cells of h numbers by one step, one for each of
// words. gates holds 4h numbers a cell, of i, f, o and g, to which those of the
// cell's word in input (words × 4h) are added; it is overwritten with their
// values. A negative word ^w is w:
//
//	i, f, o = σ;  g = tanh;  cell = f∘prev + i∘g;  hidden = o∘tanh(cell)
//
// All others hold h numbers a cell; tangent receives tanh(cell), and cell may be
// prev. The error is that of sigmoid and tanh and of one rounding an operation;
// products are added before they are rounded.
func CellForward(words []int32, input, gates, prev, cell, tangent, hidden []float32) {
	s, h := simd(), checkCells(words, input, gates, prev, cell, tangent, hidden)
	if s.cellForward == nil || h%s.cellLanes != 0 {
		ReferenceCellForward(words, input, gates, prev, cell, tangent, hidden)
		return
	}
	if h > 0 {
		s.cellForward(len(words), h, &words[0], &input[0], &gates[0], &prev[0], &cell[0], &tangent[0], &hidden[0])
	}
}

// CellBackward is the derivative of CellForward. From the derivatives dh with
// respect to hidden, and dc, those with respect to cell through later steps, it
// computes those with respect to the inputs of the gates, stored in gates and
// added to the words' rows of sum, and to prev, stored in dc. What the row of a
// negative word held does not count: that of w is the first to be added.
func CellBackward(words []int32, sum, gates, prev, tanh, dh, dc []float32) {
	s, h := simd(), checkCells(words, sum, gates, prev, tanh, dh, dc)
	if s.cellBackward == nil || h%s.cellLanes != 0 {
		ReferenceCellBackward(words, sum, gates, prev, tanh, dh, dc)
		return
	}
	if h > 0 {
		s.cellBackward(len(words), h, &words[0], &sum[0], &gates[0], &prev[0], &tanh[0], &dh[0], &dc[0])
	}
}

// checkCells returns the numbers of a cell, 0 without cells.
func checkCells(words []int32, table, gates []float32, others ...[]float32) int {
	if len(words) == 0 {
		return 0
	}
	h := len(others[0]) / len(words)
	for _, x := range others {
		if len(x) != len(words)*h || len(gates) != 4*len(x) {
			panic(fmt.Sprintf("kernel: %d numbers and %d gates for %d LSTM cells", len(x), len(gates), len(words)))
		}
	}
	for _, w := range words {
		if (int(max(w, ^w))+1)*4*h > len(table) {
			panic(fmt.Sprintf("kernel: word %d of %d gates of LSTM cells of %d", w, len(table), h))
		}
	}
	return h
}

// ReferenceCellForward is the specification of CellForward, in either precision.
// Activations are computed in float64 and rounded once. Those of the assembly are
// within 3 ulp of 1/(1+e^−x) for x ≥ −87, within 2·10⁻³⁸ below, and within 4 ulp of
// tanh; NaN stays NaN.
func ReferenceCellForward[T float32 | float64](words []int32, input, gates, prev, cell, tanh, hidden []T) {
	sigmoid := func(x T) T { return T(1 / (1 + math.Exp(-float64(x)))) }
	tangent := func(x T) T { return T(math.Tanh(float64(x))) }
	h := len(hidden) / max(1, len(words))
	for r, word := range words {
		z, at := gates[r*4*h:(r+1)*4*h], r*h
		for j, x := range input[int(max(word, ^word))*4*h:][:4*h] {
			if z[j] += x; j < 3*h {
				z[j] = sigmoid(z[j])
			} else {
				z[j] = tangent(z[j])
			}
		}
		in, forget, out, g := z[:h], z[h:2*h], z[2*h:3*h], z[3*h:]
		for j := range h {
			kept := T(forget[j] * prev[at+j])
			cell[at+j] = T(float64(in[j])*float64(g[j]) + float64(kept))
			tanh[at+j] = tangent(cell[at+j])
			hidden[at+j] = out[j] * tanh[at+j]
		}
	}
}

// ReferenceCellBackward is the specification of CellBackward.
func ReferenceCellBackward[T float32 | float64](words []int32, sum, gates, prev, tanh, dh, dc []T) {
	h := len(dh) / max(1, len(words))
	for r, word := range words {
		z, to := gates[r*4*h:(r+1)*4*h], sum[int(max(word, ^word))*4*h:][:4*h]
		in, forget, out, g := z[:h], z[h:2*h], z[2*h:3*h], z[3*h:]
		for j := range h {
			e, i, f, o, c, t := dh[r*h+j], in[j], forget[j], out[j], g[j], tanh[r*h+j]
			slope := T(slopeOfTanh(t) * o)
			d := T(float64(e)*float64(slope) + float64(dc[r*h+j]))
			in[j] = T(d * c * i * (1 - i))
			forget[j] = T(d * prev[r*h+j] * f * (1 - f))
			out[j] = T(e * t * o * (1 - o))
			g[j] = T(slopeOfTanh(c) * d * i)
			dc[r*h+j] = d * f
		}
		if word < 0 {
			clear(to)
		}
		for j, x := range z {
			to[j] += x
		}
	}
}

// slopeOfTanh is the derivative of tanh where its value is t.
func slopeOfTanh[T float32 | float64](t T) T { return T(1 - float64(t)*float64(t)) }
