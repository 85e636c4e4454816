package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
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
	before := active().String()
	restore, err := Use("go")
	if err != nil {
		t.Fatal(err)
	}
	if active().String() != "go" {
		t.Errorf("path is %s after Use(go)", active().String())
	}
	restore()
	if active().String() != before {
		t.Errorf("path is %s after restore, was %s", active().String(), before)
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
			transA, transB := rng.IntN(2) == 1, rng.IntN(2) == 1
			rowsA, lda := m, k
			if transA {
				rowsA, lda = k, m
			}
			rowsB, ldb := k, n
			if transB {
				rowsB, ldb = n, k
			}
			ldc := n + rng.IntN(3)
			lda += rng.IntN(3)
			ldb += rng.IntN(3)
			a, b, c := random(rng, rowsA*lda), random(rng, rowsB*ldb), random(rng, m*ldc)
			alpha, beta := float32(rng.IntN(3))-0.5, float32(rng.IntN(3))*0.5
			want, size := make([]float64, m*ldc), make([]float64, m*ldc)
			for i := range m {
				for j := range n {
					for q := range k {
						x, y := i*lda+q, q*ldb+j
						if transA {
							x = q*lda + i
						}
						if transB {
							y = j*ldb + q
						}
						p := float64(a[x]) * float64(b[y])
						want[i*ldc+j] += float64(alpha) * p
						size[i*ldc+j] += math.Abs(float64(alpha) * p)
					}
					want[i*ldc+j] += float64(beta * c[i*ldc+j])
					size[i*ldc+j] += math.Abs(float64(beta * c[i*ldc+j]))
				}
			}
			got := append([]float32(nil), c...)
			if beta == 0 {
				for i := range m {
					for j := range n {
						got[i*ldc+j] = float32(math.NaN()) // must not be read
					}
				}
			}
			Gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, got, ldc)
			for i := range m {
				for j := range ldc {
					at := i*ldc + j
					if j >= n {
						if got[at] != c[at] {
							t.Fatalf("%d×%d×%d: wrote outside C at row %d, column %d", m, n, k, i, j)
						}
						continue
					}
					if !(math.Abs(float64(got[at])-want[at]) <= float64(k+3)*0x1p-24*size[at]) {
						t.Fatalf("%v %v %d×%d×%d: C[%d,%d] = %v, want %v", transA, transB, m, n, k, i, j, got[at],
							want[at])
					}
				}
			}
		}
	})
}

func TestGemmRefusesWrongShapes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a short A was accepted")
		}
	}()
	Gemm(false, false, 2, 2, 2, 1, make([]float32, 3), 2, make([]float32, 4), 2, 0, make([]float32, 4), 2)
}

// ulps is the distance of x from the real number want, in units of the last
// place of want as a float32.
func ulps(x float32, want float64) float64 {
	if float64(x) == want || math.IsNaN(want) && x != x {
		return 0
	}
	w := float32(want)
	if math.IsInf(float64(w), 0) {
		if x == w {
			return 0
		}
		return math.Inf(1)
	}
	unit := float64(math.Nextafter32(float32(math.Abs(want)), math.MaxFloat32)) -
		math.Abs(float64(float32(math.Abs(want))))
	return math.Abs(float64(x)-want) / unit
}

func TestActivations(t *testing.T) {
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1e-40, -1e-40, 1e-30, 0.3465, -0.3465, 0.34657359, 1, -1,
		9, -9, 15, 20, 40, 86.9, 88, 88.7, 88.72, -86.9, -87.5, -100, -103, -104.5, 1000, -1000, inf, -inf,
		float32(math.NaN())}
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		x := append([]float32(nil), special...)
		for range 200_001 {
			x = append(x, float32(rng.NormFloat64()*math.Pow(10, 4*rng.Float64()-2.5)))
		}
		y := make([]float32, len(x))
		for _, f := range []struct {
			name  string
			apply func(dst, src []float32)
			exact func(x float64) float64
			ulp   float64
		}{
			{"exp", Exp, math.Exp, 2},
			{"sigmoid", Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 3},
			{"tanh", Tanh, math.Tanh, 4},
		} {
			f.apply(y, x)
			worst := 0.0
			for i := range x {
				want := f.exact(float64(x[i]))
				if f.name == "exp" && x[i] > 88.72 && x[i] < 89 {
					continue // near the overflow either answer is within an ulp
				}
				if f.name == "sigmoid" && x[i] < -87 {
					if !(math.Abs(float64(y[i])-want) <= 2e-38) {
						t.Errorf("sigmoid(%v) = %v, want %v", x[i], y[i], want)
					}
					continue
				}
				e := ulps(y[i], want)
				worst = max(worst, e)
				if !(e <= f.ulp) {
					t.Fatalf("%s(%v) = %v, want %v: %v ulp", f.name, x[i], y[i], want, e)
				}
			}
			t.Logf("%s: worst error %.2f ulp", f.name, worst)
			for n := range 40 {
				z := append([]float32(nil), x[:n+1]...)
				f.apply(z[:n], z[:n]) // in place, any length
				for i := range n {
					if math.Float32bits(z[i]) != math.Float32bits(y[i]) {
						t.Fatalf("%s of %d numbers: element %d is %v, was %v", f.name, n, i, z[i], y[i])
					}
				}
				if math.Float32bits(z[n]) != math.Float32bits(x[n]) {
					t.Fatalf("%s of %d numbers wrote beyond them", f.name, n)
				}
			}
		}
	})
}

// TestAxpy compares bits: product and sum are rounded separately.
func TestAxpy(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 200 {
			x, y := random(rng, n), random(rng, n)
			alpha := float32(rng.NormFloat64())
			got := append([]float32(nil), y...)
			Axpy(alpha, x, got)
			for i := range x {
				if want := y[i] + float32(alpha*x[i]); got[i] != want {
					t.Fatalf("axpy of %d: element %d is %v, want %v", n, i, got[i], want)
				}
			}
		}
	})
}

func gflops(b *testing.B, operations float64) {
	b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkGemm(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, name := range Paths() {
		for _, s := range []struct {
			m, n, k        int
			transA, transB bool
		}{{64, 256, 64, false, false}, {64, 256, 364, false, false}, {5120, 256, 100, false, false},
			{364, 256, 5120, true, false}, {64, 64, 256, false, true}, {512, 512, 512, false, false}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", name, s.m, s.n, s.k), func(b *testing.B) {
				restore, _ := Use(name)
				defer restore()
				x, y, z := random(rng, s.m*s.k), random(rng, s.k*s.n), make([]float32, s.m*s.n)
				lda, ldb := s.k, s.n
				if s.transA {
					lda = s.m
				}
				if s.transB {
					ldb = s.k
				}
				for b.Loop() {
					Gemm(s.transA, s.transB, s.m, s.n, s.k, 1, x, lda, y, ldb, 1, z, s.n)
				}
				gflops(b, 2*float64(s.m*s.n*s.k))
			})
		}
	}
}

func BenchmarkActivation(b *testing.B) {
	rng := rand.New(rand.NewPCG(11, 12))
	x := random(rng, 4096)
	y := make([]float32, len(x))
	for _, name := range Paths() {
		for _, f := range []struct {
			name  string
			apply func(dst, src []float32)
		}{{"exp", Exp}, {"sigmoid", Sigmoid}, {"tanh", Tanh}} {
			b.Run(name+"/"+f.name, func(b *testing.B) {
				restore, _ := Use(name)
				defer restore()
				for b.Loop() {
					f.apply(y, x)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(x)), "ns/value")
			})
		}
	}
}
