package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Combine is rounded once, so it equals its reference bit for bit; not-a-number
// and infinities included.
func TestCombine(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), 1e-42}
		for range 300 {
			n := 1 + rng.IntN(90)
			a, b := random(rng, n), random(rng, n)
			a[rng.IntN(n)], b[rng.IntN(n)] = special[rng.IntN(5)], special[rng.IntN(5)]
			switch rng.IntN(3) {
			case 0:
				a = a[:1]
			case 1:
				b = b[:1]
			}
			for o := Add; o <= Smaller; o++ {
				dst := make([]float32, n)
				Combine(o, dst, a, b)
				for i, got := range dst {
					x, y := a[min(i, len(a)-1)], b[min(i, len(b)-1)]
					if want := o.reference(x, y); math.Float32bits(got) != math.Float32bits(want) && want == want {
						t.Fatalf("operation %d of %v and %v: %v, want %v", o, x, y, got, want)
					} else if want != want && got == got {
						t.Fatalf("operation %d of %v and %v: %v, want NaN", o, x, y, got)
					}
				}
			}
		}
	})
}

func TestSumLargest(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for range 200 {
			x := random(rng, 1+rng.IntN(200))
			var sum, size float64
			largest := math.Inf(-1)
			for _, v := range x {
				sum, size, largest = sum+float64(v), size+math.Abs(float64(v)), max(largest, float64(v))
			}
			if got := Sum(x); !(math.Abs(float64(got)-sum) <= float64(len(x))*0x1p-24*size) {
				t.Fatalf("sum of %d: %v, want %v", len(x), got, sum)
			}
			if got := Largest(x); float64(got) != largest {
				t.Fatalf("largest of %d: %v, want %v", len(x), got, largest)
			}
		}
	})
}

func TestErf(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		var x []float32
		for v := float32(-6); v < 6; v += 0.003 {
			x = append(x, v)
		}
		x = append(x, 0, 1e-30, float32(math.Inf(1)), float32(math.Inf(-1)))
		got := make([]float32, len(x))
		Erf(got, x)
		for i, v := range x {
			if want := math.Erf(float64(v)); !(math.Abs(float64(got[i])-want) <= 1e-6) {
				t.Fatalf("erf(%v) = %v, want %v", v, got[i], want)
			}
		}
		nan := []float32{float32(math.NaN())}
		if Erf(nan, nan); nan[0] == nan[0] {
			t.Error("erf(NaN) is a number")
		}
	})
}

// A packed product is under Gemm's bound, and its rows do not depend on how
// many there are.
func TestPacked(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for trial := range 150 {
			m, n, k := 1+rng.IntN(60), 1+rng.IntN(100), 1+rng.IntN(60)
			if trial%10 == 0 {
				k += 700
			}
			a, b := random(rng, m*k), random(rng, k*n)
			rowStride, colStride := n, 1
			if trial%2 == 0 {
				rowStride, colStride = 1, k
			}
			var bias []float32
			if trial%3 > 0 {
				bias = random(rng, n)
			}
			p := Pack(k, n, b, rowStride, colStride, bias)
			c := make([]float32, m*n)
			p.Multiply(m, a, c)
			for i := range m {
				for j := range n {
					var want, size float64
					if bias != nil {
						want, size = float64(bias[j]), math.Abs(float64(bias[j]))
					}
					for q := range k {
						x := float64(a[i*k+q]) * float64(b[q*rowStride+j*colStride])
						want, size = want+x, size+math.Abs(x)
					}
					if !(math.Abs(float64(c[i*n+j])-want) <= float64(k+3)*0x1p-24*size) {
						t.Fatalf("%d×%d×%d: C[%d,%d] = %v, want %v", m, n, k, i, j, c[i*n+j], want)
					}
				}
			}
			row, alone := rng.IntN(m), make([]float32, n)
			p.Multiply(1, a[row*k:], alone)
			for j, x := range alone {
				if x != c[row*n+j] {
					t.Fatalf("%d×%d×%d: row %d differs when it is alone", m, n, k, row)
				}
			}
		}
	})
}

func BenchmarkPacked(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, m := range []int{32, 128, 256} {
		const k, n = 512, 1536
		p := Pack(k, n, random(rng, k*n), n, 1, random(rng, n))
		x, c := random(rng, m*k), make([]float32, m*n)
		b.Run(map[int]string{32: "m=32", 128: "m=128", 256: "m=256"}[m], func(b *testing.B) {
			for b.Loop() {
				p.Multiply(m, x, c)
			}
			b.ReportMetric(2*float64(m*k*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
