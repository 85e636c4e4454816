//go:build unix

package models

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"mldpbench/stream"
)

const benchBatch, benchScored = 64, 512

// randomText makes the input of the published timings: documents of 80 random
// tokens out of 27,000, with nearly all tokens of a batch distinct.
func randomText(d int) (Embedding, Examples) {
	const tokens, length = 27_000, 80
	rng := stream.FromUint64(29).Rand()
	e := Embedding{Dimension: d, Vectors: make([]float32, tokens*d)}
	for i := range e.Vectors {
		e.Vectors[i] = float32(rng.NormFloat64() * 0.4)
	}
	var x Examples
	for i := range benchScored {
		s := make([]int32, length)
		for t := range s {
			s[t] = int32(rng.IntN(tokens))
		}
		x.Sequences, x.Labels = append(x.Sequences, s), append(x.Labels, i%2)
	}
	return e, x
}

// timed runs the loop of a benchmark and reports processor time per 64
// documents, best and median of the steps, which, unlike wall-clock time, is
// meaningful on a machine that also does other work. It also reports the
// largest resident size of the process so far, which is that of this benchmark
// if it runs alone.
func timed(b *testing.B, documents int, step func(round int) error) {
	usage := func() (time.Duration, float64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		size := float64(u.Maxrss) / 1024
		if runtime.GOOS == "darwin" { // in bytes on that system
			size /= 1024
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()), size
	}
	var times []float64
	for b.Loop() {
		start, _ := usage()
		if err := step(len(times)); err != nil {
			b.Fatal(err)
		}
		end, _ := usage()
		times = append(times, (end-start).Seconds()*1000*benchBatch/float64(documents))
	}
	slices.Sort(times)
	_, size := usage()
	b.ReportMetric(times[0], "best-cpu-ms")
	b.ReportMetric(times[len(times)/2], "median-cpu-ms")
	b.ReportMetric(size, "peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// benchmarkLSTM times training steps of 64 documents and scoring of 512 at a
// time.
func benchmarkLSTM(b *testing.B, e Embedding, x Examples) {
	classifier, err := New("lstm", Options{Classes: 2, Embedding: e})
	if err != nil {
		b.Fatal(err)
	}
	m, indices := classifier.(*lstm), consecutive(x.Len())
	part := func(round, size int) []int {
		at := round * size % len(indices)
		return indices[at : at+size]
	}
	b.Run("train", func(b *testing.B) {
		g, err := m.newGraph(x, stream.FromUint64(30).Rand())
		if err != nil {
			b.Fatal(err)
		}
		defer g.close()
		timed(b, benchBatch, func(round int) error {
			_, err := g.step(x, part(round, benchBatch))
			return err
		})
		tokens, distinct := 0, map[int32]bool{}
		for _, s := range x.Sequences[:benchBatch] {
			tokens += len(s)
			for _, id := range s {
				distinct[id] = true
			}
		}
		b.ReportMetric(float64(len(distinct))/float64(tokens), "distinct/token")
	})
	b.Run("infer", func(b *testing.B) {
		g, err := m.newGraph(x, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer g.close()
		logits := make([]float32, benchScored*2)
		timed(b, benchScored, func(round int) error { return g.infer(x, part(round, benchScored), logits) })
	})
}

func BenchmarkLSTM(b *testing.B) {
	for _, d := range []int{50, 100, 300} {
		b.Run(fmt.Sprintf("random/d=%d", d), func(b *testing.B) {
			e, x := randomText(d)
			benchmarkLSTM(b, e, x)
		})
	}
}
