package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/metrics"
)

// map names the most probable word given one output, of all words: E_M (Xu et al.
// 2021b §3.1), and the capacity (Braun et al. 2009), which needs no prior.
func init() {
	Register(Definition{
		Name: "map", Version: 2,
		Needs: []Need{NeedsChannel},
		Columns: []Column{ // shares of words that the attacker gets wrong
			{Name: "em-uniform", Title: "E_M, all words, uniform prior", HigherIsPrivate: true},
			{Name: "em-corpus", Title: "E_M, all words, corpus prior", HigherIsPrivate: true}, // of the shadow text
			// log2 of how much one output multiplies the chance of guessing its word, at most
			{Name: "capacity", Title: "capacity", Unit: "bits"},
		},
		Run: sampledMAP, prepare: prepareMAP,
	})
}

// mapPrior is that of the shadow text; blind are the errors of an attacker that
// sees no output and always guesses the most frequent word, under the uniform
// prior and under this one.
func (s *Situation) mapPrior() (priors [][]float64, blind [2]float64, err error) {
	corpus, err := s.prior()
	return [][]float64{corpus}, [2]float64{1 - 1/float64(s.Words), 1 - slices.Max(corpus)}, err
}

func prepareMAP(_ context.Context, s *Situation, channel metrics.Channel, _ int) (channelAttack, error) {
	priors, blind, err := s.mapPrior()
	if err != nil {
		return channelAttack{}, err
	}
	pass, err := metrics.NewInferencePass(channel, priors)
	return channelAttack{pass.Take, func(context.Context) ([]Outcome, error) {
		return s.mapOutcomes(pass.Result(), blind), nil
	}}, err
}

func sampledMAP(ctx context.Context, s *Situation) ([]Outcome, error) {
	priors, blind, err := s.mapPrior()
	if err != nil {
		return nil, err
	}
	learn, err := s.learn(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := s.draws(ctx, s.Options.MeasureDraws, s.own.Derive("measure"))
	if err != nil {
		return nil, err
	}
	// How much less an attacker errs who learned from all draws than one who
	// learned from half of them says what more draws would do.
	all := s.Options.LearnDraws
	grown, err := metrics.InferSampled(ctx, func(n, _ int, learning bool) (metrics.Draws, error) {
		if learning {
			return learn.First(n), nil
		}
		return fresh, nil
	}, s.Words, priors, metrics.Growth{First: max(1, all/4), Most: all, Tolerance: math.SmallestNonzeroFloat64,
		Level: s.Options.Level}, s.Workers)
	return s.mapOutcomes(grown, blind), err
}

func (s *Situation) mapOutcomes(i metrics.Inference, blind [2]float64) (out []Outcome) {
	for k, e := range i.Errors {
		o := Outcome{Column: []string{"em-uniform", "em-corpus"}[k], Value: e.MAP, Floor: blind[k]}
		if i.Learned > 0 {
			o.Note = fmt.Sprintf("an attacker who learned from %d draws a word, measured on %d others; more draws would "+
				"lower it by about %.4f; the ideal one errs at least %.4f in expectation", i.Learned, i.Fresh.PerInput,
				e.Remaining, e.Lower)
		}
		out = append(out, o)
	}
	capacity := Outcome{Column: "capacity", Value: i.Capacity, Ceiling: math.Log2(float64(s.Words))}
	if i.Learned > 0 {
		capacity.Note = "sampled: a lower bound, between bounds that hold with the stated confidence"
	}
	out = append(out, capacity)
	for k := range out {
		out[k].Count = s.Words
		if i.Learned > 0 {
			out[k].Draws = s.Options.LearnDraws
		}
	}
	return out
}
