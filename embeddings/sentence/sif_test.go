package sentence

import (
	"context"
	"math"
	"slices"
	"testing"

	"mldpbench/embeddings"
)

// encode is SIF over the words a, b and c, with the frequencies of documents.
func encode(t *testing.T, documents [][]string, sentences ...string) [][]float32 {
	t.Helper()
	v, err := embeddings.NewVocabulary([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := embeddings.NewSpace("small", v, 2, []float32{3, 1, 3, -1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSIF(s, nil); err == nil {
		t.Error("no documents are accepted")
	}
	sif, err := NewSIF(s, documents)
	if err != nil {
		t.Fatal(err)
	}
	all, err := sif.Encode(context.Background(), sentences)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSIFByHand(t *testing.T) {
	// Sentences a and b occur alike: their Gram matrix is diagonal with the
	// first axis leading, so only the second survives.
	got := encode(t, [][]string{{"a"}, {"b"}}, "a", "b", "c", "a b", "a unheard", "unheard", "")
	w := 1e-3 / (1e-3 + 0.5)
	for i, want := range [][]float64{{0, w}, {0, -w}, {0, 0}, {0, 0}, {0, w}, {0, 0}, {0, 0}} {
		for k := range want {
			if math.Abs(float64(got[i][k])-want[k]) > 1e-9 {
				t.Errorf("sentence %d: %v, want %v", i, got[i], want)
			}
		}
	}
	// Where no word is known there is nothing to remove.
	if got := encode(t, [][]string{{"unheard"}}, "a"); !slices.Equal(got[0], []float32{3, 1}) {
		t.Errorf("%v", got)
	}
	// A vector does not depend on the other sentences.
	documents := [][]string{{"a", "c"}, {"b"}, {"a", "b", "b"}}
	if all, one := encode(t, documents, "a b", "c", "b c"), encode(t, documents, "b c"); !slices.Equal(one[0], all[2]) {
		t.Errorf("%v, want %v", one, all[2])
	}
}
