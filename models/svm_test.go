package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gorgonia.org/tensor"

	"mldpbench/internal/params"
	"mldpbench/stream"
)

func TestDualSolverReachesTheOptimum(t *testing.T) {
	// Weak duality: the primal objective is never below the dual one, and
	// both are equal at the optimum only.
	x := clouds(stream.FromUint64(1).Rand(), 300, 2, 10, 1)
	data := stack(x.Vectors)
	s := newDualSolver(data, x.Labels, 1, stream.FromUint64(2).Rand())
	for _, c := range []float64{0.01, 1, 10} { // each from the one before
		if err := s.solve(context.Background(), c, 100_000, 1e-9); err != nil {
			t.Fatal(err)
		}
		square, dual := 0.0, 0.0
		for _, w := range s.w {
			square += w * w
		}
		primal := square / 2
		for i := range data.len() {
			m := s.sign[i] * (data.dot(i, s.w[:10]) + s.w[10])
			primal += c * max(0, 1-m)
			dual += s.alpha[i]
			if s.alpha[i] < 0 || s.alpha[i] > c {
				t.Fatalf("alpha[%d] = %v outside [0, %v]", i, s.alpha[i], c)
			}
		}
		dual -= square / 2
		if gap := (primal - dual) / primal; gap < -1e-9 || gap > 1e-6 {
			t.Errorf("c = %v: primal %v, dual %v, relative gap %v", c, primal, dual, gap)
		}
	}
}

func TestLinearModelsLearn(t *testing.T) {
	for _, model := range []string{"svm", "logistic"} {
		t.Run(model, func(t *testing.T) { testLinearModel(t, model) })
	}
}

func testLinearModel(t *testing.T, model string) {
	embedding, draw := topics(3, 3, 30, 20)
	rng := stream.FromUint64(4).Rand()
	for _, c := range []struct {
		name             string
		classes          int
		train, val, test Examples
		features         string
	}{
		{"mean", 3, draw(300, 20), draw(100, 20), draw(300, 20), "mean"},
		{"tfidf", 3, draw(300, 20), draw(100, 20), draw(300, 20), "tfidf"},
		{"vectors, two classes", 2, clouds(rng, 200, 2, 5, 3), clouds(rng, 100, 2, 5, 3), clouds(rng, 300, 2, 5, 3),
			"mean"},
		{"vectors, four classes", 4, clouds(rng, 200, 4, 5, 5), clouds(rng, 100, 4, 5, 5), clouds(rng, 300, 4, 5, 5),
			"tfidf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Classes: c.classes, Embedding: embedding, Seed: stream.FromUint64(5),
				Parameters: map[string]any{"features": c.features}}
			m, err := New(model, o)
			if err != nil {
				t.Fatal(err)
			}
			h, err := m.Fit(context.Background(), c.train, c.val)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(linearGrid, h.Chosen["c"]) || h.Best != -1 {
				t.Errorf("history %+v", h)
			}
			p, err := m.Predict(context.Background(), c.test)
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(p, c.test.Labels); a < 0.85 {
				t.Errorf("accuracy %v", a)
			}
		})
	}
}

// trained returns what a model learned, as text.
func trained(t testing.TB, m Classifier) string {
	t.Helper()
	var networks []*tensor.Dense
	switch m := m.(type) {
	case *linear:
		return fmt.Sprint(m.weights, m.scaling, m.idf)
	case *lstm:
		networks = m.weights
	case *averaged:
		networks = m.weights
	}
	out := ""
	for _, w := range networks {
		out += fmt.Sprintf("%x", data[float32](w))
	}
	return out
}

func TestSVMIsReproducible(t *testing.T) {
	embedding, draw := topics(6, 2, 30, 20)
	train, val := draw(200, 10), draw(100, 10)
	var first string
	for range 2 {
		m, err := New("svm", Options{Classes: 2, Embedding: embedding, Seed: stream.FromUint64(7)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(context.Background(), train, val); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(context.Background(), train, val); !errors.Is(err, errFitted) {
			t.Errorf("second fit: %v", err)
		}
		if got := trained(t, m); first == "" {
			first = got
		} else if first != got {
			t.Error("same seed, different weights")
		}
	}
}

func TestTwoClassMarginsAreOpposite(t *testing.T) {
	x := clouds(stream.FromUint64(8).Rand(), 60, 2, 3, 2)
	m, _ := New("svm", Options{Classes: 2, Parameters: map[string]any{"c": 1}})
	if _, err := m.Fit(context.Background(), x, x); err != nil {
		t.Fatal(err)
	}
	scores, err := m.Score(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		if s[0] != -s[1] {
			t.Fatalf("margins %v", s)
		}
	}
}

func TestTFIDF(t *testing.T) {
	// Token 0 is in both documents, 1 in the first, 3 in the second; 2 and 9
	// in none.
	idf := inverseDocumentFrequency([][]int32{{0, 1, 1}, {3, 0}})
	rare := math.Log(1.5) + 1
	for id, want := range []float64{1, rare, 0, rare} {
		if math.Abs(idf[id]-want) > 1e-15 {
			t.Errorf("idf[%d] = %v, want %v", id, idf[id], want)
		}
	}
	x := tfidf(idf, [][]int32{{1, 0, 1, 2, 9}, {2}})
	if x.len() != 2 || !slices.Equal(x.columns, []int32{1, 0}) {
		t.Fatalf("%+v", x)
	}
	length := math.Hypot(2*rare, 1)
	for k, want := range []float64{2 * rare / length, 1 / length} {
		if math.Abs(float64(x.data[k])-want) > 1e-7 {
			t.Errorf("value %d = %v, want %v", k, x.data[k], want)
		}
	}
}

func TestMeanVectorsSkipTokensWithoutVector(t *testing.T) {
	e := Embedding{Dimension: 2, Vectors: []float32{2, 0, 0, 4, 0, 0}}
	got := meanVectors(e, [][]int32{{0, 1}, {0, 2, 2}, {2}, {}})
	if !slices.Equal(got.data, []float32{1, 2, 2, 0, 0, 0, 0, 0}) {
		t.Errorf("%v", got.data)
	}
}

func TestSVMRefusesBadInput(t *testing.T) {
	nan := float32(math.NaN())
	good := Examples{Sequences: [][]int32{{0}, {1}}, Labels: []int{0, 1}}
	embedding := Embedding{Dimension: 1, Vectors: []float32{1, 2}}
	for _, c := range []struct {
		name       string
		train, val Examples
		want       string
	}{
		{"empty", Examples{}, good, "train: no examples"},
		{"no validation", good, Examples{}, "validation: no examples"},
		{"labels", Examples{Sequences: good.Sequences}, good, "train: 0 labels for 2 examples"},
		{"label", Examples{Sequences: good.Sequences, Labels: []int{0, 2}}, good,
			"train: example 1: label 2: must be in [0, 2)"},
		{"token", good, Examples{Sequences: [][]int32{{5}}, Labels: []int{0}},
			"validation: example 0: token 5: must be in [0, 2)"},
		{"both", Examples{Sequences: good.Sequences, Vectors: [][]float32{{1}, {1}}, Labels: good.Labels}, good,
			"train: examples have both sequences and vectors: must have one of them"},
		{"ragged", Examples{Vectors: [][]float32{{1}, {1, 2}}, Labels: good.Labels}, good,
			"train: example 1: vector of length 2, the first has 1"},
		{"nan", Examples{Vectors: [][]float32{{1}, {nan}}, Labels: good.Labels}, good,
			"train: example 1: vector has a component that is not finite"},
		{"widths", good, Examples{Vectors: [][]float32{{1}}, Labels: []int{0}},
			"validation: vectors of length 1, train has 0"},
	} {
		m, err := New("svm", Options{Classes: 2, Embedding: embedding})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(context.Background(), c.train, c.val); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	m, _ := New("svm", Options{Classes: 2, Embedding: embedding})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Fit(cancelled, good, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fit: %v", err)
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"C": 1}, `model svm: unknown parameter "C": it has ["features" "c" "passes" "tolerance"]`},
		{map[string]any{"c": -1}, "model svm: c = -1: must be >= 0 and finite"},
		{map[string]any{"c": "big"}, "model svm: c = big: must be >= 0 and finite"},
		{map[string]any{"passes": 1.5}, "model svm: passes = 1.5: must be a whole number >= 1"},
		{map[string]any{"passes": uint64(0)}, "model svm: passes = 0: must be >= 1"},
		{map[string]any{"features": 3}, `model svm: features = 3: must be one of ["mean" "tfidf"]`},
		{map[string]any{"features": "x"}, `model svm: features = x: must be one of ["mean" "tfidf"]`},
	} {
		if _, err := New("svm", Options{Classes: 2, Parameters: c.given}); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.given, err, c.want)
		}
	}
	d, err := Find("svm")
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(map[string]any{"c": uint64(2), "passes": 7.0})
	if err != nil {
		t.Fatal(err)
	}
	if got := params.Format(p); got != "c=2 features=mean passes=7 tolerance=0.05" {
		t.Error(got)
	}
	if _, err := New("perceptron", Options{Classes: 2}); err == nil {
		t.Error("unknown model")
	}
	if _, err := New("svm", Options{Classes: 1}); err == nil || err.Error() != "classes = 1: must be >= 2" {
		t.Error(err)
	}
}

func BenchmarkSVM(b *testing.B) {
	rng := stream.FromUint64(9).Rand()
	train, val := clouds(rng, 3000, 2, 100, 1), clouds(rng, 1000, 2, 100, 1)
	for b.Loop() {
		m, _ := New("svm", Options{Classes: 2})
		h, err := m.Fit(context.Background(), train, val)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(h.Chosen["validation_accuracy"], "accuracy")
	}
}
