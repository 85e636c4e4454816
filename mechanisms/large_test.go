package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"mldpbench/internal/realdata"
	"os"
	"strings"
	"testing"
	"time"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/stream"
)

// BenchmarkLarge loads the vector file that MLDP_LARGE names, from text and
// from its copy, and privatises words of it, drawn by Zipf's law.
func BenchmarkLarge(b *testing.B) {
	path := os.Getenv("MLDP_LARGE")
	if path == "" {
		b.Skip("MLDP_LARGE names no vector file")
	}
	cache := b.TempDir()
	var s *embeddings.Space
	load := func(b *testing.B) {
		for b.Loop() {
			s = nil
			var err error
			if s, err = embeddings.Load(context.Background(), path,
				embeddings.LoadOptions{CacheDir: cache}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(peakMiB(), "MiB-peak")
		b.ReportMetric(float64(4*len(s.Vectors))/(1<<20), "MiB-vectors")
	}
	b.Run("load/text", load)
	b.Run("load/copy", load)
	if s == nil {
		b.Skip("nothing loaded")
	}
	b.Run("index", func(b *testing.B) {
		start := time.Now()
		nearest.Of(s)
		b.ReportMetric(time.Since(start).Seconds(), "s")
		b.ReportMetric(0, "ns/op")
	})
	rng := stream.FromUint64(81).Rand()
	zipf := rand.NewZipf(rng, 1.1, 10, uint64(s.Len()-1))
	documents := make([][]WordID, 200)
	for i := range documents {
		for range 100 {
			documents[i] = append(documents[i], WordID(zipf.Uint64()))
		}
	}
	for _, name := range []string{"cmp", "santext", "tem"} {
		for _, epsilon := range []string{"1", "5", "10"} {
			b.Run(name+"/"+epsilon, func(b *testing.B) {
				e := map[string]float64{"1": 1, "5": 5, "10": 10}[epsilon]
				m := mustNew(b, Environment{Space: s}, Settings{Mechanism: name, Epsilon: e})
				first := time.Now()
				cpu := realdata.CPU()
				_ = m.sampler.draw(ctx, texts(documents, e, stream.FromUint64(82)), 1)
				words := 100 * float64(len(documents))
				b.ReportMetric(words/time.Since(first).Seconds(), "words/s-first")
				b.ReportMetric(1e6*(realdata.CPU()-cpu)/words, "cpu-µs/word-first")
				for b.Loop() {
					_ = m.sampler.draw(ctx, texts(documents, e, stream.FromUint64(82)), 1)
				}
				b.ReportMetric(words*float64(b.N)/b.Elapsed().Seconds(), "words/s")
				b.ReportMetric(peakMiB(), "MiB-peak")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// peakMiB is the largest resident memory of the process so far, on Linux.
func peakMiB() float64 {
	data, _ := os.ReadFile("/proc/self/status")
	_, rest, ok := strings.Cut(string(data), "VmHWM:")
	if !ok {
		return math.NaN()
	}
	kib := 0.0
	for _, c := range strings.TrimSpace(rest) {
		if c < '0' || c > '9' {
			break
		}
		kib = 10*kib + float64(c-'0')
	}
	return kib / 1024
}
