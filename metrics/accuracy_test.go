package metrics

import (
	"math"
	"testing"
)

func TestCorrect(t *testing.T) {
	got, err := Correct([]int{0, 1, 2, 1}, []int{0, 2, 2, 1})
	if err != nil || got != 3 {
		t.Fatalf("Correct = %d, %v, want 3", got, err)
	}
	if _, err := Correct([]int{1}, nil); err == nil {
		t.Error("lengths that differ must be an error")
	}
	near(t, "Percent", Percent(3, 4), 75, 0)
	if !math.IsNaN(Percent(0, 0)) {
		t.Error("a share of nothing must be missing")
	}
}
