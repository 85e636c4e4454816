package attack

import (
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/params"
)

// Parameters are the sizes of the attacks: the options of a study.
var Parameters = []params.Parameter{
	params.AtLeast("candidates", 1, 50), // of decoding in context, at a position
	{Name: "releases", Default: []float64{1, 2, 5, 10, 50}, Legal: "increasing, of 1, 2, 5, 10 and 50",
		Valid: func(n float64) bool { return slices.Contains(averagingReleases, int(n)) }}, // of averaging
	// Of every word, to learn a channel; fewer do not show what a mechanism of noise gives away.
	params.AtLeast("learn_draws", 1, 400),
	{Name: "level", Default: 0.95, Legal: "in (0, 1)", Valid: params.Strictly(0, 1)}, // of all intervals
	params.AtLeast("tokens", 1, 2000),                                                // attacked in their places
	params.AtLeast("words", 1, 500),                                                  // largest number averaged over
	params.AtLeast("documents", 1, 500),                                              // largest number linked
	params.AtLeast("measure_draws", 1, 10),                                           // of a word, for what was learned
	params.AtLeast("resamples", 1, 500),                                              // of a bootstrap
	params.AtLeast("own_releases", 1, 5),                                             // made by an adaptive attacker
	params.AtLeast("test_releases", 1, 5),                                            // attacked for a private label
	params.AtLeast("masked", 1, 1000),                                                // words, one at a time
	params.AtLeast("hidden", 1, 32),                                                  // of the LSTM
	params.AtLeast("epochs", 1, 10),                                                  // of the LSTM
}

// Options are the parameters with their defaults.
type Options struct {
	Candidates int
	Releases   []int
	LearnDraws int

	Level                                                                                float64
	Tokens, Words, Documents, MeasureDraws, Resamples, OwnReleases, TestReleases, Masked int

	Network map[string]any // parameters of the LSTM
}

// Resolve checks the parameters given and fills in the others.
func Resolve(given map[string]any) (Options, error) {
	v, err := params.Resolve("attackers", "", Parameters, given)
	if err != nil {
		return Options{}, err
	}
	n := func(name string) int { return v[name].(int) }
	r := v["releases"].([]float64)
	if len(r) == 0 || len(slices.Compact(slices.Sorted(slices.Values(r)))) < len(r) || !slices.IsSorted(r) {
		return Options{}, check.Wrong("attackers: releases = %v: must be increasing", r)
	}
	return Options{Candidates: n("candidates"), Releases: list.Map(r, func(x float64) int { return int(x) }),
		LearnDraws: n("learn_draws"), Level: v["level"].(float64), Tokens: n("tokens"), Words: n("words"),
		Documents: n("documents"), MeasureDraws: n("measure_draws"), Resamples: n("resamples"),
		OwnReleases: n("own_releases"), TestReleases: n("test_releases"), Masked: n("masked"),
		Network: map[string]any{"hidden": n("hidden"), "epochs": n("epochs"), "learning_rate": 0.01}}, nil
}
