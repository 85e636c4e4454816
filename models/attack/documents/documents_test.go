package documents

import (
	"strings"
	"testing"

	"mldpbench/internal/attacktest"
)

// A score of each original is asked for; fewer or more are an error that says so.
func TestScoresAreOfAllOriginals(t *testing.T) {
	target := attacktest.Response(attacktest.Generated(t), 1)
	l, err := newLinked(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, len(l.Plain) - 1, len(l.Plain) + 1} {
		_, err := Attacker{}.link(t.Context(), target, l, func(int) []float64 { return make([]float64, n) })
		if err == nil || !strings.Contains(err.Error(), "originals, not of") {
			t.Errorf("%d scores: error %v, want that there are not %d", n, err, len(l.Plain))
		}
	}
}
