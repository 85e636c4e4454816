package results

import (
	"fmt"
	"math"
	"slices"
)

// Ranked is one line of a rank table.
type Ranked struct {
	Name string
	Mean float64
	// Rank is 1 + the number of competitors that are better beyond chance:
	// those that nothing separates share a rank.
	Rank int
	// Separated names the competitors that are better beyond chance.
	Separated []string
}

// Rank orders competitors by mean and ties those that Welch's test, Holm
// corrected over all pairs, does not separate at level (e.g. 0.05). samples
// are in the order of names; one with fewer than two values cannot be
// separated from anything.
func Rank(names []string, samples [][]float64, higherIsBetter bool, level float64) ([]Ranked, error) {
	if len(names) != len(samples) {
		return nil, fmt.Errorf("rank: %d names for %d samples", len(names), len(samples))
	}
	type pair struct{ a, b int }
	var pairs []pair
	var p, differences []float64
	for a := range names {
		for b := a + 1; b < len(names); b++ {
			pairs = append(pairs, pair{a, b})
			t, err := Welch(samples[a], samples[b])
			if err != nil {
				t = Test{P: math.NaN()}
			}
			p, differences = append(p, t.P), append(differences, t.Difference)
		}
	}
	ranked := make([]Ranked, len(names))
	for i, n := range names {
		ranked[i] = Ranked{Name: n, Mean: mean(samples[i]), Rank: 1}
	}
	for i, adjusted := range Holm(p) {
		if !(adjusted < level) {
			continue
		}
		winner, loser := pairs[i].a, pairs[i].b
		if (differences[i] > 0) != higherIsBetter {
			winner, loser = loser, winner
		}
		ranked[loser].Rank++
		ranked[loser].Separated = append(ranked[loser].Separated, names[winner])
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		switch {
		case (a.Mean > b.Mean) == higherIsBetter && a.Mean != b.Mean:
			return -1
		case a.Mean != b.Mean:
			return 1
		}
		return 0
	})
	return ranked, nil
}
