package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// onEachPath runs a test on every form this processor can run.
func onEachPath(t *testing.T, f func(t *testing.T)) {
	for _, name := range Paths() {
		t.Run(name, func(t *testing.T) {
			restore, err := use(name)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func TestUse(t *testing.T) {
	for _, name := range []string{"", "sse", "AVX2"} {
		if _, err := use(name); err == nil {
			t.Errorf("use(%q) was accepted", name)
		}
	}
	before := active()
	restore, err := use("go")
	if err != nil || active() != pathGo {
		t.Fatalf("path is %s after use(go), error %v", active(), err)
	}
	if restore(); active() != before {
		t.Errorf("path is %s after restore, was %s", active(), before)
	}
}

// TestProduct compares with a float64 product under the stated error bound.
func TestProduct(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 400 {
			m, n, k := rng.IntN(40), rng.IntN(80), rng.IntN(60)
			if trial%50 == 0 {
				k += 700 // more than one block of depth
			}
			transposed := rng.IntN(2) == 1 // AddTransposedProduct in place of Product
			a := Matrix[float32]{Rows: m, Columns: k}
			if transposed {
				a = Matrix[float32]{Rows: k, Columns: m}
			}
			b := Matrix[float32]{Rows: k, Columns: n}
			c := Matrix[float32]{Rows: m, Columns: n}
			for _, x := range []*Matrix[float32]{&a, &b, &c} {
				x.Stride = x.Columns + rng.IntN(3)
				x.Data = random(rng, x.Rows*x.Stride)
			}
			want := make([]float64, len(c.Data))
			size := make([]float64, len(c.Data))
			for i := range m {
				for j := range n {
					at := i*c.Stride + j
					if transposed {
						want[at] = float64(c.Data[at])
						size[at] = math.Abs(want[at])
					}
					for q := range k {
						x := i*a.Stride + q
						if transposed {
							x = q*a.Stride + i
						}
						p := float64(a.Data[x]) * float64(b.Data[q*b.Stride+j])
						want[at] += p
						size[at] += math.Abs(p)
					}
				}
			}
			got := c
			got.Data = slices.Clone(c.Data)
			if transposed {
				AddTransposedProduct(got, a, b)
			} else {
				for at := range got.Data {
					if at%c.Stride < n {
						got.Data[at] = float32(math.NaN()) // must not be read
					}
				}
				Product(got, a, b)
			}
			for at, x := range got.Data {
				if outside := at%c.Stride >= n; outside && x != c.Data[at] ||
					!outside && !(math.Abs(float64(x)-want[at]) <= float64(k+3)*0x1p-24*size[at]) {
					t.Fatalf("transposed %v, %d×%d×%d: C[%d,%d] = %v, want %v", transposed, m, n, k, at/c.Stride,
						at%c.Stride, x, want[at])
				}
			}
		}
	})
}

// Shapes that are no product, and data too short for its shape, are errors of the program.
func TestProductChecksShapes(t *testing.T) {
	numbers := make([]float32, 12)
	good := Dense(numbers, 3, 4)
	square := Dense(numbers, 3, 3)
	for name, call := range map[string]func(){
		"inner sizes":          func() { Product(square, good, good) },
		"rows of C":            func() { Product(Dense(numbers, 2, 4), square, good) },
		"columns of C":         func() { Product(square, square, good) },
		"transposed inner":     func() { AddTransposedProduct(square, good, Dense(numbers, 4, 3)) },
		"data too short":       func() { Product(Dense(numbers, 3, 5), square, Dense(numbers, 3, 5)) },
		"stride below columns": func() { Product(good, square, Matrix[float32]{numbers, 3, 4, 3}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the product was computed, want a panic")
				}
			}()
			call()
		})
	}
}

// ulps is the distance of x from the real number want, in units of the last
// place of want as a float32.
func ulps(x float32, want float64) float64 {
	w := float32(want)
	if float64(x) == want || x == w || math.IsNaN(want) && x != x {
		return 0
	}
	size := float32(math.Abs(float64(w)))
	return math.Abs(float64(x)-want) / float64(math.Nextafter32(size, math.MaxFloat32)-size)
}

// The gates of a cell without a past are the activations: every path is within
// the stated errors.
func TestActivations(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{0, float32(math.Copysign(0, -1)), 1e-40, -1e-40, 1e-30, 0.3465, -0.3465, 0.34657359, 1, -1,
		9, -9, 15, 20, 40, 86.9, 88, 88.7, 88.72, -86.9, -87.5, -100, -103, -104.5, 1000, -1000, inf, -inf,
		float32(math.NaN()), 1e30, -1e30, 3}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		x = append(x, float32(rng.NormFloat64()*math.Pow(10, 4*rng.Float64()-2.5)))
	}
	onEachPath(t, func(t *testing.T) {
		h, worst := len(x), [2]float64{}
		gates, past := make([]float32, 4*h), make([]float32, h)
		input := slices.Concat(x, x, x, x)
		CellForward([]int32{0}, input, Cells[float32]{gates, past, make([]float32, h), make([]float32, h), make([]float32, h)})
		for i, x := range x {
			sigma, tangent := 1/(1+math.Exp(-float64(x))), math.Tanh(float64(x))
			if x < -87 {
				if !(math.Abs(float64(gates[i])-sigma) <= 2e-38) {
					t.Errorf("sigmoid(%v) = %v, want %v", x, gates[i], sigma)
				}
			} else {
				worst[0] = max(worst[0], ulps(gates[i], sigma), ulps(gates[h+i], sigma), ulps(gates[2*h+i], sigma))
			}
			worst[1] = max(worst[1], ulps(gates[3*h+i], tangent))
		}
		t.Logf("worst errors: sigmoid %.2f ulp, tanh %.2f ulp", worst[0], worst[1])
		if !(worst[0] <= 3 && worst[1] <= 4) {
			t.Error("too much")
		}
	})
}
