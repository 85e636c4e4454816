package attack

import (
	"cmp"
	"fmt"

	"mldpbench/internal/check"
)

// Options are the sizes of the attacks. The zero value of a field means its default.
type Options struct {
	Level      float64 `yaml:"level,omitempty"`                         // of all intervals: 0.95
	Candidates int     `yaml:"candidates,omitempty" limits:"0,1000000"` // k of in-context decoding: 50
	Order      int     `yaml:"order,omitempty" limits:"0,10"`           // of the language model: 2
	// of the language model, candidates for the choice: 0, 0.25, …, 1.25
	Weights []float64 `yaml:"weights,omitempty"`
	// largest number decoded in context: 20,000
	Tokens int `yaml:"tokens,omitempty" limits:"0,100000000"`
	// largest number averaged over: 300
	Words      int   `yaml:"words,omitempty" limits:"0,1000000"`
	Releases   []int `yaml:"releases,omitempty" limits:"1,50"`       // r of averaging: 1, 2, 5, 10, 50
	Neighbours []int `yaml:"neighbours,omitempty" limits:"1,100"`    // k of inversion: 1, 5, 10, 100
	Documents  int   `yaml:"documents,omitempty" limits:"0,1000000"` // largest number linked: 1,000
	// of every word, to learn a channel: 400; fewer do not show what a mechanism of noise gives away
	LearnDraws int `yaml:"learn_draws,omitempty" limits:"0,1000000"`
	// of every word, to measure what was learned: 25
	MeasureDraws int `yaml:"measure_draws,omitempty" limits:"0,1000000"`
	Resamples    int `yaml:"resamples,omitempty" limits:"0,1000000"` // of a bootstrap: 1,000
	// of the training and validation split, that an adaptive attacker makes himself: 5
	OwnReleases int `yaml:"own_releases,omitempty" limits:"0,1000"`
	// of the test split, over which a private label is attacked: 5
	TestReleases int `yaml:"test_releases,omitempty" limits:"0,1000"`
	// largest number of words masked, one at a time: 1,000
	Masked int `yaml:"masked,omitempty" limits:"0,1000000"`
	Rounds int `yaml:"rounds,omitempty" limits:"0,100"` // of the masked model with the channel: 3
	// parameters of the classifiers of attribute inference
	Model map[string]any `yaml:"model,omitempty"`
	Audit AuditOptions   `yaml:"audit,omitempty"` // of membership of a user
}

// Complete returns the options with their defaults, checked.
func (o Options) Complete() (Options, error) {
	o = o.withDefaults()
	o.Audit = o.Audit.withDefaults()
	return o, o.check()
}

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, 0.95)
	o.Candidates, o.Order, o.Tokens = cmp.Or(o.Candidates, 50), cmp.Or(o.Order, 2), cmp.Or(o.Tokens, 20_000)
	o.Words, o.Documents = cmp.Or(o.Words, 300), cmp.Or(o.Documents, 1000)
	o.LearnDraws, o.MeasureDraws = cmp.Or(o.LearnDraws, 400), cmp.Or(o.MeasureDraws, 25)
	o.Resamples, o.OwnReleases = cmp.Or(o.Resamples, 1000), cmp.Or(o.OwnReleases, 5)
	o.TestReleases, o.Masked, o.Rounds = cmp.Or(o.TestReleases, 5), cmp.Or(o.Masked, 1000), cmp.Or(o.Rounds, 3)
	if len(o.Weights) == 0 {
		o.Weights = []float64{0, 0.25, 0.5, 0.75, 1, 1.25}
	}
	if len(o.Releases) == 0 {
		o.Releases = []int{1, 2, 5, 10, 50}
	}
	if len(o.Neighbours) == 0 {
		o.Neighbours = []int{1, 5, 10, 100}
	}
	return o
}

func (o Options) check() error {
	if err := cmp.Or(check.Inside("level", o.Level, 0, 1), check.AtLeast("candidates", o.Candidates, 1),
		check.AtLeast("order", o.Order, 2), check.AtLeast("tokens", o.Tokens, 1), check.AtLeast("words", o.Words, 1),
		check.AtLeast("documents", o.Documents, 2), check.AtLeast("learn draws", o.LearnDraws, 1),
		check.AtLeast("measure draws", o.MeasureDraws, 1), check.AtLeast("resamples", o.Resamples, 1),
		check.AtLeast("own releases", o.OwnReleases, 1), check.AtLeast("test releases", o.TestReleases, 1),
		check.AtLeast("masked", o.Masked, 1), check.AtLeast("rounds", o.Rounds, 1),
		check.Positive("audit.learning_rate", o.Audit.LearningRate), checkModel(o.Model)); err != nil {
		return err
	}
	for _, w := range o.Weights {
		if err := check.NonNegative("weight", w); err != nil {
			return err
		}
	}
	for _, list := range [][]int{o.Releases, o.Neighbours} {
		for i, n := range list {
			if n < 1 || i > 0 && n <= list[i-1] {
				return fmt.Errorf("releases and neighbours = %d: must be >= 1 and increasing", list)
			}
		}
	}
	return nil
}
