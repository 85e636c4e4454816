package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomCSR has rows of lengths that differ as those of documents and of words do, some empty.
func randomCSR(rng *rand.Rand, rows, width int) CSR {
	m := CSR{Width: width, Start: []int{0}}
	for range rows {
		length := rng.IntN(6)
		if rng.IntN(5) == 0 {
			length = rng.IntN(90)
		}
		for range length {
			m.Columns = append(m.Columns, int32(rng.IntN(width)))
			m.Data = append(m.Data, float32(rng.NormFloat64()))
		}
		m.Start = append(m.Start, len(m.Columns))
	}
	return m
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func clone(x []float64) []float64 { return append([]float64(nil), x...) }

// Products with the matrix and with its transpose are those of a plain loop over the rows, to the bit.
func TestSparse(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(31, 32))
		for range 200 {
			m := randomCSR(rng, rng.IntN(60), 1+rng.IntN(40))
			rows := len(m.Start) - 1
			w := normals(rng, m.Width)
			a := normals(rng, rows)
			got := normals(rng, rows)
			into := normals(rng, m.Width)
			want := clone(got)
			wantInto := clone(into)
			for i := range rows {
				for k := m.Start[i]; k < m.Start[i+1]; k++ {
					want[i] += float64(float64(m.Data[k]) * w[m.Columns[k]])
					wantInto[m.Columns[k]] += float64(float64(m.Data[k]) * a[i])
				}
			}
			m.Pack().AddProducts(got, w)
			m.Transposed().Pack().AddProducts(into, a)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%d × %d, row %d: product %v, want %v to the bit", rows, m.Width, i, got[i], want[i])
				}
			}
			for j := range wantInto {
				if math.Float64bits(into[j]) != math.Float64bits(wantInto[j]) {
					t.Fatalf("%d × %d, column %d: product %v, want %v to the bit", rows, m.Width, j, into[j],
						wantInto[j])
				}
			}
		}
	})
}

// Shapes that would read or write beyond a slice panic on every path.
func TestSparseChecksShapes(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		m := CSR{Width: 3, Start: []int{0, 2}, Columns: []int32{0, 2}, Data: []float32{1, 2}}
		p := m.Pack()
		for what, f := range map[string]func(){
			"a vector that is too short": func() { p.AddProducts(make([]float64, 1), make([]float64, 2)) },
			"a vector that is too long":  func() { p.AddProducts(make([]float64, 1), make([]float64, 4)) },
			"a result that is too short": func() { p.AddProducts(nil, make([]float64, 3)) },
			"a column beyond the last": func() {
				CSR{Width: 2, Start: m.Start, Columns: m.Columns, Data: m.Data}.Pack()
			},
			"a column before the first":   func() { CSR{3, []int{0, 1}, []int32{-1}, []float32{1}}.Pack() },
			"fewer numbers than columns":  func() { CSR{3, []int{0, 2}, []int32{0, 1}, []float32{1}}.Pack() },
			"more numbers than there are": func() { CSR{3, []int{0, 3}, []int32{0, 1}, []float32{1, 2}}.Pack() },
		} {
			if !panics(f) {
				t.Errorf("%s: no panic", what)
			}
		}
		if fmt.Sprint(m.Transposed()) != "{1 [0 1 1 2] [0 0] [1 2]}" {
			t.Errorf("transposed %v, want columns of one, no and one number", m.Transposed())
		}
	})
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
