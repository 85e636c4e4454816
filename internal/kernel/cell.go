package kernel

// CellForward advances one LSTM cell by one step, in either precision; sigmoid
// and tangent are the elementwise functions. gates holds the inputs of i, f, o
// and g, h numbers each, and is overwritten with their values:
//
//	i, f, o = σ;  g = tanh;  cell = f∘prev + i∘g;  hidden = o∘tanh(cell)
//
// tanh receives tanh(cell). cell may be prev. i∘g is added before it is rounded
// to float32; all other operations are rounded each.
func CellForward[T float32 | float64](sigmoid, tangent func(dst, src []T), gates, prev, cell, tanh, hidden []T) {
	h := len(hidden)
	sigmoid(gates[:3*h], gates[:3*h])
	tangent(gates[3*h:], gates[3*h:])
	in, forget, out, g := gates[:h], gates[h:2*h], gates[2*h:3*h], gates[3*h:4*h]
	for j := range hidden {
		kept := T(forget[j] * prev[j])
		cell[j] = T(float64(in[j])*float64(g[j]) + float64(kept))
	}
	tangent(tanh, cell)
	for j := range hidden {
		hidden[j] = out[j] * tanh[j]
	}
}

// CellBackward is the derivative of CellForward. From the derivative dh with
// respect to hidden, and dc, that with respect to cell through later steps, it
// computes the derivatives with respect to the inputs of the gates, stored in
// gates, and to prev, stored in dc. Sums are rounded as in CellForward.
func CellBackward[T float32 | float64](gates, prev, tanh, dh, dc []T) {
	h := len(dh)
	in, forget, out, g := gates[:h], gates[h:2*h], gates[2*h:3*h], gates[3*h:4*h]
	for j, e := range dh {
		i, f, o, c, t := in[j], forget[j], out[j], g[j], tanh[j]
		slope := T(slopeOfTanh(t) * o)
		d := T(float64(e)*float64(slope) + float64(dc[j]))
		in[j] = d * c * i * (1 - i)
		forget[j] = d * prev[j] * f * (1 - f)
		out[j] = e * t * o * (1 - o)
		g[j] = slopeOfTanh(c) * d * i
		dc[j] = d * f
	}
}

// slopeOfTanh is the derivative of tanh where its value is t.
func slopeOfTanh[T float32 | float64](t T) T { return T(1 - float64(t)*float64(t)) }
