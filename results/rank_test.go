package results

import (
	"slices"
	"testing"
)

func TestRankTiesWhatNothingSeparates(t *testing.T) {
	names := []string{"low", "high", "high too", "single"}
	samples := [][]float64{
		{10.0, 10.1, 9.9, 10.05, 9.95},
		{80.0, 81.0, 79.0, 80.5, 79.5},
		{80.2, 81.1, 79.1, 80.4, 79.6},
		{80},
	}
	got, err := Rank(names, samples, true, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[string]int{}
	for _, r := range got {
		ranks[r.Name] = r.Rank
	}
	for name, want := range map[string]int{"high": 1, "high too": 1, "single": 1, "low": 3} {
		if ranks[name] != want {
			t.Errorf("rank of %q = %d, want %d", name, ranks[name], want)
		}
	}
	if last := got[len(got)-1]; last.Name != "low" || !slices.Equal(last.Separated, []string{"high", "high too"}) {
		t.Errorf("last is %+v", last)
	}
	if got[0].Name != "high too" {
		t.Errorf("first by mean is %q", got[0].Name)
	}
	reversed, err := Rank(names, samples, false, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if reversed[0].Name != "low" || reversed[0].Rank != 1 {
		t.Errorf("lower is better: first is %+v", reversed[0])
	}
	if _, err := Rank(names, samples[:1], true, 0.05); err == nil {
		t.Error("counts that differ must be an error")
	}
}
