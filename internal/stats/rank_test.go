package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func means(samples [][]float64) []float64 {
	out := make([]float64, len(samples))
	for i, x := range samples {
		out[i] = Mean(x)
	}
	return out
}

func TestRankBoundsPlaces(t *testing.T) {
	names := []string{"low", "high", "high too", "single", "noisy"}
	samples := [][]float64{
		{10.0, 10.1, 9.9, 10.05, 9.95},
		{80.0, 81.0, 79.0, 80.5, 79.5},
		{80.2, 81.1, 79.1, 80.4, 79.6},
		{80},
		{20, 99, 5, 60, 45},
	}
	welch := func(a, b int) (Test, error) { return Blocked(sampled(samples[a]), sampled(samples[b])) }
	got, err := Rank(names, means(samples), welch, true, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][3]int{}
	for _, r := range got {
		places[r.Name] = [3]int{r.Place, r.Low, r.High}
	}
	// A noisy competitor has no certain place: it does not share the first
	// place with the certain ones.
	for name, want := range map[string][3]int{"high too": {1, 1, 4}, "high": {2, 1, 4}, "single": {3, 1, 5},
		"noisy": {4, 1, 5}, "low": {5, 3, 5}} {
		if places[name] != want {
			t.Errorf("%q: place and bounds %v, want %v", name, places[name], want)
		}
	}
	last := got[len(got)-1]
	if !slices.Equal(last.Better, []string{"high", "high too"}) ||
		!slices.Equal(last.Open, []string{"single", "noisy"}) || last.Worse != nil {
		t.Errorf("last is %+v", last)
	}
	reversed, err := Rank(names, means(samples), welch, false, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if r := reversed[0]; r.Name != "low" || r.Place != 1 || r.Low != 1 || r.High != 3 {
		t.Errorf("lower is better: first is %+v", r)
	}
	if _, err := Rank(names, nil, welch, true, 0.05); err == nil {
		t.Error("counts that differ must be an error")
	}
}

// Equal competitors: some pair is separated in at most 5% of studies. With
// 2000 studies of true rate 5% or less, 150 or more come by chance once in a
// million (binomial).
func TestRankKeepsItsLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	separated := 0
	for range 2000 {
		names, samples := make([]string, 6), make([][]float64, 6)
		for i := range samples {
			names[i] = string(rune('a' + i))
			for range 5 {
				samples[i] = append(samples[i], 70+math.Exp(float64(i-3))*rng.NormFloat64()) // unequal spread
			}
		}
		ranked, err := Rank(names, means(samples), func(a, b int) (Test, error) {
			return Blocked(sampled(samples[a]), sampled(samples[b]))
		}, true, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(ranked, func(r Ranked) bool { return r.Low > 1 || r.High < 6 }) {
			separated++
		}
	}
	t.Logf("%d of 2000 studies of equal mechanisms separate some", separated)
	if separated >= 150 {
		t.Errorf("%d of 2000 studies of equal mechanisms separate some: more than 5%%", separated)
	}
}
