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
		Columns: []Column{ // shares of words that the attacker gets wrong
			{Name: "em-uniform", Title: "E_M, all words, uniform prior", HigherIsPrivate: true},
			{Name: "em-corpus", Title: "E_M, all words, corpus prior", HigherIsPrivate: true}, // of the shadow text
			// log2 of how much one output multiplies the chance of guessing its word, at most
			{Name: "capacity", Title: "capacity", Unit: "bits"},
		},
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			if s.Channel == nil {
				return s.sampledMAP(ctx)
			}
			pass := metrics.NewInferencePass(*s.Channel, [][]float64{s.prior()})
			if err := s.rows(pass.Take); err != nil {
				return nil, err
			}
			return s.inferred(pass.Result()), nil
		},
	})
}

func (s *Situation) sampledMAP(ctx context.Context) ([]Outcome, error) {
	learn, err := s.learn(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := s.drawAll(ctx, s.Options.MeasureDraws, s.own.Derive("measure"))
	if err != nil {
		return nil, err
	}
	// How much less an attacker errs who learned from all draws than one who
	// learned from half of them says what more draws would do.
	all := s.Options.LearnDraws
	grown, err := metrics.InferSampled(func(n, _ int, learning bool) (metrics.Draws, error) {
		if learning {
			return learn.First(n), nil
		}
		return fresh, nil
	}, s.Words, [][]float64{s.prior()}, metrics.Growth{First: max(1, all/4), Most: all,
		Tolerance: math.SmallestNonzeroFloat64, Level: s.Options.Level})
	if err != nil {
		return nil, err
	}
	return s.inferred(grown), nil
}

// inferred are the outcomes. The floors are the errors of an attacker that sees no
// output and always guesses the most frequent word.
func (s *Situation) inferred(i metrics.Inference) []Outcome {
	out := []Outcome{
		{Column: "em-uniform", Value: i.Errors[0].MAP, Floor: 1 - 1/float64(s.Words)},
		{Column: "em-corpus", Value: i.Errors[1].MAP, Floor: 1 - slices.Max(s.prior())},
		{Column: "capacity", Value: i.Capacity, Ceiling: math.Log2(float64(s.Words))},
	}
	for k := range out {
		if out[k].Count = s.Words; i.Learned > 0 {
			out[k].Draws = s.Options.LearnDraws
			out[k].Note = "sampled: a lower bound, between bounds that hold with the stated confidence"
		}
		if k < len(i.Errors) && i.Learned > 0 {
			out[k].Note = fmt.Sprintf("an attacker who learned from %d draws a word, measured on %d others; more draws would "+
				"lower it by about %.4f; the ideal one errs at least %.4f in expectation", i.Learned, i.Fresh.PerInput,
				i.Errors[k].Remaining, i.Errors[k].Lower)
		}
	}
	return out
}
