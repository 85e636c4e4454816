package metrics

import (
	"math"
	"testing"
)

// pairwiseAUC is the definition: all pairs, ties one half.
func pairwiseAUC(scores []float64, positive []bool) float64 {
	var won, pairs float64
	for i, p := range positive {
		for j, q := range positive {
			if p && !q {
				pairs++
				switch {
				case scores[i] > scores[j]:
					won++
				case scores[i] == scores[j]:
					won += 0.5
				}
			}
		}
	}
	return won / pairs
}

func TestAUCIsPairwise(t *testing.T) {
	rng := testRand("auc")
	for range 200 {
		n := 2 + rng.IntN(40)
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i] = float64(rng.IntN(6)) // many ties
			positive[i] = rng.IntN(2) == 0
		}
		positive[0], positive[1] = true, false
		near(t, "AUC", AUC(scores, positive), pairwiseAUC(scores, positive), 1e-12)
	}
}

func TestAUCEdges(t *testing.T) {
	if got := AUC([]float64{1, 2}, []bool{true, true}); !math.IsNaN(got) {
		t.Errorf("AUC of one class = %v, want missing", got)
	}
	if got := AUC([]float64{math.NaN(), 1}, []bool{true, false}); !math.IsNaN(got) {
		t.Errorf("AUC with a NaN score = %v, want missing", got)
	}
	if got := AUC([]float64{math.Inf(1), 0, math.Inf(-1)}, []bool{true, true, false}); got != 1 {
		t.Errorf("AUC with infinite scores = %v, want 1", got)
	}
}
