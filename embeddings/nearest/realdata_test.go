package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/realdata"
)

// realSpace returns the first n words of the real space with the given
// dimension.
func realSpace(t testing.TB, d, n int) *embeddings.Space {
	t.Helper()
	name := map[int]string{50: "local.50d.txt.gz", 100: "glove.6B.100d.subset.txt.gz", 300: "local.300d.txt.gz"}[d]
	s, err := embeddings.Load(context.Background(), realdata.File(t, name), embeddings.LoadOptions{Dimension: d,
		CacheDir: os.Getenv("MLDP_TEST_CACHE"), Keep: embeddings.First(n, nil)})
	if err != nil || s.Len() != n {
		t.Fatalf("fewer than %d words, or %v", n, err)
	}
	return s
}

// noisy returns n words drawn uniformly, each with spherical noise of density
// ∝ exp(−ε‖z‖): what the noise mechanisms search for.
func noisy(s *embeddings.Space, rng *rand.Rand, n int, epsilon float64) []float32 {
	d, queries := s.Dimension, normal(rng, n*s.Dimension, 1)
	for i := range n {
		row, length := queries[i*d:i*d+d], 0.0
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

func TestLongRealSpaces(t *testing.T) {
	queries := 100
	if realdata.Long(t) {
		queries = 20_000
	}
	for _, d := range []int{50, 100, 300} {
		requireExact(t, d, queries)
	}
}

// BenchmarkSearch measures the processor time of one query in batches of 2048.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ d, n int }{{50, 27_000}, {100, 27_000}, {300, 27_000}, {300, 42_700},
		{100, 85_000}} {
		s := realSpace(b, size.d, size.n)
		for _, epsilon := range []float64{1, 5, 10} {
			queries := noisy(s, rand.New(rand.NewPCG(1, 2)), batch, epsilon)
			for _, k := range []int{1, 2} {
				kernel.OnPaths(func(name string) {
					if name == "go" {
						return
					}
					x, dst := packedIndex(s), make([]Neighbor, batch*k)
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
