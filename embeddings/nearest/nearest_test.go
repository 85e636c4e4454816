package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
)

// forms are all ways this processor can search: every SIMD path.
func forms(t testing.TB, f func(name string, build func(*embeddings.Space) *Index)) {
	for _, path := range kernel.Paths() {
		restore, err := kernel.Use(path)
		if err != nil {
			t.Fatal(err)
		}
		f(path, build)
		restore()
	}
}

// agree compares an index with the reference, distances bit by bit.
func agree(t *testing.T, name string, x *Index, queries []float32, k int, excluded []embeddings.WordID) {
	t.Helper()
	n := len(queries) / x.space.Dimension
	got, want := make([]Neighbor, n*k), make([]Neighbor, n*k)
	x.SearchExcluding(got, queries, k, excluded)
	x.reference(want, queries, k, excluded)
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: %d words × %d, query %d of %d, neighbour %d of %d: %v, want %v",
				name, x.space.Len(), x.space.Dimension, i/k, n, i%k+1, k, got[i], want[i])
		}
	}
}

func normal(rng *rand.Rand, n int, sigma float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(sigma * rng.NormFloat64())
	}
	return x
}

func TestRandomSpaces(t *testing.T) {
	forms(t, func(name string, build func(*embeddings.Space) *Index) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			d, n, queries, k := 1+rng.IntN(70), 1+rng.IntN(400), 1+rng.IntN(40), 1+rng.IntN(9)
			s := spacetest.New(t, d, normal(rng, n*d, math.Pow(10, 6*rng.Float64()-3)))
			q := normal(rng, queries*d, math.Pow(10, 6*rng.Float64()-3))
			for i := range queries { // some queries near words, as under little noise
				if i%3 == 0 {
					copy(q[i*d:i*d+d], s.Vector(embeddings.WordID(rng.IntN(n))))
					q[i*d] += float32(rng.NormFloat64() * 0.01)
				}
			}
			var excluded []embeddings.WordID
			if rng.IntN(2) == 0 {
				for range queries {
					excluded = append(excluded, embeddings.WordID(rng.IntN(n+1)-1))
				}
			}
			agree(t, name, build(s), q, k, excluded)
		}
	})
}

// TestHardSpaces tests spaces that are hard for float32 or 8-bit arithmetic,
// and ties.
func TestHardSpaces(t *testing.T) {
	const d, n = 20, 300
	rng := rand.New(rand.NewPCG(3, 4))
	base := normal(rng, n*d, 1)
	spaces := map[string]func(i, j int, x float32) float32{
		"all zero":        func(i, j int, x float32) float32 { return 0 },
		"many zero":       func(i, j int, x float32) float32 { return x * float32(i%2) },
		"duplicates":      func(i, j int, x float32) float32 { return base[i%7*d+j] },
		"grid with ties":  func(i, j int, x float32) float32 { return float32(i >> (j % 9) & 1) },
		"one direction":   func(i, j int, x float32) float32 { return float32(i) },
		"far from origin": func(i, j int, x float32) float32 { return 1e4 + x },
		"nearly equal":    func(i, j int, x float32) float32 { return 1 + x*0x1p-23 },
		"huge":            func(i, j int, x float32) float32 { return x * 1e37 },
		"largest":         func(i, j int, x float32) float32 { return math.MaxFloat32 * float32(1-i%3) },
		"denormal":        func(i, j int, x float32) float32 { return x * 1e-42 },
		"small":           func(i, j int, x float32) float32 { return x * 1e-30 },
		"one huge word": func(i, j int, x float32) float32 {
			return x * float32(math.Pow(1e30, float64(1-min(i, 1))))
		},
		"one huge axis":  func(i, j int, x float32) float32 { return x * float32(math.Pow(1e6, float64(1-min(j, 1)))) },
		"all magnitudes": func(i, j int, x float32) float32 { return x * float32(math.Pow(10, float64(i%70-35))) },
		"unit sphere":    func(i, j int, x float32) float32 { return x / 4.5 },
		"integers":       func(i, j int, x float32) float32 { return float32(math.Round(float64(2 * x))) },
		"mirrored":       func(i, j int, x float32) float32 { return base[i/2*d+j] * float32(1-i%2*2) },
		"last bits differ": func(i, j int, x float32) float32 {
			return math.Float32frombits(math.Float32bits(base[i%5*d+j]) + uint32(i&3))
		},
		"one axis nonzero":  func(i, j int, x float32) float32 { return x * float32(1-min(j, 1)) },
		"alternating signs": func(i, j int, x float32) float32 { return float32((i+j)%2*2 - 1) },
	}
	forms(t, func(name string, build func(*embeddings.Space) *Index) {
		rng := rand.New(rand.NewPCG(5, 6))
		for label, f := range spaces {
			vectors := make([]float32, n*d)
			for i := range n {
				for j := range d {
					vectors[i*d+j] = f(i, j, base[i*d+j])
				}
			}
			s := spacetest.New(t, d, vectors)
			x := build(s)
			var queries []float32
			for i := range 40 { // words, midpoints of words, words and noise of all sizes
				a, b := s.Vector(embeddings.WordID(rng.IntN(n))), s.Vector(embeddings.WordID(rng.IntN(n)))
				noise := float32(math.Pow(10, float64(rng.IntN(76)-38)))
				for j := range d {
					switch i % 4 {
					case 0:
						queries = append(queries, a[j])
					case 1:
						queries = append(queries, a[j]/2+b[j]/2)
					case 2:
						queries = append(queries, a[j]+(b[j]/8-a[j]/8))
					default:
						queries = append(queries, float32(rng.NormFloat64())*noise)
					}
				}
			}
			queries = append(queries, make([]float32, d)...)
			for range d {
				queries = append(queries, math.MaxFloat32)
			}
			for _, k := range []int{1, 2, 8} {
				agree(t, name+": "+label, x, queries, k, nil)
			}
		}
	})
}

func TestFewWords(t *testing.T) {
	forms(t, func(name string, build func(*embeddings.Space) *Index) {
		s := spacetest.New(t, 3, []float32{1, 0, 0, 0, 1, 0})
		x := build(s)
		got := make([]Neighbor, 4)
		x.SearchExcluding(got, []float32{1, 0, 0}, 4, []embeddings.WordID{0})
		want := []Neighbor{{1, math.Sqrt2}, {-1, math.Inf(1)}, {-1, math.Inf(1)}, {-1, math.Inf(1)}}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: neighbour %d is %v, want %v", name, i+1, got[i], want[i])
			}
		}
		x.Search(nil, nil, 1)
	})
}

// TestManyAxes has sums of products beyond 2²⁴, which float32 rounds, and more
// axes than sums of 32 bits allow.
func TestManyAxes(t *testing.T) {
	forms(t, func(name string, build func(*embeddings.Space) *Index) {
		rng := rand.New(rand.NewPCG(11, 12))
		for _, d := range []int{1041, 5000, mostAxes, mostAxes + 1} {
			vectors := normal(rng, 40*d, 0.1)
			for i := range vectors { // nearly all levels are the largest
				vectors[i] += float32(1 - 2*(i/d%2))
			}
			s := spacetest.New(t, d, vectors)
			queries := normal(rng, 3*d, 0.2)
			for i := range queries {
				queries[i] += vectors[i]
			}
			agree(t, name, build(s), queries, 2, nil)
		}
	})
}

// TestConcurrentSearch is for the race detector.
func TestConcurrentSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := spacetest.New(t, 10, normal(rng, 5000, 1))
	x := Of(s)
	queries := normal(rng, 700, 2)
	want := make([]Neighbor, 140)
	x.Search(want, queries, 2)
	done := make(chan []Neighbor)
	for range 4 {
		go func() {
			got := make([]Neighbor, 140)
			Of(s).Search(got, queries, 2)
			done <- got
		}()
	}
	for range 4 {
		for i, n := range <-done {
			if n != want[i] {
				t.Fatalf("result %d is %v, want %v", i, n, want[i])
			}
		}
	}
}

// TestMemory holds the index to 1.5 raw matrices: 2.5 with the space's own.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	forms(t, func(name string, build func(*embeddings.Space) *Index) {
		for _, d := range []int{50, 100, 300} {
			s := spacetest.New(t, d, normal(rng, 2000*d, 1))
			if ratio := float64(memory(build(s).packed)) / float64(4*2000*d); ratio > 1.5 {
				t.Errorf("%s: index of %.2f raw matrices at d = %d", name, ratio, d)
			} else if d == 100 {
				t.Logf("%s: index of %.2f raw matrices at d = 100", name, ratio)
			}
		}
	})
}

func memory(p *packed) int {
	return 4*(len(p.ids)+len(p.heads)+len(p.bounds)) + 8*len(p.center) + len(p.bytes)
}
