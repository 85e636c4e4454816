package mechanisms

import (
	"math"
	"testing"

	"mldpbench/embeddings/nearest"
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

// TestNormalStepsHardlyMoveWords estimates what the step of rng.NormFloat64
// (3.45·2⁻³¹, the widest layer of its ziggurat in 31 bits) may change in the
// choice of the word: a noisy vector moves by at most half a step per
// coordinate times the scale, r = √p/ε · √p · step/2, and a word changes only
// where a plane halfway between two words is nearer than that. The share of
// vectors so near is r/h times that within a much larger h, since densities are
// flat at that scale. -v prints it; README quotes it.
func TestNormalStepsHardlyMoveWords(t *testing.T) {
	s := gloveSpace(t)
	const (
		vectors, neighbors = 4096, 8
		h                  = 0.02
		step               = 3.45 * 0x1p-31
	)
	p := float64(s.Dimension)
	for _, epsilon := range []float64{1, 5, 10, 20} {
		rng := stream.FromUint64(63).Rand()
		queries, scratch := make([]float32, vectors*s.Dimension), make([]float64, s.Dimension)
		for i := range vectors {
			addSphericalNoise(queries[i*s.Dimension:(i+1)*s.Dimension], s.Vector(WordID(rng.IntN(s.Len()))), scratch,
				epsilon, rng)
		}
		near := make([]nearest.Neighbor, vectors*neighbors)
		nearest.Of(s).Search(near, queries, neighbors)
		within := 0
		for i := range vectors {
			first := near[i*neighbors]
			for _, other := range near[i*neighbors+1 : (i+1)*neighbors] {
				plane := (other.Distance*other.Distance - first.Distance*first.Distance) / (2 * s.Distance(first.ID,
					other.ID))
				if plane < h {
					within++
					break
				}
			}
		}
		r := p / epsilon * step / 2
		share := float64(within) / vectors * r / h
		t.Logf("epsilon %v: %.2f%% of noisy vectors within %v of a boundary, moved by at most %.2g: at most %.2g of "+
			"the words change", epsilon, 100*float64(within)/vectors, h, r, share)
		if share > 1e-6 {
			t.Errorf("epsilon %v: %v of the words change, more than the 1e-6 that is promised", epsilon, share)
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
