package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every path computes in float32 what the cell computes in float64, also where
// cell is prev.
func TestCell(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	apply := func(f func(float64) float64) func(dst, src []float64) {
		return func(dst, src []float64) {
			for i, x := range src {
				dst[i] = f(x)
			}
		}
	}
	sigmoid := apply(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) })
	wide := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	onEachPath(t, func(t *testing.T) {
		for _, h := range []int{1, 12, 16, 64} {
			near := func(what string, got []float32, want []float64) {
				t.Helper()
				for i, w := range want {
					if math.Abs(float64(got[i])-w) > 1e-6*(1+math.Abs(w)) {
						t.Fatalf("h = %d: %s[%d] = %v, want %v", h, what, i, got[i], w)
					}
				}
			}
			gates, cell, tanh, hidden := random(rng, 4*h), random(rng, h), make([]float32, h), make([]float32, h)
			for i := range gates {
				gates[i] *= 3
			}
			prev := append([]float32(nil), cell...)
			wantGates, wantCell, wantTanh, wantHidden := wide(gates), wide(cell), wide(tanh), wide(hidden)
			CellForward(sigmoid, apply(math.Tanh), wantGates, wantCell, wantCell, wantTanh, wantHidden)
			CellForward(Sigmoid, Tanh, gates, cell, cell, tanh, hidden)
			near("gates", gates, wantGates)
			near("cell", cell, wantCell)
			near("tanh", tanh, wantTanh)
			near("hidden", hidden, wantHidden)

			dh, dc := random(rng, h), random(rng, h)
			wantGates, wantDC := wide(gates), wide(dc)
			CellBackward(wantGates, wide(prev), wide(tanh), wide(dh), wantDC)
			CellBackward(gates, prev, tanh, dh, dc)
			near("derivative of gates", gates, wantGates)
			near("derivative of prev", dc, wantDC)
		}
	})
}
