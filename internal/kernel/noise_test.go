package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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
