package embeddings

import (
	"slices"
	"testing"
)

// Counted by hand: b 3, then a and c 2 in order of occurrence, then d and e 1.
func TestByFrequency(t *testing.T) {
	documents := [][]string{{"d", "a", "b"}, nil, {"b", "c", "c", "e", "a", "b"}}
	if got := ByFrequency(documents); !slices.Equal(got, []string{"b", "a", "c", "d", "e"}) {
		t.Errorf("by frequency: %q", got)
	}
	words, counts := CountWords(documents)
	if !slices.Equal(words, []string{"d", "a", "b", "c", "e"}) || counts["c"] != 2 || len(counts) != 5 {
		t.Errorf("%q, %v", words, counts)
	}
}

func TestMatrix(t *testing.T) {
	v, err := NewVocabulary([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSpace("s", v, 2, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Matrix([]string{"b", "x", "a"}); !slices.Equal(got, []float32{3, 4, 0, 0, 1, 2}) {
		t.Errorf("matrix %v", got)
	}
}
