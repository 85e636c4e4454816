package mechanisms

import (
	"math"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// The noisy vector is the float64 sum rounded once, also where the noise has a
// shape.
func TestNoiseIsRoundedOnce(t *testing.T) {
	const d = 37
	s := spacetest.Gaussian(t, 60, d, 1, 61)
	for _, name := range []string{"cmp", "mahalanobis"} {
		for _, epsilon := range []float64{1e-3, 1, 50} {
			m := mustNew(t, environment(s), Settings{Mechanism: name, Epsilon: epsilon})
			const rows = 201 // not a multiple of the rows that are shaped together
			got, z := make([]float32, rows*d), make([]float64, d)
			m.Noise().Vectors(got, 1, stream.FromUint64(62).Rand())
			rng := stream.FromUint64(62).Rand()
			shape := samplerOf[*projector](t, m).shape
			var root [][]float64
			if shape != nil {
				root = rowsOf(shape, d)
			}
			for r := range rows {
				sphericalNoise(z, epsilon, rng)
				for i := range d {
					noise := z[i]
					if root != nil {
						noise = 0
						for k, x := range z {
							noise += float64(root[i][k] * x)
						}
					}
					if want := float32(float64(s.Vector(1)[i]) + noise); got[r*d+i] != want {
						t.Fatalf("%s, ε = %v: %v, want %v", name, epsilon, got[r*d+i], want)
					}
				}
			}
		}
	}
}

// What PrivEmb releases lies on its grid, whatever the word: the last bits of
// the sum, which would reveal the vector a float comes from, are not released.
func TestPrivEmbReleasesAGrid(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 30, 1, 64)
	for _, epsilon := range []float64{0.01, 1, 30} {
		for _, projection := range []string{"none", "gaussian"} {
			v, err := NewVector(environment(s), Settings{Mechanism: "privemb", Epsilon: epsilon,
				Parameters: Parameters{"projection": projection}})
			if err != nil {
				t.Fatal(err)
			}
			m := v.(*privEmb)
			grid := m.grid()
			if ratio := grid * m.noise; ratio > 1.0/1024 || ratio <= 1.0/2048 {
				t.Errorf("ε = %v: grid of %v of the noise's scale", epsilon, ratio)
			}
			src := make([]WordID, 50)
			for i := range src {
				src[i] = WordID(i)
			}
			out := make([]float32, len(src)*m.OutputDimension())
			m.Release(out, src, stream.FromUint64(65).Rand())
			for i, x := range out {
				if steps := float64(x) / grid; steps != math.Trunc(steps) && math.Abs(steps) < 1<<24 {
					t.Fatalf("ε = %v, %s: number %d is %v steps of the grid", epsilon, projection, i, steps)
				}
			}
		}
	}
}
