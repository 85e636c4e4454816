package models

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"mldpbench/stream"
)

func small(extra map[string]any) map[string]any {
	p := map[string]any{"hidden": 12, "batch": 32, "epochs": 8, "learning_rate": 0.01}
	for k, v := range extra {
		p[k] = v
	}
	return p
}

func TestLSTMLearns(t *testing.T) {
	for _, name := range []string{"lstm", "bilstm"} {
		t.Run(name, func(t *testing.T) {
			embedding, draw := topics(20, 3, 20, 10)
			train, val, test := draw(700, 12), draw(100, 12), draw(301, 12)
			test.Sequences[7] = nil // an empty document is scored, too
			o := Options{Classes: 3, Embedding: embedding, Seed: stream.FromUint64(21), Parameters: small(nil)}
			m, err := New(name, o)
			if err != nil {
				t.Fatal(err)
			}
			h, err := m.Fit(context.Background(), train, val)
			if err != nil {
				t.Fatal(err)
			}
			if h.Best < 0 || h.Best >= len(h.Epochs) {
				t.Fatalf("best %d of %d epochs", h.Best, len(h.Epochs))
			}
			for _, e := range h.Epochs {
				if e.ValidationLoss < h.Epochs[h.Best].ValidationLoss {
					t.Errorf("epoch %+v, best %+v", e, h.Epochs[h.Best])
				}
			}
			p, err := m.Predict(context.Background(), test)
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(p, test.Labels); a < 0.85 {
				t.Errorf("accuracy %v", a)
			}
			// The weights kept are those of the best epoch.
			scores, err := m.Score(context.Background(), val)
			if err != nil {
				t.Fatal(err)
			}
			loss := 0.0
			for i, s := range scores {
				loss -= math.Log(s[val.Labels[i]]) / float64(len(scores))
			}
			if want := h.Epochs[h.Best].ValidationLoss; math.Abs(loss-want) > 1e-6 {
				t.Errorf("validation loss %v after training, %v in the log", loss, want)
			}
		})
	}
}

func fitted(t testing.TB, name string, o Options, train, val Examples) string {
	t.Helper()
	m, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(context.Background(), train, val); err != nil {
		t.Fatal(err)
	}
	return trained(t, m)
}

// Equal seeds give equal bits, whether trained alone or concurrently, on one
// processor or several; different seeds give different weights.
func TestLSTMIsReproducibleAndIndependent(t *testing.T) {
	embedding, draw := topics(22, 2, 20, 10)
	train, val := draw(150, 12), draw(50, 12)
	o := Options{Classes: 2, Embedding: embedding, Seed: stream.FromUint64(23),
		Parameters: small(map[string]any{"epochs": 2})}
	before := runtime.GOMAXPROCS(1)
	alone := fitted(t, "bilstm", o, train, val)
	runtime.GOMAXPROCS(max(before, 4))
	defer runtime.GOMAXPROCS(before)
	results := make([]string, 4)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			own := o
			if i == 3 {
				own.Seed = stream.FromUint64(24)
			}
			results[i] = fitted(t, "bilstm", own, train, val)
		})
	}
	wg.Wait()
	for i, r := range results {
		if same := alone == r; same != (i != 3) {
			t.Errorf("training %d: equal to the one alone: %v", i, same)
		}
	}
}

// Padding is invisible: the score of a document does not depend on its batch.
func TestLSTMScoresDoNotDependOnTheBatch(t *testing.T) {
	embedding, draw := topics(25, 2, 20, 10)
	train, val, test := draw(100, 12), draw(50, 12), draw(70, 40)
	m, err := New("lstm", Options{Classes: 2, Embedding: embedding, Seed: stream.FromUint64(26),
		Parameters: small(map[string]any{"epochs": 1})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(context.Background(), train, val); err != nil {
		t.Fatal(err)
	}
	together, err := m.Score(context.Background(), test)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range test.Sequences {
		alone, err := m.Score(context.Background(), Examples{Sequences: [][]int32{s}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(alone[0], together[i]) {
			t.Fatalf("document %d: %v alone, %v among others", i, alone[0], together[i])
		}
	}
}

func TestLSTMStopsWithinABatch(t *testing.T) {
	embedding, draw := topics(27, 2, 20, 10)
	train, val := draw(64*40, 12), draw(50, 12)
	m, err := New("lstm", Options{Classes: 2, Embedding: embedding,
		Parameters: map[string]any{"batch": 64, "epochs": 1_000_000, "patience": 1_000_000}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Fit(ctx, train, val); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	if _, err := m.Score(context.Background(), val); !errors.Is(err, errNotFitted) {
		t.Errorf("a training that was stopped can score: %v", err)
	}
}

func TestLSTMRefusesBadInput(t *testing.T) {
	embedding := Embedding{Dimension: 1, Vectors: []float32{1, 2}}
	good := Examples{Sequences: [][]int32{{0}, {1}}, Labels: []int{0, 1}}
	for want, train := range map[string]Examples{
		"train: no examples": {},
		"train: model lstm reads token sequences, not vectors": {Vectors: [][]float32{{1}}, Labels: []int{0}},
		"train: example 0: token 2: must be in [0, 2)":         {Sequences: [][]int32{{2}}, Labels: []int{0}},
		"train: example 1: label -1: must be in [0, 2)":        {Sequences: good.Sequences, Labels: []int{0, -1}},
	} {
		m, err := New("lstm", Options{Classes: 2, Embedding: embedding})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(context.Background(), train, good); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, o := range map[string]Options{
		"model lstm: needs an embedding": {Classes: 2},
		"model lstm: dropout = 1: must be in [0, 1)": {Classes: 2, Embedding: embedding,
			Parameters: map[string]any{"dropout": 1}},
		"model lstm: hidden = 0: must be >= 1": {Classes: 2, Embedding: embedding,
			Parameters: map[string]any{"hidden": 0}},
		"model lstm: learning_rate = 0: must be > 0 and finite": {Classes: 2, Embedding: embedding,
			Parameters: map[string]any{"learning_rate": 0}},
		"embedding: 2 numbers are no rows of dimension 3": {Classes: 2,
			Embedding: Embedding{Dimension: 3, Vectors: embedding.Vectors}},
	} {
		if _, err := New("lstm", o); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// All examples may be empty documents.
	m, _ := New("lstm", Options{Classes: 2, Embedding: embedding, Parameters: map[string]any{"epochs": 1}})
	empty := Examples{Sequences: [][]int32{{}, {}}, Labels: []int{0, 1}}
	if _, err := m.Fit(context.Background(), empty, empty); err != nil {
		t.Error(err)
	}
	if _, err := m.Predict(context.Background(), Examples{Sequences: [][]int32{{7}}}); err == nil {
		t.Error("predicted an unknown token")
	}
}

func TestOrthogonal(t *testing.T) {
	w := make([]float32, 8*32)
	orthogonal(w, 8, 32, stream.FromUint64(28))
	for i := range 8 {
		for j := range 8 {
			var dot, want float64
			for k := range 32 {
				dot += float64(w[i*32+k]) * float64(w[j*32+k])
			}
			if i == j {
				want = 1
			}
			if math.Abs(dot-want) > 1e-6 {
				t.Errorf("rows %d and %d: %v", i, j, dot)
			}
		}
	}
}
