package attack

import (
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/params"
)

// MostReleases are the numbers of releases that averaging may be asked for.
var MostReleases = []int{1, 2, 5, 10, 50}

// Parameters are the sizes of the attacks: the options of a study.
var Parameters = []params.Parameter{
	params.AtLeast("candidates", 1, 50, "words considered at a position, of decoding in context"),
	{
		Name:    "releases",
		Default: []float64{1, 2, 5, 10, 50},
		Legal:   "increasing, of 1, 2, 5, 10 and 50",
		Doc:     "numbers of releases averaged over",
		Valid:   func(n float64) bool { return slices.Contains(MostReleases, int(n)) },
	},
	params.AtLeast("learn_draws", 1, 400,
		"draws of every word, to learn a channel: fewer do not show what noise gives away"),
	{
		Name:    "level",
		Default: 0.95,
		Legal:   "in (0, 1)",
		Doc:     "confidence of intervals, a share",
		Valid:   params.Strictly(0, 1),
	},
	params.AtLeast("tokens", 1, 2000, "words attacked in their places"),
	params.AtLeast("words", 1, 500, "different words averaged over, at most"),
	params.AtLeast("documents", 1, 500, "documents linked, at most"),
	params.AtLeast("measure_draws", 1, 10, "draws of every word, to measure on what was learned"),
	params.AtLeast("resamples", 1, 500, "samples of a bootstrap"),
	params.AtLeast("own_releases", 1, 5, "releases that an adaptive attacker makes itself"),
	params.AtLeast("test_releases", 1, 5, "releases attacked for a private label"),
	params.AtLeast("masked", 1, 1000, "words asked of a masked model"),
	params.AtLeast("hidden", 1, 32, "units of the LSTM"),
	params.AtLeast("epochs", 1, 10, "passes of the LSTM over its training texts, at most"),
}

// Options are the parameters with their defaults. Their names and order are part of the
// keys of results.
type Options struct {
	Candidates int
	Releases   []int
	LearnDraws int

	Level        float64
	Tokens       int
	Words        int
	Documents    int
	MeasureDraws int
	Resamples    int
	OwnReleases  int
	TestReleases int
	Masked       int

	Network map[string]any // parameters of the LSTM
}

// Resolve checks the parameters given and fills in the others.
func Resolve(given map[string]any) (Options, error) {
	v, err := params.Resolve("attackers", "", Parameters, given)
	if err != nil {
		return Options{}, err
	}
	r := v["releases"].([]float64)
	distinct := slices.Compact(slices.Sorted(slices.Values(r)))
	if len(r) == 0 || len(distinct) < len(r) || !slices.IsSorted(r) {
		return Options{}, check.Wrong("attackers: releases = %v: must be increasing", r)
	}
	n := func(name string) int { return v[name].(int) }
	return Options{
		Candidates:   n("candidates"),
		Releases:     list.Map(r, func(x float64) int { return int(x) }),
		LearnDraws:   n("learn_draws"),
		Level:        v["level"].(float64),
		Tokens:       n("tokens"),
		Words:        n("words"),
		Documents:    n("documents"),
		MeasureDraws: n("measure_draws"),
		Resamples:    n("resamples"),
		OwnReleases:  n("own_releases"),
		TestReleases: n("test_releases"),
		Masked:       n("masked"),
		Network:      map[string]any{"hidden": n("hidden"), "epochs": n("epochs"), "learning_rate": 0.01},
	}, nil
}
