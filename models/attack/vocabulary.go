package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
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

// mapPriors returns the uniform prior and that of the shadow text; blind are
// the errors of an attacker that sees no output and always guesses the most
// frequent word.
func (s *Situation) mapPriors() (priors [][]float64, blind []float64, err error) {
	corpus, err := s.prior()
	if err != nil {
		return nil, nil, err
	}
	priors = [][]float64{metrics.UniformPrior(s.Words), corpus}
	for _, prior := range priors {
		blind = append(blind, 1-slices.Max(prior))
	}
	return priors, blind, nil
}

func prepareMAP(_ context.Context, s *Situation, channel metrics.Channel, _ int) (channelAttack, error) {
	priors, blind, err := s.mapPriors()
	if err != nil {
		return channelAttack{}, err
	}
	pass, err := metrics.NewVocabularyPass(channel, priors)
	if err != nil {
		return channelAttack{}, err
	}
	return channelAttack{pass.Take, func(context.Context) ([]Outcome, error) {
		full, n := pass.Result(), s.Words
		return []Outcome{
			{Column: "em-uniform", Value: stats.Exactly(full.MAP[0]), Floor: blind[0], Ceiling: 0, Count: n},
			{Column: "em-corpus", Value: stats.Exactly(full.MAP[1]), Floor: blind[1], Ceiling: 0, Count: n},
			{Column: "capacity", Value: stats.Exactly(full.Capacity), Floor: 0, Ceiling: math.Log2(float64(n)), Count: n},
		}, nil
	}}, nil
}

func sampledMAP(ctx context.Context, s *Situation) ([]Outcome, error) {
	priors, blind, err := s.mapPriors()
	if err != nil {
		return nil, err
	}
	n, bits := s.Words, math.Log2(float64(s.Words))
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
	grown, err := metrics.GrowInference(ctx, func(n, _ int, learning bool) (metrics.Draws, error) {
		if learning {
			return learn.First(n), nil
		}
		return fresh, nil
	}, n, priors, max(1, all/4), all, math.SmallestNonzeroFloat64, s.Options.Level, s.Workers)
	if err != nil {
		return nil, err
	}
	note := func(e metrics.SampledInference) string {
		return fmt.Sprintf("an attacker who learned from %d draws a word, measured on %d others; more draws would lower "+
			"it by about %.4f; the ideal one errs at least %.4f in expectation", e.Learned, e.Measured, e.Remaining,
			e.Lower)
	}
	out := []Outcome{
		{Column: "em-uniform", Value: grown.Inference[0].MAP, Floor: blind[0], Ceiling: 0,
			Note: note(grown.Inference[0])},
		{Column: "em-corpus", Value: grown.Inference[1].MAP, Floor: blind[1], Ceiling: 0,
			Note: note(grown.Inference[1])},
		{Column: "capacity", Value: grown.Capacity, Floor: 0, Ceiling: bits,
			Note: "sampled: a lower bound, between bounds that hold with the stated confidence"},
	}
	for i := range out {
		out[i].Count, out[i].Draws = n, s.Options.LearnDraws
	}
	return out, nil
}
