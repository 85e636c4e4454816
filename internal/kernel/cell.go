package kernel

import "fmt"

// CellForward advances one LSTM cell by one step. gates holds the inputs of i,
// f, o and g, h numbers each, and is overwritten with their values:
//
//	i, f, o = σ;  g = tanh;  cell = f∘prev + i∘g;  hidden = o∘tanh(cell)
//
// tanh receives tanh(cell). cell may be prev. The error is that of Sigmoid,
// Tanh and one rounding per operation.
func CellForward(gates, prev, cell, tanh, hidden []float32) {
	h := len(hidden)
	checkCell(h, gates, prev, cell, tanh)
	if s := simd(); h > 0 && s.whole(h) == h {
		s.cellForward(h, &gates[0], &prev[0], &cell[0], &tanh[0], &hidden[0])
		return
	}
	PlainCellForward(Sigmoid, Tanh, gates, prev, cell, tanh, hidden)
}

// CellBackward is the derivative of CellForward. From the derivative dh with
// respect to hidden, and dc, that with respect to cell through later steps, it
// computes the derivatives with respect to the inputs of the gates, stored in
// gates, and to prev, stored in dc.
func CellBackward(gates, prev, tanh, dh, dc []float32) {
	h := len(dh)
	checkCell(h, gates, prev, tanh, dc)
	if s := simd(); h > 0 && s.whole(h) == h {
		s.cellBackward(h, &gates[0], &prev[0], &tanh[0], &dh[0], &dc[0])
		return
	}
	PlainCellBackward(gates, prev, tanh, dh, dc)
}

func checkCell(h int, gates []float32, others ...[]float32) {
	if len(gates) != 4*h {
		panic(fmt.Sprintf("kernel: %d gates of an LSTM cell of %d", len(gates), h))
	}
	for _, x := range others {
		if len(x) != h {
			panic(fmt.Sprintf("kernel: %d numbers for an LSTM cell of %d", len(x), h))
		}
	}
}

// PlainCellForward is the specification of CellForward, in either precision.
func PlainCellForward[T float32 | float64](sigmoid, hyperbolic func(dst, src []T), gates, prev, cell, tanh,
	hidden []T) {
	h := len(hidden)
	sigmoid(gates[:3*h], gates[:3*h])
	hyperbolic(gates[3*h:], gates[3*h:])
	for j := range hidden {
		cell[j] = gates[h+j]*prev[j] + gates[j]*gates[3*h+j]
	}
	hyperbolic(tanh, cell)
	for j := range hidden {
		hidden[j] = gates[2*h+j] * tanh[j]
	}
}

// PlainCellBackward is the specification of CellBackward, in either precision.
func PlainCellBackward[T float32 | float64](gates, prev, tanh, dh, dc []T) {
	h := len(dh)
	in, forget, out, g := gates[:h], gates[h:2*h], gates[2*h:3*h], gates[3*h:4*h]
	for j, e := range dh {
		i, f, o, c, t := in[j], forget[j], out[j], g[j], tanh[j]
		d := dc[j] + e*o*(1-t*t)
		in[j] = d * c * i * (1 - i)
		forget[j] = d * prev[j] * f * (1 - f)
		out[j] = e * t * o * (1 - o)
		g[j] = d * i * (1 - c*c)
		dc[j] = d * f
	}
}
