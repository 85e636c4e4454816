package models

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"mldpbench/stream"
)

// Networks learn, keep the weights of the best epoch (lstm-2024 those of the last)
// and score empty documents.
func TestNetworksLearn(t *testing.T) {
	embedding, draw := topics(20, 3, 20, 10)
	train, val, test := draw(700, 12), draw(100, 12), draw(301, 12)
	test.Sequences[7] = nil
	first := embedding.Vectors[0]
	for _, c := range []struct {
		model      string
		parameters map[string]any
	}{
		{"lstm", map[string]any{"hidden": 12}}, {"bilstm", map[string]any{"hidden": 12}},
		{"lstm-2024", map[string]any{"hidden": 12, "length": 12}},
		{"averaged", map[string]any{"learning_rate": 0.03}},
	} {
		p := map[string]any{"batch": 32, "epochs": 8, "learning_rate": 0.01}
		for k, v := range c.parameters {
			p[k] = v
		}
		m, h, _ := fitted(t, c.model, Options{Classes: 3, Embedding: embedding, Seed: stream.FromUint64(21), Parameters: p},
			train, val)
		mustFind(t, m, test, 0.85)
		if c.model == "lstm-2024" {
			if h.Best != len(h.Losses)-1 {
				t.Errorf("weights of epoch %d of %d are kept", h.Best+1, len(h.Losses))
			}
		} else if h.Losses[h.Best] != slices.Min(h.Losses) {
			t.Errorf("%s: epoch %d of %v", c.model, h.Best, h.Losses)
		}
		s, loss := scores(t, m, val), 0.0
		for i := range s {
			loss -= math.Log(s[i][val.Labels[i]]) / float64(len(s))
		}
		if math.Abs(loss-h.Losses[h.Best]) > 1e-6 || accuracy(s, val.Labels) != h.Accuracy {
			t.Errorf("%s: validation loss %v and %v after training: %+v", c.model, loss, accuracy(s, val.Labels), h)
		}
	}
	if embedding.Vectors[0] != first {
		t.Error("training moved the embedding it was given")
	}
}

// Equal seeds give equal bits, whether trained alone or concurrently, on one
// processor or several; different seeds give different weights.
func TestNetworksAreReproducibleAndIndependent(t *testing.T) {
	embedding, draw := topics(22, 2, 20, 10)
	train, val := draw(150, 12), draw(50, 12)
	for _, model := range []string{"bilstm", "averaged"} {
		o := Options{Classes: 2, Embedding: embedding, Seed: stream.FromUint64(23),
			Parameters: map[string]any{"epochs": 2, "batch": 32}}
		before := runtime.GOMAXPROCS(1)
		_, _, alone := fitted(t, model, o, train, val)
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
				_, _, results[i] = fitted(t, model, own, train, val)
			})
		}
		wg.Wait()
		for i, r := range results {
			if same := alone == r; same != (i != 3) {
				t.Errorf("%s, training %d: equal to the one alone: %v", model, i, same)
			}
		}
	}
}

// Padding is invisible: the score of a document does not depend on its batch. Of a
// text longer than length only the last tokens count.
func TestScoresDoNotDependOnTheBatch(t *testing.T) {
	embedding, draw := topics(25, 2, 20, 10)
	train, val, test := draw(100, 12), draw(50, 12), draw(70, 40)
	p := map[string]any{"epochs": 1, "hidden": 12}
	m, _, _ := fitted(t, "lstm", Options{Classes: 2, Embedding: embedding, Parameters: p}, train, val)
	p["length"] = 12
	last, _, _ := fitted(t, "lstm-2024", Options{Classes: 2, Embedding: embedding, Parameters: p}, train, val)
	together, short := scores(t, m, test), scores(t, last, test)
	for i, s := range test.Sequences {
		if alone := scores(t, m, Examples{Sequences: [][]int32{s}}); !slices.Equal(alone[0], together[i]) {
			t.Fatalf("document %d: %v alone, %v among others", i, alone[0], together[i])
		}
		cut := scores(t, last, Examples{Sequences: [][]int32{s[max(0, len(s)-12):]}})
		if math.Abs(cut[0][0]-short[i][0]) > 1e-6 {
			t.Fatalf("text %d: %v with more tokens before, %v without", i, short[i], cut[0])
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
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Fit(ctx, train, val); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	// All examples may be empty documents.
	empty := Examples{Sequences: [][]int32{{}, {}}, Labels: []int{0, 1}}
	fitted(t, "lstm", Options{Classes: 2, Embedding: embedding, Parameters: map[string]any{"epochs": 1}}, empty, empty)
}

// A fitted model answers several callers at once: an attacker fitted once is
// asked by every release of a run.
func TestFittedModelsScoreConcurrently(t *testing.T) {
	embedding, draw := topics(31, 2, 20, 10)
	train, val, test := draw(80, 12), draw(30, 12), draw(70, 12)
	for _, name := range definitions.Names() {
		train, val, test := train, val, test
		if d, err := Find(name); err != nil || d.Has(Encoder) {
			for _, x := range []*Examples{&train, &val, &test} {
				*x = Examples{Labels: x.Labels, Vectors: slices.Collect(slices.Chunk(vectorsOf(embedding, *x).data, 10))}
			}
		}
		m, _, _ := fitted(t, name, Options{Classes: 2, Embedding: embedding}, train, val)
		alone := scores(t, m, test)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					if got, err := m.Score(t.Context(), test); err != nil || !reflect.DeepEqual(got, alone) {
						t.Errorf("%s: error %v, or other scores than alone", name, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestOrthogonal(t *testing.T) {
	w := make([]float32, 8*32)
	orthogonal(w, 8, 32, stream.FromUint64(28))
	for i := range 8 {
		for j := range 8 {
			dot := map[bool]float64{true: -1}[i == j]
			for k := range 32 {
				dot += float64(w[i*32+k]) * float64(w[j*32+k])
			}
			if math.Abs(dot) > 1e-6 {
				t.Errorf("rows %d and %d: %v", i, j, dot)
			}
		}
	}
}

// A text of which no word is left is answered by every classifier: with numbers, the
// same alone and among others, and not as if it were the text before it.
func TestEmptyTexts(t *testing.T) {
	embedding, draw := topics(31, 2, 20, 10)
	train := draw(80, 12)
	validation := draw(30, 12)
	train.Sequences[3] = nil
	validation.Sequences[0] = []int32{}
	among := Examples{Sequences: [][]int32{draw(1, 12).Sequences[0], {}, draw(1, 12).Sequences[0], nil}}
	alone := Examples{Sequences: [][]int32{{}}}
	check := func(name string, m Classifier) {
		rows := scores(t, m, among)
		one := scores(t, m, alone)[0]
		for class, score := range one {
			if math.IsNaN(score) || math.IsInf(score, 0) {
				t.Errorf("%s: score %v of class %d of an empty text, want a number", name, score, class)
			}
		}
		if !slices.Equal(rows[1], one) || !slices.Equal(rows[3], one) {
			t.Errorf("%s: an empty text has %v and %v among others, want %v as alone", name, rows[1], rows[3], one)
		}
		if slices.Equal(rows[0], one) {
			t.Errorf("%s: a text of 12 words has the scores of an empty one, %v", name, one)
		}
	}
	for _, name := range definitions.Names() {
		d, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if d.Has(Encoder) {
			continue // reads vectors
		}
		m, _, _ := fitted(t, name, Options{Classes: 2, Embedding: embedding}, train, validation)
		check(name, m)
	}
	spelling := func(token int32) string { return string('a' + token%26) }
	for _, e := range []Embedding{{}, embedding} {
		o := NGramOptions{Classes: 2, Embedding: e, Spelling: spelling}
		m, _, err := FitNGrams(t.Context(), o, train, validation)
		if err != nil {
			t.Fatal(err)
		}
		check("ngrams", m)
	}
}
