package kernel

// fusedCells is the width of the registers in which cells were once computed.
// Networks of such a size were trained with fused operations, others without,
// and published accuracies are those of both.
const fusedCells = 16

// CellForward advances one LSTM cell by one step, in either precision; sigmoid
// and tangent are the elementwise functions. gates holds the inputs of i, f, o
// and g, h numbers each, and is overwritten with their values:
//
//	i, f, o = σ;  g = tanh;  cell = f∘prev + i∘g;  hidden = o∘tanh(cell)
//
// tanh receives tanh(cell). cell may be prev. Every operation is rounded; where
// h is a multiple of fusedCells, products are added before they are rounded.
func CellForward[T float32 | float64](sigmoid, tangent func(dst, src []T), gates, prev, cell, tanh, hidden []T) {
	h := len(hidden)
	sigmoid(gates[:3*h], gates[:3*h])
	tangent(gates[3*h:], gates[3*h:])
	in, forget, out, g := gates[:h], gates[h:2*h], gates[2*h:3*h], gates[3*h:4*h]
	for j := range hidden {
		kept := T(forget[j] * prev[j])
		if h%fusedCells == 0 {
			cell[j] = T(float64(in[j])*float64(g[j]) + float64(kept))
		} else {
			cell[j] = kept + T(in[j]*g[j])
		}
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
		var d, dg T
		if h%fusedCells == 0 {
			slope := T(slopeOfTanh(t) * o)
			d = T(float64(e)*float64(slope) + float64(dc[j]))
			dg = slopeOfTanh(c) * d * i
		} else {
			d = dc[j] + T(e*o*(1-T(t*t)))
			dg = d * i * (1 - T(c*c))
		}
		in[j] = d * c * i * (1 - i)
		forget[j] = d * prev[j] * f * (1 - f)
		out[j] = e * t * o * (1 - o)
		g[j] = dg
		dc[j] = d * f
	}
}

// slopeOfTanh is the derivative of tanh where its value is t.
func slopeOfTanh[T float32 | float64](t T) T { return T(1 - float64(t)*float64(t)) }
