package models

import (
	"context"
	"reflect"
	"testing"

	"mldpbench/stream"
)

// A fitted model answers several callers at once: an attacker fitted once is
// asked by every release of a run.
func TestFittedModelsScoreConcurrently(t *testing.T) {
	embedding, draw := topics(31, 2, 20, 10)
	train, val, test := draw(80, 12), draw(30, 12), draw(70, 12)
	vectors := func(x Examples) Examples { // of the first words
		out := Examples{Labels: x.Labels}
		for _, s := range x.Sequences {
			out.Vectors = append(out.Vectors, embedding.Vectors[int(s[0])*embedding.Dimension:][:embedding.Dimension])
		}
		return out
	}
	for _, name := range Names() {
		o := Options{Classes: 2, Embedding: embedding, Seed: stream.FromUint64(32)}
		m, err := New(name, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		test := test
		if _, err = m.Fit(context.Background(), train, val); err != nil { // a model of vectors
			_, err = m.Fit(context.Background(), vectors(train), vectors(val))
			test = vectors(test)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		alone, err := m.Score(context.Background(), test)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Run(name, func(t *testing.T) {
			for range 8 {
				t.Run("", func(t *testing.T) {
					t.Parallel()
					for range 20 {
						if got, err := m.Score(context.Background(), test); err != nil || !reflect.DeepEqual(got, alone) {
							t.Fatalf("error %v, or other scores than alone", err)
						}
					}
				})
			}
		})
	}
}
