package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
)

// agree compares an index with a float64 scan in id order, distances bit by bit.
func agree(t *testing.T, name string, x *Index, queries []float32, k int, excluded []embeddings.WordID) {
	t.Helper()
	d, none := x.space.Dimension, Neighbor{embeddings.Unknown, math.Inf(1)}
	got := make([]Neighbor, len(queries)/d*k)
	if excluded == nil {
		x.Search(got, queries, k)
	} else {
		x.SearchExcluding(got, queries, k, excluded)
	}
	for q := range len(queries) / d {
		want := slices.Repeat([]Neighbor{none}, k)
		for id := range embeddings.WordID(x.space.Len()) {
			if excluded != nil && excluded[q] == id {
				continue
			}
			n := Neighbor{id, embeddings.Euclidean(queries[q*d:q*d+d], x.space.Vector(id))}
			if n.Distance < want[k-1].Distance { // among equals the first stays first
				at := slices.IndexFunc(want, func(w Neighbor) bool { return n.Distance < w.Distance })
				copy(want[at+1:], want[at:])
				want[at] = n
			}
		}
		if !slices.Equal(got[q*k:q*k+k], want) {
			t.Fatalf("%s: %d words × %d, query %d: %v, want %v", name, x.space.Len(), d, q, got[q*k:q*k+k], want)
		}
	}
}

// packedIndex searches by panels, however few the queries are.
func packedIndex(s *embeddings.Space) *Index {
	x := newIndex(s)
	x.spared.Store(0)
	return x
}

func normal(rng *rand.Rand, n int, sigma float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(sigma * rng.NormFloat64())
	}
	return x
}

func TestRandomSpaces(t *testing.T) {
	kernel.OnPaths(func(name string) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			// Some have fewer words than are wanted.
			d, n, queries, k := 1+rng.IntN(70), 1+rng.IntN(400)>>rng.IntN(9), rng.IntN(40), 1+rng.IntN(9)
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
			agree(t, name+", panels", packedIndex(s), q, k, excluded)
			agree(t, name+", all words", Of(s), q[:min(len(q), fewQueries*d)], k,
				excluded[:min(len(excluded), fewQueries)])
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
	kernel.OnPaths(func(name string) {
		rng := rand.New(rand.NewPCG(5, 6))
		for label, f := range spaces {
			vectors := make([]float32, n*d)
			for i, x := range base {
				vectors[i] = f(i/d, i%d, x)
			}
			s := spacetest.New(t, d, vectors)
			var queries []float32
			for i := range 40 { // words, midpoints of words, words and noise of all sizes
				a, b := s.Vector(embeddings.WordID(rng.IntN(n))), s.Vector(embeddings.WordID(rng.IntN(n)))
				noise := float32(math.Pow(10, float64(rng.IntN(76)-38)))
				for j := range d {
					queries = append(queries, [...]float32{a[j], a[j]/2 + b[j]/2, a[j] + (b[j]/8 - a[j]/8),
						float32(rng.NormFloat64()) * noise}[i%4])
				}
			}
			queries = slices.Concat(queries, make([]float32, d), slices.Repeat([]float32{math.MaxFloat32}, d))
			x := packedIndex(s)
			for _, k := range []int{1, 2, 8} {
				agree(t, name+": "+label, x, queries, k, nil)
			}
		}
	})
}

// Among equal words the lowest ids are found, however many queries are asked at once: 300
// words have 7 vectors.
func TestTiesInAnyBatch(t *testing.T) {
	const d, n, kinds, k = 20, 300, 7, 3
	kernel.OnPaths(func(name string) {
		vectors := normal(rand.New(rand.NewPCG(23, 24)), n*d, 1)
		for i := range vectors {
			vectors[i] = vectors[i%(kinds*d)]
		}
		s := spacetest.New(t, d, vectors)
		for what, x := range map[string]*Index{"as asked": Of(s), "by panels": packedIndex(s)} {
			for _, batch := range []int{1, 2, 7, 16, 65, 1000} {
				got := make([]Neighbor, batch*k)
				x.Search(got, slices.Repeat(vectors[:kinds*d], batch/kinds+1)[:batch*d], k)
				for i, found := range got {
					want := Neighbor{embeddings.WordID(i/k%kinds + i%k*kinds), 0}
					if found != want {
						t.Fatalf("%s, %s, %d queries: neighbour %d of query %d is %v, want %v", name, what, batch,
							i%k, i/k, found, want)
					}
				}
			}
		}
	})
}

// TestManyAxes has sums of products beyond 2²⁴, which float32 rounds, and more
// axes than sums of 32 bits allow.
func TestManyAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, d := range []int{1041, 5000, mostAxes, mostAxes + 1} {
		vectors := normal(rng, 9*d, 0.1)
		for i := range vectors { // nearly all levels are the largest
			vectors[i] += float32(1 - 2*(i/d%2))
		}
		s, queries := spacetest.New(t, d, vectors), normal(rng, 2*d, 0.2)
		for i := range queries {
			queries[i] += vectors[i]
		}
		kernel.OnPaths(func(name string) { agree(t, name, packedIndex(s), queries, 2, nil) })
	}
}

// TestRealSpaces compares the index on every path with a float64 scan of 27,000 real
// vectors, under the noise of several ε, and holds it to 1.5 raw matrices of memory:
// 2.5 with the space's own.
func TestRealSpaces(t *testing.T) {
	if testing.Short() {
		t.Skip("loads real vectors")
	}
	requireExact(t, 50, 24)
}

func requireExact(t *testing.T, d, queries int) {
	t.Helper()
	s := realSpace(t, d, 27_000)
	kernel.OnPaths(func(name string) {
		x := packedIndex(s)
		p := x.panels()
		bytes := 4*(len(p.ids)+len(p.heads)+len(p.bounds)) + 8*len(p.center) + len(p.bytes)
		if ratio := float64(bytes) / float64(4*len(s.Vectors)); ratio > 1.5 {
			t.Errorf("%s: index of %.2f raw matrices at d = %d", name, ratio, d)
		}
		for _, epsilon := range []float64{1, 5, 10, 50} {
			rng := rand.New(rand.NewChaCha8([32]byte{byte(d), byte(d >> 8), byte(epsilon)}))
			agree(t, fmt.Sprintf("%s, ε = %v", name, epsilon), x, noisy(s, rng, queries, epsilon), 2, nil)
		}
	})
}

// The nearest other word is what a search finds that leaves the word out, also among
// equal vectors and in a space of one word.
func TestOthers(t *testing.T) {
	for _, s := range []*embeddings.Space{spacetest.Gaussian(t, 300, 5, 1, 8),
		spacetest.New(t, 1, []float32{4, 1, 1, 1, 9, 4}), spacetest.New(t, 2, []float32{1, 2})} {
		words, want := s.Vocabulary.IDs(), make([]Neighbor, s.Len())
		Of(s).SearchExcluding(want, s.Vectors, 1, words)
		if got := Of(s).Others(words); !slices.Equal(got, want) {
			t.Errorf("of %d words: %v, want %v", s.Len(), got, want)
		}
	}
}
