package models

import (
	"slices"
	"testing"
)

// Of two mean vectors u and v: u, v, |u − v| and u·v number by number. A word without a
// vector does not count, and a text without a word is the zero vector.
func TestPairVectors(t *testing.T) {
	e := Embedding{Dimension: 2, Vectors: []float32{1, 2, 3, -4, 0, 0}}
	got := PairVectors(e, [][]int32{{0, 1}, {2}, {0, 2}}, [][]int32{{1}, {0}, {}})
	want := [][]float32{
		{2, -1, 3, -4, 1, 3, 6, 4},
		{0, 0, 1, 2, 1, 2, 0, 0},
		{1, 2, 0, 0, 1, 2, 0, 0},
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("pair %d has the features %v, want %v", i, got[i], want[i])
		}
	}
}
