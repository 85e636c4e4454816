package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/realdata"
)

// realFiles are the spaces of the real data by dimension.
var realFiles = map[int]string{50: "local.50d.txt.gz", 100: "glove.6B.100d.subset.txt.gz", 300: "local.300d.txt.gz"}

// realSpace returns the first n words of the real space with the given
// dimension (all if n is 0).
func realSpace(t testing.TB, d, n int) *embeddings.Space {
	t.Helper()
	s, err := embeddings.Load(context.Background(), realdata.File(t, realFiles[d]),
		embeddings.LoadOptions{Dimension: d, CacheDir: os.Getenv("MLDP_TEST_CACHE")})
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 {
		left := n
		s, err = s.Restrict(func(string) bool { left--; return left >= 0 })
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// noisy returns n words drawn uniformly, each with spherical noise of density
// ∝ exp(−ε‖z‖): what the noise mechanisms search for.
func noisy(s *embeddings.Space, rng *rand.Rand, n int, epsilon float64) []float32 {
	d := s.Dimension
	queries := make([]float32, n*d)
	for i := range queries {
		queries[i] = float32(rng.NormFloat64())
	}
	for i := range n {
		row := queries[i*d : i*d+d]
		length := 0.0
		for range d { // Gamma(d, 1/ε) as a sum of exponentials
			length += rng.ExpFloat64() / epsilon
		}
		kernel.SetNorm(row, length)
		for j, x := range s.Vector(embeddings.WordID(rng.IntN(s.Len()))) {
			row[j] += x
		}
	}
	return queries
}

// bruteForce scans all words in float64 for each query, four queries at a
// time. kernel.Panels gives the distances of the reference bit for bit.
func bruteForce(want []Neighbor, p *kernel.Panels, queries []float32, d, k int) {
	rows := make([]float64, kernel.PairRows*p.Stride())
	for first := 0; first*k < len(want); first += kernel.PairRows {
		four := slices.Collect(slices.Chunk(queries[first*d:min(len(queries), (first+kernel.PairRows)*d)], d))
		p.Distances(rows, four...)
		for r := range four {
			row := want[(first+r)*k:][:k]
			for i := range row {
				row[i] = Neighbor{embeddings.Unknown, math.Inf(1)}
			}
			for id, distance := range rows[r*p.Stride():][:p.Len()] {
				if distance < row[k-1].Distance { // among equals the first is kept
					insert(row, Neighbor{embeddings.WordID(id), distance})
				}
			}
		}
	}
}

// realWords is the size of the vocabulary under test.
const realWords = 27_000

// TestRealSpaces compares the index on every path with a float64 scan of real
// vectors: a few dozen queries for each dimension and ε, or as many as
// MLDP_NEAREST_QUERIES says (the form in Go, which is slow, gets a quarter of
// them, at most 5,000). The full run takes about 20 minutes on one core:
//
//	MLDP_NEAREST_QUERIES=100000 go test -run RealSpaces -timeout 0 -v ./embeddings/nearest
func TestRealSpaces(t *testing.T) {
	if testing.Short() {
		t.Skip("loads real vectors")
	}
	total := 64
	if v := os.Getenv("MLDP_NEAREST_QUERIES"); v != "" {
		var err error
		if total, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	const k = 2
	for _, d := range []int{50, 100, 300} {
		s := realSpace(t, d, realWords)
		truth := kernel.PackPanels(s.Vectors, d)
		type form struct {
			name         string
			index        *Index
			asked, wrong int
		}
		var all []*form
		forms(t, func(name string, build func(*embeddings.Space) *Index) {
			all = append(all, &form{name: name, index: build(s)})
		})
		for _, epsilon := range []float64{1, 5, 10, 50} {
			rng := rand.New(rand.NewChaCha8([32]byte{byte(d), byte(d >> 8), byte(epsilon)}))
			for _, f := range all {
				f.asked, f.wrong = 0, 0
			}
			ties := 0
			for done := 0; done < total; {
				n := min(batch, total-done)
				queries := noisy(s, rng, n, epsilon)
				want, got, slow := make([]Neighbor, n*k), make([]Neighbor, n*k), make([]Neighbor, k)
				var workers sync.WaitGroup
				const part = 256
				for from := 0; from < n; from += part {
					workers.Go(func() {
						to := min(n, from+part)
						bruteForce(want[from*k:to*k], truth, queries[from*d:to*d], d, k)
					})
				}
				workers.Wait()
				all[0].index.reference(slow, queries[:d], k, nil)
				if !slices.Equal(slow, want[:k]) {
					t.Fatalf("the test's scan finds %v, the reference %v", want[:k], slow)
				}
				for q := range n {
					if a, b := want[q*k].Distance, want[q*k+1].Distance; b-a < 1e-6*b {
						ties++
					}
				}
				for _, f := range all {
					m := n
					if f.name == "go" {
						m = min(n, max(0, min(5000, total/4)-done))
					}
					f.index.Search(got[:m*k], queries[:m*d], k)
					f.asked += m
					for q := range m {
						if !slices.Equal(got[q*k:q*k+k], want[q*k:q*k+k]) {
							f.wrong++
						}
					}
				}
				done += n
			}
			t.Logf("%d × %d, ε = %v: the two nearest of %d of %d queries differ by less than 1e-6 of their distance",
				s.Len(), d, epsilon, ties, total)
			for _, f := range all {
				t.Logf("%d × %d, ε = %v, %s: %d of %d queries differ from the float64 scan", s.Len(), d, epsilon,
					f.name, f.wrong, f.asked)
				if f.wrong > 0 {
					t.Errorf("%s: top %d is not exact", f.name, k)
				}
			}
		}
	}
}

// BenchmarkSearch measures the processor time of one query in batches of 2048, and the
// share of words that had to be measured in float64.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ d, n int }{{50, 27_000}, {100, 27_000}, {300, 27_000}, {300, 42_700},
		{100, 85_000}} {
		s := realSpace(b, size.d, size.n)
		for _, epsilon := range []float64{1, 5, 10} {
			queries := noisy(s, rand.New(rand.NewPCG(1, 2)), batch, epsilon)
			for _, k := range []int{1, 2} {
				forms(b, func(name string, build func(*embeddings.Space) *Index) {
					if name == "go" {
						return
					}
					x := build(s)
					dst := make([]Neighbor, batch*k)
					b.Run(fmt.Sprintf("%dx%d/eps=%v/top%d/%s", size.n, size.d, epsilon, k, name), func(b *testing.B) {
						start := realdata.CPU()
						for b.Loop() {
							x.Search(dst, queries, k)
						}
						perQuery := (realdata.CPU() - start) / float64(b.N) / batch
						b.ReportMetric(perQuery*1e6, "µs/query")
						b.ReportMetric(math.Round(1/perQuery), "queries/s")
					})
				})
			}
		}
	}
}

// BenchmarkBuild measures the time to pack a space.
func BenchmarkBuild(b *testing.B) {
	s := realSpace(b, 100, 27_000)
	forms(b, func(name string, build func(*embeddings.Space) *Index) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				build(s)
			}
		})
	})
}
