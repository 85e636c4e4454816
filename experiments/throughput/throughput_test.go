package throughput

import (
	"context"
	"math"
	"testing"

	"mldpbench/results"
)

func TestRun(t *testing.T) {
	var rows []Row
	err := Run(context.Background(), Options{
		Dataset: "generated-reviews", Embeddings: []string{"generated"}, Dimensions: []int{20},
		Vocabularies: []int{0, 60},
		Mechanisms:   []string{"cmp", "gumbel"}, Epsilons: []float64{0.01}, Workers: []int{1, 2}, Words: 500, Repeat: 3,
	}, func(r Row) error { rows = append(rows, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 8 {
		t.Fatalf("%d rows, want 8", len(rows))
	}
	for _, r := range rows {
		if r.Mechanism == "gumbel" { // does not exist at such a small ε
			if r.Status != results.StatusUndefined || r.Reason == "" || r.WordsPerSecond != 0 {
				t.Errorf("gumbel: %+v", r)
			}
			continue
		}
		if r.Status != results.StatusOK || r.Words != 500 {
			t.Errorf("cmp: %+v", r)
		}
		if e := math.Abs(r.WordsPerSecond*r.Seconds - 500); e > 1e-6 {
			t.Errorf("%v words/s in %v s are not 500 words", r.WordsPerSecond, r.Seconds)
		}
		if r.Slowest > r.WordsPerSecond || r.Fastest < r.WordsPerSecond {
			t.Errorf("slowest %v, median %v, fastest %v", r.Slowest, r.WordsPerSecond, r.Fastest)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	good := Options{Dataset: "generated-reviews", Embeddings: []string{"generated"}, Dimensions: []int{0},
		Vocabularies: []int{0},
		Mechanisms:   []string{"cmp"}, Epsilons: []float64{1}, Workers: []int{1}, Words: 10, Repeat: 1}
	for name, spoil := range map[string]func(*Options){
		"workers":    func(o *Options) { o.Workers = []int{1, 0} },
		"repeat":     func(o *Options) { o.Repeat = 0 },
		"vocabulary": func(o *Options) { o.Vocabularies = []int{-1} },
		"data set":   func(o *Options) { o.Dataset = "nothing" },
		"embedding":  func(o *Options) { o.Embeddings = []string{"nothing"} },
	} {
		o := good
		spoil(&o)
		if err := Run(context.Background(), o, func(Row) error { return nil }); err == nil {
			t.Errorf("wrong %s was accepted", name)
		}
	}
}
