package attack

import (
	"cmp"
	"fmt"
	"slices"
)

// Options are the sizes of the attacks. The zero value of a field means its
// default; a study has keys for those that are most of the time.
type Options struct {
	Candidates int   `yaml:"candidates,omitempty" limits:"0,1000000"` // k of in-context decoding: 50
	Releases   []int `yaml:"releases,omitempty" limits:"1,50"`        // r of averaging: 1, 2, 5, 10, 50
	// of every word, to learn a channel: 400; fewer do not show what a mechanism of noise gives away
	LearnDraws int `yaml:"learn_draws,omitempty" limits:"0,1000000"`

	Level        float64        `yaml:"-"` // of all intervals: 0.95
	Tokens       int            `yaml:"-"` // largest number of words attacked in their places: 2,000
	Words        int            `yaml:"-"` // largest number averaged over: 500
	Documents    int            `yaml:"-"` // largest number linked: 500
	MeasureDraws int            `yaml:"-"` // of every word, to measure what was learned: 10
	Resamples    int            `yaml:"-"` // of a bootstrap: 500
	OwnReleases  int            `yaml:"-"` // of training and validation, that an adaptive attacker makes himself: 5
	TestReleases int            `yaml:"-"` // of the test split, over which a private label is attacked: 5
	Masked       int            `yaml:"-"` // largest number of words masked, one at a time: 1,000
	Network      map[string]any `yaml:"-"` // parameters of the LSTM: a small one
}

// Complete returns the options with their defaults, checked.
func (o Options) Complete() (Options, error) {
	o.Level = cmp.Or(o.Level, 0.95)
	o.Candidates, o.Tokens, o.Words = cmp.Or(o.Candidates, 50), cmp.Or(o.Tokens, 2000), cmp.Or(o.Words, 500)
	o.Documents, o.Resamples, o.Masked = cmp.Or(o.Documents, 500), cmp.Or(o.Resamples, 500), cmp.Or(o.Masked, 1000)
	o.LearnDraws, o.MeasureDraws = cmp.Or(o.LearnDraws, 400), cmp.Or(o.MeasureDraws, 10)
	o.OwnReleases, o.TestReleases = cmp.Or(o.OwnReleases, 5), cmp.Or(o.TestReleases, 5)
	if o.Network == nil {
		o.Network = map[string]any{"hidden": 32, "epochs": 10, "learning_rate": 0.01}
	}
	if len(o.Releases) == 0 {
		o.Releases = averagingReleases
	}
	for i, n := range o.Releases {
		if !slices.Contains(averagingReleases, n) || i > 0 && n <= o.Releases[i-1] {
			return o, fmt.Errorf("releases = %d: must be among %d, and increasing", o.Releases, averagingReleases)
		}
	}
	return o, nil
}
