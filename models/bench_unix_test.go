//go:build unix

package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"gorgonia.org/gorgonia"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/internal/stream"
)

// trainingBatch is the setting of every measured time: full batches of 64
// documents of 80 random tokens out of 27,000, two classes.
func trainingBatch(b *testing.B, d int) (*lstm, Examples, []int) {
	b.Helper()
	const batch, steps = 64, 80
	rng := stream.FromUint64(29).Rand()
	e := Embedding{Dimension: d, Vectors: make([]float32, 27_000*d)}
	for i := range e.Vectors {
		e.Vectors[i] = float32(rng.NormFloat64() * 0.4)
	}
	var x Examples
	for i := range batch {
		s := make([]int32, steps)
		for t := range s {
			s[t] = int32(rng.IntN(27_000))
		}
		x.Sequences, x.Labels = append(x.Sequences, s), append(x.Labels, i%2)
	}
	m, err := New("lstm", Options{Classes: 2, Embedding: e})
	if err != nil {
		b.Fatal(err)
	}
	return m.(*lstm), x, consecutive(batch)
}

// timed runs the loop of a benchmark and reports processor time, best and
// median of the steps: unlike the time on the clock it says something on a
// machine that does other work, too.
func timed(b *testing.B, step func() error) {
	var times []float64
	for b.Loop() {
		start := processorTime(b)
		if err := step(); err != nil {
			b.Fatal(err)
		}
		times = append(times, (processorTime(b)-start).Seconds()*1000)
	}
	slices.Sort(times)
	b.ReportMetric(times[0], "best-cpu-ms")
	b.ReportMetric(times[len(times)/2], "median-cpu-ms")
	b.ReportMetric(0, "ns/op")
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkLSTM(b *testing.B) {
	for _, d := range []int{50, 100, 300} {
		m, x, indices := trainingBatch(b, d)
		b.Run(fmt.Sprintf("train/d=%d", d), func(b *testing.B) {
			g, err := m.newGraph(x, stream.FromUint64(30).Rand())
			if err != nil {
				b.Fatal(err)
			}
			defer g.close()
			timed(b, func() error {
				_, err := g.step(x, indices)
				return err
			})
		})
		b.Run(fmt.Sprintf("infer/d=%d", d), func(b *testing.B) {
			g, err := m.newGraph(x, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer g.close()
			logits := make([]float32, 64*2)
			timed(b, func() error { return g.infer(x, indices, logits) })
		})
	}
}

// BenchmarkUnrolled is the same training step built from Gorgonia primitives,
// one node per operation and step: what the fused op replaces.
func BenchmarkUnrolled(b *testing.B) {
	for _, d := range []int{50, 100, 300} {
		b.Run(fmt.Sprintf("train/d=%d", d), func(b *testing.B) {
			m, x, indices := trainingBatch(b, d)
			batch := newBatcher(64, capacity(64, x))
			batch.fill(x, indices)
			var p packed
			if err := p.set(batch.tokens, batch.lengths); err != nil {
				b.Fatal(err)
			}
			g, err := newGraph(m.weights, func(g *gorgonia.ExprGraph, w gorgonia.Nodes) (logits, labels *gorgonia.Node, err error) {
				logits, err = affine(unrolled(g, m.options.Embedding, &p, 64, w[0], false), w[1], w[2])
				return logits, input(g, "labels", vector(batch.labels)), err
			}, m.parameters.adam())
			if err != nil {
				b.Fatal(err)
			}
			defer g.close()
			timed(b, func() error {
				_, err := g.step()
				return err
			})
		})
	}
}

// realText is IMDb as the study reads it, encoded for the word vectors in
// file; a word without a vector has a vector of zeros.
func realText(b *testing.B, file string, documents int) (Embedding, Examples) {
	b.Helper()
	ctx := context.Background()
	root := realdata.Dir(b)
	d, err := datasets.Load(ctx, datasets.Request{Name: "imdb", Root: root, Seed: stream.FromUint64(31), Sizes: datasets.Sizes{Train: documents}})
	if err != nil {
		b.Fatal(err)
	}
	words := map[string]bool{}
	for _, doc := range d.Splits()[0].Documents {
		for _, w := range doc.Tokens {
			words[w] = true
		}
	}
	space, err := embeddings.Load(ctx, realdata.File(b, file), embeddings.LoadOptions{Keep: func(w string) bool { return words[w] }})
	if err != nil {
		b.Fatal(err)
	}
	var x Examples
	for _, doc := range d.Splits()[0].Documents {
		var s []int32
		for _, w := range doc.Tokens {
			id := space.Vocabulary.ID(w)
			if id == embeddings.Unknown {
				id = embeddings.WordID(space.Len())
			}
			s = append(s, int32(id))
		}
		x.Sequences, x.Labels = append(x.Sequences, s), append(x.Labels, doc.Label)
	}
	return Embedding{Dimension: space.Dimension, Vectors: append(space.Vectors[:space.Len()*space.Dimension:space.Len()*space.Dimension], make([]float32, space.Dimension)...)}, x
}

// BenchmarkLSTMText is BenchmarkLSTM on documents of IMDb, 16 batches in turn:
// of real text fewer than half of the tokens of a batch are distinct.
func BenchmarkLSTMText(b *testing.B) {
	for _, file := range []string{"local.50d.txt.gz", "glove.6B.100d.subset.txt.gz", "local.300d.txt.gz"} {
		const batch = 64
		e, x := realText(b, file, 16*batch)
		m, err := New("lstm", Options{Classes: 2, Embedding: e})
		if err != nil {
			b.Fatal(err)
		}
		tokens, distinct := 0, 0
		for part := range slices.Chunk(x.Sequences, batch) {
			seen := map[int32]bool{}
			for _, s := range part {
				tokens += len(s)
				for _, id := range s {
					seen[id] = true
				}
			}
			distinct += len(seen)
		}
		for _, training := range []bool{true, false} {
			name := map[bool]string{true: "train", false: "infer"}[training]
			b.Run(fmt.Sprintf("%s/d=%d", name, e.Dimension), func(b *testing.B) {
				var rng *rand.Rand
				if training {
					rng = stream.FromUint64(30).Rand()
				}
				g, err := m.(*lstm).newGraph(x, rng)
				if err != nil {
					b.Fatal(err)
				}
				defer g.close()
				logits, round := make([]float32, batch*2), 0
				timed(b, func() error {
					indices := consecutive(x.Len())[round%16*batch:][:batch]
					round++
					if training {
						_, err := g.step(x, indices)
						return err
					}
					return g.infer(x, indices, logits)
				})
				b.ReportMetric(float64(tokens)/16, "tokens/batch")
				b.ReportMetric(float64(distinct)/16, "distinct/batch")
			})
		}
	}
}
