package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every path computes in float32 what the cell computes in float64, for sizes
// that fill registers and others, also where cell is prev and words repeat.
func TestCell(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	wide := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	words := []int32{^2, 0, 2, ^1, 2}
	rows := len(words)
	onEachPath(t, func(t *testing.T) {
		for _, h := range []int{1, 4, 12, 16, 21, 64, 100} {
			near := func(name string, got []float32, want []float64) {
				t.Helper()
				for i, w := range want {
					if math.Abs(float64(got[i])-w) > 1e-6*(1+math.Abs(w)) {
						t.Errorf("with %d units %s[%d] = %v, want %v of the reference", h, name, i, got[i], w)
						return
					}
				}
			}
			input, gates, cell := random(rng, 3*4*h), random(rng, rows*4*h), random(rng, rows*h)
			tanh, hidden := make([]float32, rows*h), make([]float32, rows*h)
			for i := range gates {
				gates[i] *= 3
			}
			prev := append([]float32(nil), cell...)
			wantGates, wantCell, wantTanh, wantHidden := wide(gates), wide(cell), wide(tanh), wide(hidden)
			want := Cells[float64]{wantGates, wantCell, wantCell, wantTanh, wantHidden}
			ReferenceCellForward(words, wide(input), want)
			CellForward(words, input, Cells[float32]{gates, cell, cell, tanh, hidden})
			near("gates", gates, wantGates)
			near("cell", cell, wantCell)
			near("tanh of the cell", tanh, wantTanh)
			near("hidden", hidden, wantHidden)

			sum, dh, dc := random(rng, 3*4*h), random(rng, rows*h), random(rng, rows*h)
			sum[4*h] = float32(math.NaN()) // of the fresh word 1
			wantSum, wantGates, wantDC := wide(sum), wide(gates), wide(dc)
			want = Cells[float64]{Gates: wantGates, Prev: wide(prev), Tanh: wide(tanh)}
			ReferenceCellBackward(words, wantSum, want, wide(dh), wantDC)
			CellBackward(words, sum, Cells[float32]{Gates: gates, Prev: prev, Tanh: tanh}, dh, dc)
			near("slope of gates", gates, wantGates)
			near("slope of the cell", dc, wantDC)
			near("sum of slopes by word", sum, wantSum)
		}
	})
}

// A cell of any size is the same arithmetic: its numbers are those of the
// first numbers of a wider cell, to the bit.
func TestCellOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	words := []int32{0, 0}
	onEachPath(t, func(t *testing.T) {
		const wide, h = 32, 20
		arrays := func(names ...int) (all, part [][]float32) {
			for _, n := range names {
				x := random(rng, n*wide)
				var y []float32
				for i := range n {
					y = append(y, x[i*wide:i*wide+h]...)
				}
				all, part = append(all, x), append(part, y)
			}
			return all, part
		}
		x, y := arrays(4, 8, 2, 2, 2, 2, 4, 2, 2)
		for _, a := range [][][]float32{x, y} {
			cells := Cells[float32]{a[1], a[2], a[3], a[4], a[5]}
			CellForward(words, a[0], cells)
			CellBackward(words, a[6], cells, a[7], a[8])
		}
		for k := range x {
			for i := range y[k] {
				if got, want := y[k][i], x[k][i/h*wide+i%h]; got != want {
					t.Fatalf("array %d: [%d] = %v, want %v", k, i, got, want)
				}
			}
		}
	})
}
