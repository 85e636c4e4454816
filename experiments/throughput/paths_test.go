package throughput

import (
	"context"
	"os"
	"slices"
	"testing"

	"mldpbench/datasets"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/cachetest"
	"mldpbench/internal/kernel"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

func TestMain(m *testing.M) { os.Exit(cachetest.Tests{M: m}.Run()) }

// TestTextIsTheSameOnEveryPath privatises with every instruction set, and with
// one and two workers: privatised text must not depend on the processor.
func TestTextIsTheSameOnEveryPath(t *testing.T) {
	ctx := context.Background()
	data, err := datasets.Load(ctx, datasets.Request{Name: "generated-reviews"})
	if err != nil {
		t.Fatal(err)
	}
	documents := datasets.Tokens(data.Train)[:60]
	for _, name := range []string{"cmp", "mahalanobis", "vickrey"} {
		for _, epsilon := range []float64{2, 20} {
			var want [][]string
			for workers, path := range kernel.Paths() {
				restore, err := kernel.Use(path)
				if err != nil {
					t.Fatal(err)
				}
				// A copy of the space: an index belongs to one space and path.
				space, err := lab.OpenSpace(ctx, study.GeneratedEmbedding, 50, "", func(string) bool { return true })
				if err != nil {
					t.Fatal(err)
				}
				m, err := mechanisms.New(mechanisms.Environment{Space: space},
					mechanisms.Settings{Mechanism: name, Epsilon: epsilon})
				if err != nil {
					t.Fatal(err)
				}
				got, err := mechanisms.Text(ctx, m, mechanisms.Random, documents, stream.FromUint64(1), 1+workers%2)
				restore()
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Fatalf("%s, ε = %v, %s: document %d is %q, on %s %q", name, epsilon, path, i, got[i],
							kernel.Paths()[0], want[i])
					}
				}
			}
			if slices.EqualFunc(want, documents, slices.Equal[[]string]) {
				t.Errorf("%s, ε = %v: nothing was changed", name, epsilon)
			}
		}
	}
}
