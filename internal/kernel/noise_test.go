package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTransformIsTheSameOnEveryPath compares bits.
func TestTransformIsTheSameOnEveryPath(t *testing.T) {
	for _, d := range []int{1, 3, 16, 31, 32, 50, 100, 300} {
		rng := rand.New(rand.NewPCG(1, uint64(d)))
		for _, rows := range []int{1, 5, 14, 33} {
			src, m := random(rng, rows*d), random(rng, d*d)
			var want []float32
			onEachPath(t, func(t *testing.T) {
				got := make([]float32, rows*d)
				Transform(got, src, m, d)
				if want == nil {
					want = got
				}
				for i := range got {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						t.Fatalf("d = %d, %d rows: element %d is %v, elsewhere %v", d, rows, i, got[i], want[i])
					}
				}
			})
		}
	}
}

func TestSetNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for n := 1; n < 70; n++ {
		v := random(rng, n)
		before := slices.Clone(v)
		SetNorm(v, 7)
		sum := 0.0
		for i, x := range v {
			sum += float64(x) * float64(x)
			if float64(x)*float64(before[0])-float64(v[0])*float64(before[i]) > 1e-5 {
				t.Fatalf("n = %d: direction changed", n)
			}
		}
		if math.Abs(math.Sqrt(sum)-7) > 1e-6 {
			t.Errorf("n = %d: length %v, want 7", n, math.Sqrt(sum))
		}
	}
	zero := make([]float32, 3)
	if SetNorm(zero, 2); !slices.Equal(zero, []float32{2, 0, 0}) {
		t.Errorf("zero vector became %v", zero)
	}
}

// TestFillNormal checks that batches do not matter, and the first four moments
// of 4·10⁵ draws within 6 standard errors (false alarm below 1e-8).
func TestFillNormal(t *testing.T) {
	const n = 400_000
	all, parts := make([]float32, n), make([]float32, n)
	FillNormal(all, rand.New(rand.NewChaCha8([32]byte{1})))
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	for i := 0; i < n; {
		j := min(n, i+1+i%97)
		FillNormal(parts[i:j], rng)
		i = j
	}
	if !slices.Equal(all, parts) {
		t.Error("batches change the draws")
	}
	for k, m := range []struct{ mean, variance float64 }{{0, 1}, {1, 2}, {0, 15}, {3, 96}} {
		sum := 0.0
		for _, x := range all {
			sum += math.Pow(float64(x), float64(k+1))
		}
		if e := math.Abs(sum/n - m.mean); e > 6*math.Sqrt(m.variance/n) {
			t.Errorf("moment %d is %v, want %v", k+1, sum/n, m.mean)
		}
	}
}

func BenchmarkNoise(b *testing.B) {
	for _, d := range []int{50, 100, 300} {
		rng := rand.New(rand.NewChaCha8([32]byte{2}))
		const rows = 64
		v, w, m := make([]float32, rows*d), make([]float32, rows*d), random(rng, d*d)
		perWord := func(b *testing.B) {
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/rows, "µs/word")
		}
		b.Run(fmt.Sprintf("normal/%d", d), func(b *testing.B) {
			for b.Loop() {
				FillNormal(v, rng)
			}
			perWord(b)
		})
		b.Run(fmt.Sprintf("norm/%d", d), func(b *testing.B) {
			for b.Loop() {
				for i := range rows {
					SetNorm(v[i*d:i*d+d], 3)
				}
			}
			perWord(b)
		})
		b.Run(fmt.Sprintf("transform/%d", d), func(b *testing.B) {
			for b.Loop() {
				Transform(w, v, m, d)
			}
			perWord(b)
		})
	}
}
