package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Ranked is one line of a rank table.
type Ranked struct {
	Name string
	Mean float64
	// Place is the position by mean, from 1. Low and High bound the true place:
	// Low is 1 + the number of competitors that are better beyond chance, High
	// the number of those that are not worse beyond chance, itself included. A
	// competitor that no test separates from any other may have any place.
	Place, Low, High int
	// Better and Worse name the competitors that are better or worse beyond
	// chance, Open those that are not separated from this one.
	Better, Worse, Open []string
}

// PairTest compares two competitors by their positions in a list.
type PairTest func(a, b int) (Test, error)

// Rank orders competitors by mean and bounds their places by tests of all
// pairs, Holm-corrected at level (e.g. 0.05). Holm keeps the probability of any
// wrong separation below the level, so all bounds hold together with
// probability 1 − level (simultaneous confidence intervals of ranks: Al
// Mohamad, Goeman & van Zwet 2022). A pair that cannot be tested is not
// separated.
func Rank(names []string, means []float64, test PairTest, higherIsBetter bool, level float64) ([]Ranked, error) {
	if len(names) != len(means) {
		return nil, fmt.Errorf("rank: %d names for %d means", len(names), len(means))
	}
	type pair struct{ a, b int }
	var pairs []pair
	var p, differences []float64
	for a := range names {
		for b := a + 1; b < len(names); b++ {
			pairs = append(pairs, pair{a, b})
			t, err := test(a, b)
			if err != nil {
				t = Test{P: math.NaN()}
			}
			p, differences = append(p, t.P), append(differences, t.Difference)
		}
	}
	ranked := make([]Ranked, len(names))
	for i, n := range names {
		ranked[i] = Ranked{Name: n, Mean: means[i]}
	}
	for i, adjusted := range Holm(p) {
		winner, loser := &ranked[pairs[i].a], &ranked[pairs[i].b]
		if !(adjusted < level) {
			winner.Open, loser.Open = append(winner.Open, loser.Name), append(loser.Open, winner.Name)
			continue
		}
		if (differences[i] > 0) != higherIsBetter {
			winner, loser = loser, winner
		}
		winner.Worse, loser.Better = append(winner.Worse, loser.Name), append(loser.Better, winner.Name)
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		switch {
		case (a.Mean > b.Mean) == higherIsBetter && a.Mean != b.Mean:
			return -1
		case a.Mean != b.Mean:
			return 1
		}
		return 0
	})
	for i := range ranked {
		r := &ranked[i]
		r.Place, r.Low, r.High = i+1, 1+len(r.Better), len(ranked)-len(r.Worse)
	}
	return ranked, nil
}

// OpenTo lists the competitors that are not separated from this one.
func (r Ranked) OpenTo() string {
	if n := len(r.Open); n > 1 && len(r.Better)+len(r.Worse) == 0 {
		return "all others"
	}
	return strings.Join(r.Open, "; ")
}

// Places formats the bounds of a rank.
func (r Ranked) Places() string {
	if r.Low == r.High {
		return fmt.Sprint(r.Low)
	}
	return fmt.Sprintf("%d–%d", r.Low, r.High)
}
