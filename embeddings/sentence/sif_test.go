package sentence

import (
	"context"
	"math"
	"slices"
	"testing"

	"mldpbench/embeddings"
)

func smallSpace(t *testing.T) *embeddings.Space {
	t.Helper()
	v, err := embeddings.NewVocabulary([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := embeddings.NewSpace("small", v, 2, []float32{3, 1, 3, -1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSIFByHand(t *testing.T) {
	// Sentences a and b occur alike: their Gram matrix is diagonal with the
	// first axis leading, so only the second survives.
	s, err := NewSIF(smallSpace(t), [][]string{{"a"}, {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Encode(context.Background(), []string{"a", "b", "c", "a b", "a unheard", "unheard", ""})
	if err != nil {
		t.Fatal(err)
	}
	w := 1e-3 / (1e-3 + 0.5)
	for i, want := range [][]float64{{0, w}, {0, -w}, {0, 0}, {0, 0}, {0, w}, {0, 0}, {0, 0}} {
		for k := range want {
			if math.Abs(float64(got[i][k])-want[k]) > 1e-9 {
				t.Errorf("sentence %d: %v, want %v", i, got[i], want)
			}
		}
	}
}

func TestSIFVectorDoesNotDependOnNeighbours(t *testing.T) {
	s, err := NewSIF(smallSpace(t), [][]string{{"a", "c"}, {"b"}, {"a", "b", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Encode(context.Background(), []string{"a b", "c", "b c"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Encode(context.Background(), []string{"b c"})
	if err != nil || !slices.Equal(one[0], all[2]) {
		t.Errorf("%v, want %v (%v)", one, all[2], err)
	}
}

func TestSIFNeedsWords(t *testing.T) {
	if _, err := NewSIF(smallSpace(t), nil); err == nil {
		t.Error("no error")
	}
	s, err := NewSIF(smallSpace(t), [][]string{{"unheard"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Encode(context.Background(), []string{"a"})
	if err != nil || !slices.Equal(got[0], []float32{3, 1}) {
		t.Errorf("%v %v", got, err)
	}
}
