package attack

import (
	"cmp"
	"fmt"

	"mldpbench/internal/check"
)

// Options are the sizes of the attacks. The zero value of a field means its default; a study has keys for those
// that are most of the time.
type Options struct {
	Candidates int   `yaml:"candidates,omitempty" limits:"0,1000000"` // k of in-context decoding: 50
	Releases   []int `yaml:"releases,omitempty" limits:"1,50"`        // r of averaging: 1, 2, 5, 10, 50
	// of every word, to learn a channel: 400; fewer do not show what a mechanism of noise gives away
	LearnDraws int `yaml:"learn_draws,omitempty" limits:"0,1000000"`

	Level        float64        `yaml:"-"` // of all intervals: 0.95
	Order        int            `yaml:"-"` // of the language model: 2
	Weights      []float64      `yaml:"-"` // of the language model, candidates for the choice: 0, 0.5, 1
	Tokens       int            `yaml:"-"` // largest number decoded in context: 2,000
	Words        int            `yaml:"-"` // largest number averaged over: 500
	Neighbours   []int          `yaml:"-"` // k of inversion: 1, 5, 10, 100
	Documents    int            `yaml:"-"` // largest number linked: 500
	MeasureDraws int            `yaml:"-"` // of every word, to measure what was learned: 10
	Resamples    int            `yaml:"-"` // of a bootstrap: 500
	OwnReleases  int            `yaml:"-"` // of the training and validation split, that an adaptive attacker makes himself: 5
	TestReleases int            `yaml:"-"` // of the test split, over which a private label is attacked: 5
	Masked       int            `yaml:"-"` // largest number of words masked, one at a time: 1,000
	Rounds       int            `yaml:"-"` // of the masked model with the channel: 3
	Model        map[string]any `yaml:"-"` // parameters of the classifiers of attribute inference: those of a small LSTM
	Audit        AuditOptions   `yaml:"-"` // of membership of a user
}

// Complete returns the options with their defaults, checked.
func (o Options) Complete() (Options, error) {
	o = o.withDefaults()
	o.Audit = o.Audit.withDefaults()
	return o, o.check()
}

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, 0.95)
	o.Candidates, o.Order, o.Tokens = cmp.Or(o.Candidates, 50), cmp.Or(o.Order, 2), cmp.Or(o.Tokens, 2000)
	o.Words, o.Documents = cmp.Or(o.Words, 500), cmp.Or(o.Documents, 500)
	o.LearnDraws, o.MeasureDraws = cmp.Or(o.LearnDraws, 400), cmp.Or(o.MeasureDraws, 10)
	o.Resamples, o.OwnReleases = cmp.Or(o.Resamples, 500), cmp.Or(o.OwnReleases, 5)
	o.TestReleases, o.Masked, o.Rounds = cmp.Or(o.TestReleases, 5), cmp.Or(o.Masked, 1000), cmp.Or(o.Rounds, 3)
	if len(o.Weights) == 0 {
		o.Weights = []float64{0, 0.5, 1}
	}
	if len(o.Releases) == 0 {
		o.Releases = []int{1, 2, 5, 10, 50}
	}
	if len(o.Neighbours) == 0 {
		o.Neighbours = []int{1, 5, 10, 100}
	}
	if o.Model == nil {
		o.Model = map[string]any{"hidden": 32, "epochs": 10, "learning_rate": 0.01}
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
