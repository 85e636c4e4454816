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
			restore, err := Use(name)
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
		if _, err := Use(name); err == nil {
			t.Errorf("Use(%q) was accepted", name)
		}
	}
	before := active()
	restore, err := Use("go")
	if err != nil || active() != pathGo {
		t.Fatalf("path is %s after Use(go), error %v", active(), err)
	}
	if restore(); active() != before {
		t.Errorf("path is %s after restore, was %s", active(), before)
	}
}

// TestGemm compares with a float64 product under the stated error bound.
func TestGemm(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for trial := range 400 {
			m, n, k := rng.IntN(40), rng.IntN(80), rng.IntN(60)
			if trial%50 == 0 {
				k += 700 // more than one block of depth
			}
			transA, add := rng.IntN(2) == 1, rng.IntN(2) == 1
			rowsA, lda := m, k
			if transA {
				rowsA, lda = k, m
			}
			ldc := n + rng.IntN(3)
			lda += rng.IntN(3)
			ldb := n + rng.IntN(3)
			a, b, c := random(rng, rowsA*lda), random(rng, k*ldb), random(rng, m*ldc)
			want, size := make([]float64, m*ldc), make([]float64, m*ldc)
			for i := range m {
				for j := range n {
					at := i*ldc + j
					if add {
						want[at], size[at] = float64(c[at]), math.Abs(float64(c[at]))
					}
					for q := range k {
						x := i*lda + q
						if transA {
							x = q*lda + i
						}
						p := float64(a[x]) * float64(b[q*ldb+j])
						want[at], size[at] = want[at]+p, size[at]+math.Abs(p)
					}
				}
			}
			got := append([]float32(nil), c...)
			for at := range got {
				if !add && at%ldc < n {
					got[at] = float32(math.NaN()) // must not be read
				}
			}
			Gemm(transA, m, n, k, a, lda, b, ldb, add, got, ldc)
			for at, x := range got {
				if outside := at%ldc >= n; outside && x != c[at] ||
					!outside && !(math.Abs(float64(x)-want[at]) <= float64(k+3)*0x1p-24*size[at]) {
					t.Fatalf("%v %v %d×%d×%d: C[%d,%d] = %v, want %v", transA, add, m, n, k, at/ldc, at%ldc, x, want[at])
				}
			}
		}
	})
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
		CellForward([]int32{0}, input, gates, past, make([]float32, h), make([]float32, h), make([]float32, h))
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
