package mechanisms

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// BenchmarkSelection measures processor time a word, of 27,000 real words: words
// that no row is kept for, four at a time, in no order of frequency; a corpus
// drawn by Zipf's law, with a fresh mechanism; its words once their rows are kept.
func BenchmarkSelection(b *testing.B) {
	s, err := embeddings.Load(context.Background(), realdata.File(b, "glove.6B.100d.subset.txt.gz"),
		embeddings.LoadOptions{Keep: embeddings.First(27_000, nil)})
	if err != nil {
		b.Fatal(err)
	}
	env := Environment{Space: s, Thesaurus: spacetest.Tens{}}
	zipf := rand.NewZipf(stream.FromUint64(61).Rand(), 1.1, 10, uint64(s.Len()-1))
	corpus, every := make([][]WordID, 500), make([][]WordID, s.Len()/4)
	for i := range corpus {
		for range 200 {
			corpus[i] = append(corpus[i], WordID(zipf.Uint64()))
		}
	}
	for i := range every {
		for j := range 4 {
			every[i] = append(every[i], WordID((4*i+j)*7%s.Len()))
		}
	}
	for _, name := range []string{"santext", "tem", "syntf"} {
		for _, epsilon := range []float64{1, 2, 3, 5, 10} {
			for _, kind := range []string{"first", "text", "kept"} {
				b.Run(fmt.Sprintf("%s/%s/%v", kind, name, epsilon), func(b *testing.B) {
					m, words := mustNew(b, env, Settings{Mechanism: name, Epsilon: epsilon}), 0
					draw := func(documents [][]WordID) {
						all := make([]document, len(documents))
						for i, w := range documents {
							all[i] = document{slices.Clone(w), stream.FromUint64(62).At(uint64(i)).Rand()}
							words += len(w)
						}
						_ = m.sampler.draw(ctx, all, 1)
					}
					if kind == "kept" {
						draw(corpus)
					}
					start := realdata.CPU()
					words = 0
					for i := 0; b.Loop(); i++ {
						if kind == "first" {
							draw(every[i%len(every) : i%len(every)+1])
							continue
						}
						if kind == "text" {
							m = mustNew(b, env, Settings{Mechanism: name, Epsilon: epsilon})
						}
						draw(corpus)
					}
					b.ReportMetric((realdata.CPU()-start)*1e6/float64(words), "cpu-µs/word")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
