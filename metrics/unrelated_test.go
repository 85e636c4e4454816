package metrics

import (
	"slices"
	"testing"
)

func TestUnrelated(t *testing.T) {
	splits := [][]int32{{1, 2, 3, 4}, {5, 6, 7, 7, 7}}
	public := [][]int32{{1, 2, 3, 9}, {1, 2, 8, 9}, {}, {4, 3, 2, 1}, {8, 9}, {5, 6, 7}}
	// Jaccard with the nearest: 3/5, 2/6, none, 1, 0, 1.
	if got := Unrelated(public, splits, 0.34); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("%v", got)
	}
	if got := Unrelated(public, splits, 0.3); !slices.Equal(got, []int{4}) {
		t.Errorf("%v", got)
	}
}
