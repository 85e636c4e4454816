package models

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

func TestDualSolverReachesTheOptimum(t *testing.T) {
	// Weak duality: the primal objective is never below the dual one, and
	// both are equal at the optimum only.
	x := clouds(stream.FromUint64(1).Rand(), 300, 2, 10, 1)
	data := vectorsOf(Embedding{}, x)
	s := newDualSolver(data, x.Labels, 1, stream.FromUint64(2).Rand())
	for _, c := range []float64{0.01, 1, 10} { // each from the one before
		if err := s.solve(t.Context(), c, 100_000, 1e-9); err != nil {
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

func TestLogisticGradientAndOptimum(t *testing.T) {
	for _, classes := range []int{2, 3} {
		x := clouds(stream.FromUint64(1).Rand(), 200, classes, 4, 1)
		l := newLogisticTrainer(rowDesign{vectorsOf(Embedding{}, x)}, x.Labels, classes,
			logisticStop{iterations: 1000, tolerance: 1e-7})
		w := random[float64](2, len(l.weights))
		gradient := make([]float64, len(l.weights))
		l.gradient(gradient, w, 2)
		if worst := checkGradient(func() float64 { return l.objective(w, 2) }, w, gradient); worst > 1e-6 {
			t.Errorf("%d classes: gradient differs by %v", classes, worst)
		}
		for _, c := range linearGrid {
			if _, err := l.train(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			l.gradient(gradient, l.weights, c)
			if g := magnitude(gradient); g > 1e-6 {
				t.Errorf("c = %v: gradient %v at the end", c, g)
			}
		}
	}
}

// What shares its exponentials has the bits of what does not.
func TestLossesShareExponentials(t *testing.T) {
	margins := append(random[float64](7, 300), 0, math.Copysign(0, -1), 1e-300, -1e-300, 40, -40, 800, -800)
	for i, m := range margins {
		for label := range 2 {
			row := []float64{-m, m}
			p := make([]float64, 2)
			stats.Softmax(p, row)
			loss, slope := lossAndSlope(m, label)
			if want := logLoss(row, label); loss != want {
				t.Errorf("margin %v, label %d: loss %v, want %v to the bit", m, label, loss, want)
			}
			if want := p[1] - p[0] - float64(2*label-1); slope != want {
				t.Errorf("margin %v, label %d: slope %v, want %v to the bit", m, label, slope, want)
			}
		}
		row := []float64{m, margins[(i+1)%len(margins)], margins[(i+2)%len(margins)]}
		p := make([]float64, 3)
		stats.Softmax(p, row)
		want := logLoss(row, i%3)
		if loss := lossAndSoftmax(row, i%3); loss != want || !slices.Equal(row, p) {
			t.Errorf("three margins from %v: loss %v and softmax %v, want %v and %v to the bit", m, loss, row, want, p)
		}
	}
}

// Models learn from all kinds of input; the same seed gives the same weights; two
// margins are opposite, probabilities sum to one.
func TestLinearModelsLearn(t *testing.T) {
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
		{"two classes", 2, clouds(rng, 200, 2, 5, 3), clouds(rng, 100, 2, 5, 3), clouds(rng, 300, 2, 5, 3), "mean"},
		{"four classes", 4, clouds(rng, 200, 4, 5, 5), clouds(rng, 100, 4, 5, 5), clouds(rng, 300, 4, 5, 5), "tfidf"},
	} {
		for _, model := range []string{"svm", "logistic"} {
			t.Run(model+", "+c.name, func(t *testing.T) {
				o := Options{Classes: c.classes, Embedding: embedding, Seed: stream.FromUint64(5),
					Parameters: map[string]any{"features": c.features}}
				m, h, learned := fitted(t, model, o, c.train, c.val)
				if !strings.HasPrefix(h.Chosen, "C = ") || h.Best != -1 || h.Accuracy < 0.8 {
					t.Errorf("history %+v", h)
				}
				mustFind(t, m, c.test, 0.85)
				if _, _, again := fitted(t, model, o, c.train, c.val); again != learned {
					t.Error("same seed, other weights")
				}
				for _, s := range scores(t, m, c.test) {
					sum := 0.0
					for _, p := range s {
						sum += p
					}
					if model == "logistic" && (math.Abs(sum-1) > 1e-12 || slices.Min(s) < 0) {
						t.Fatalf("probabilities %v", s)
					} else if model == "svm" && c.classes == 2 && sum != 0 {
						t.Fatalf("margins %v", s)
					}
				}
			})
		}
	}
}

func TestTFIDF(t *testing.T) {
	// Token 0 is in both documents, 1 in the first, 3 in the second; 2 and 9
	// in none.
	g := learnWords([][]int32{{0, 1, 1}, {3, 0}})
	rare := math.Log(1.5) + 1
	x := g.matrix(Examples{Sequences: [][]int32{{1, 0, 1, 2, 9}, {2}}}).(rowDesign).rows.(sparseRows)
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
	got := vectorsOf(e, Examples{Sequences: [][]int32{{0, 1}, {0, 2, 2}, {2}, {}}})
	if !slices.Equal(got.data, []float32{1, 2, 2, 0, 0, 0, 0, 0}) {
		t.Errorf("%v", got.data)
	}
}

// What all models refuse, and when they stop.
func TestModelsRefuseBadInput(t *testing.T) {
	good := Examples{Sequences: [][]int32{{0}, {1}}, Labels: []int{0, 1}}
	embedding := Embedding{Dimension: 1, Vectors: []float32{1, 2}}
	for _, c := range []struct {
		model      string
		train, val Examples
		want       string
	}{
		{"svm", Examples{}, good, "train: no examples"},
		{"svm", good, Examples{}, "validation: no examples"},
		{"svm", Examples{Sequences: good.Sequences}, good, "train: 0 labels for 2 examples"},
		{"svm", Examples{Sequences: good.Sequences, Labels: []int{0, 2}}, good,
			"train: example 1: label 2: must be in [0, 2)"},
		{"svm", good, Examples{Sequences: [][]int32{{5}}, Labels: []int{0}},
			"validation: example 0: token 5: must be in [0, 2)"},
		{"svm", Examples{Sequences: good.Sequences, Vectors: [][]float32{{1}, {1}}, Labels: good.Labels}, good,
			"train: examples have both sequences and vectors: must have one of them"},
		{"svm", Examples{Vectors: [][]float32{{1}, {1, 2}}, Labels: good.Labels}, good,
			"train: example 1: vector of length 2, the first has 1"},
		{"svm", Examples{Vectors: [][]float32{{1}, {float32(math.NaN())}}, Labels: good.Labels}, good,
			"train: example 1: vector has a component that is not finite"},
		{"svm", good, Examples{Vectors: [][]float32{{1}}, Labels: []int{0}},
			"validation: vectors of length 1: the model is trained on 0"},
		{"lstm", Examples{Vectors: [][]float32{{1}}, Labels: []int{0}}, good,
			"train: model lstm reads token sequences, not vectors"},
		{"encoder", good, good, "train: model encoder reads vectors, not token sequences"},
	} {
		m, err := New(c.model, Options{Classes: 2, Embedding: embedding})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(t.Context(), c.train, c.val); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if _, err := m.Score(t.Context(), good); !errors.Is(err, errNotFitted) {
			t.Errorf("%s scores untrained: %v", c.model, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, model := range []string{"svm", "logistic", "lstm", "averaged"} {
		m, _ := New(model, Options{Classes: 2, Embedding: embedding, Parameters: map[string]any{}})
		if _, err := m.Fit(cancelled, good, good); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled fit of %s: %v", model, err)
		}
		if _, err := m.Fit(t.Context(), good, good); err != nil {
			t.Error(err)
		}
		if _, err := m.Fit(t.Context(), good, good); !errors.Is(err, errFitted) {
			t.Errorf("second fit of %s: %v", model, err)
		}
		if _, err := m.Score(t.Context(), Examples{Sequences: [][]int32{{7}}}); err == nil {
			t.Errorf("%s scored an unknown token", model)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"C": 1}, `model svm: unknown parameter "C": it has ["features" "c" "passes" "tolerance"]`},
		{map[string]any{"c": -1}, "model svm: c = -1: must be >= 0 and finite"},
		{map[string]any{"passes": 1.5}, "model svm: passes = 1.5: must be a whole number >= 1"},
		{map[string]any{"features": "x"}, `model svm: features = x: must be "mean" or "tfidf"`},
	} {
		if _, err := New("svm", Options{Classes: 2, Parameters: c.given}); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.given, err, c.want)
		}
	}
	for want, o := range map[string]Options{
		"classes = 1: must be >= 2": {Classes: 1}, "model lstm: needs an embedding": {Classes: 2},
		"model lstm: dropout = 1: must be in [0, 1)": {Classes: 2, Embedding: Embedding{1, []float32{1}},
			Parameters: map[string]any{"dropout": 1}},
		"embedding: 2 numbers are no rows of dimension 3": {Classes: 2, Embedding: Embedding{3, []float32{1, 2}}},
	} {
		if _, err := New("lstm", o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
