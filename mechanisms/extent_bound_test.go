package mechanisms

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/internal/spacetest"
)

// The bound is the diameter where few pairs decide, and a bound on it where all
// words are equally far from the centre.
func TestDiameterBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sphere := range []bool{false, true} {
		const n, d = 900, 3
		vectors := make([]float32, n*d)
		for i := range n {
			v, norm := vectors[i*d:(i+1)*d], 0.0
			for j := range v {
				v[j] = float32(rng.NormFloat64())
				norm += float64(v[j]) * float64(v[j])
			}
			if sphere {
				for j := range v {
					v[j] /= float32(math.Sqrt(norm))
				}
			}
		}
		s := spacetest.New(t, d, vectors)
		exact, err := Diameter(s)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := DiameterBound(s)
		if err != nil {
			t.Fatal(err)
		}
		if bound < exact || bound > 2.2 && sphere || !sphere && bound != exact {
			t.Errorf("sphere %v: bound %v, diameter %v", sphere, bound, exact)
		}
	}
}
