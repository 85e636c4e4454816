package kernel

import (
	"fmt"
	"math"
)

// Cells are LSTM cells of h numbers, one after the other. Gates holds 4h numbers a cell, those of i, f, o and g; all
// others hold h numbers a cell.
type Cells[T float32 | float64] struct {
	Gates  []T
	Prev   []T // c_{t−1}
	Cell   []T // c_t, which may be Prev
	Tanh   []T // tanh c_t
	Hidden []T // h_t
}

// CellForward advances cells by one step, one for each of words. To their gates those of the cell's word in input
// (words × 4h) are added; they are overwritten with their values. A negative word ^w is w:
//
//	i, f, o = σ;  g = tanh;  cell = f∘prev + i∘g;  hidden = o∘tanh(cell)
//
// The error is that of sigmoid and tanh and of one rounding an operation;
// products are added before they are rounded.
func CellForward(words []int32, input []float32, cells Cells[float32]) {
	s := simd()
	h := checkCells(words, input, cells.Gates, cells.Prev, cells.Cell, cells.Tanh, cells.Hidden)
	if s.cellForward == nil || h%s.cellLanes != 0 {
		ReferenceCellForward(words, input, cells)
		return
	}
	if h > 0 {
		s.cellForward(len(words), h, &words[0], &input[0], &cells.Gates[0], &cells.Prev[0], &cells.Cell[0],
			&cells.Tanh[0], &cells.Hidden[0])
	}
}

// CellBackward is the derivative of CellForward. From the derivatives dh with
// respect to hidden, and dc, those with respect to cell through later steps, it
// computes those with respect to the inputs of the gates, stored in the gates and
// added to the words' rows of sum, and to prev, stored in dc. What the row of a
// negative word held does not count: that of w is the first to be added. It reads neither
// Cell nor Hidden.
func CellBackward(words []int32, sum []float32, cells Cells[float32], dh, dc []float32) {
	s := simd()
	h := checkCells(words, sum, cells.Gates, cells.Prev, cells.Tanh, dh, dc)
	if s.cellBackward == nil || h%s.cellLanes != 0 {
		ReferenceCellBackward(words, sum, cells, dh, dc)
		return
	}
	if h > 0 {
		s.cellBackward(len(words), h, &words[0], &sum[0], &cells.Gates[0], &cells.Prev[0], &cells.Tanh[0], &dh[0],
			&dc[0])
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
func ReferenceCellForward[T float32 | float64](words []int32, input []T, cells Cells[T]) {
	sigmoid := func(x T) T { return T(1 / (1 + math.Exp(-float64(x)))) }
	tangent := func(x T) T { return T(math.Tanh(float64(x))) }
	h := len(cells.Hidden) / max(1, len(words))
	for r, word := range words {
		z := cells.Gates[r*4*h : (r+1)*4*h]
		for j, x := range input[int(max(word, ^word))*4*h:][:4*h] {
			z[j] += x
			if j < 3*h {
				z[j] = sigmoid(z[j])
			} else {
				z[j] = tangent(z[j])
			}
		}
		for j := range h {
			in := z[j]
			forget := z[h+j]
			out := z[2*h+j]
			g := z[3*h+j]
			at := r*h + j
			kept := T(forget * cells.Prev[at])
			cells.Cell[at] = T(float64(in)*float64(g) + float64(kept))
			cells.Tanh[at] = tangent(cells.Cell[at])
			cells.Hidden[at] = out * cells.Tanh[at]
		}
	}
}

// ReferenceCellBackward is the specification of CellBackward.
func ReferenceCellBackward[T float32 | float64](words []int32, sum []T, cells Cells[T], dh, dc []T) {
	h := len(dh) / max(1, len(words))
	for r, word := range words {
		z := cells.Gates[r*4*h : (r+1)*4*h]
		for j := range h {
			at := r*h + j
			i := z[j]
			f := z[h+j]
			o := z[2*h+j]
			g := z[3*h+j]
			t := cells.Tanh[at]
			slope := T(slopeOfTanh(t) * o)
			d := T(float64(dh[at])*float64(slope) + float64(dc[at]))
			z[j] = T(d * g * i * (1 - i))
			z[h+j] = T(d * cells.Prev[at] * f * (1 - f))
			z[2*h+j] = T(dh[at] * t * o * (1 - o))
			z[3*h+j] = T(slopeOfTanh(g) * d * i)
			dc[at] = d * f
		}
		to := sum[int(max(word, ^word))*4*h:][:4*h]
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
