package attack

import (
	"context"
	"fmt"
	"math"

	"mldpbench/metrics"
)

func init() {
	Register(Definition{
		Name: "map", Title: "MAP over the vocabulary",
		Doc:    "names the most probable word given one output, of all words: E_M, and the capacity, which needs no prior",
		Source: "Xu et al. 2021b §3.1; Braun et al. 2009",
		Needs:  []Need{NeedsChannel},
		Columns: []Column{
			{Name: "em-uniform", Title: "E_M, all words, uniform prior", Unit: "share", HigherIsPrivate: true,
				Doc: "share of words that the attacker names wrongly, all words equally likely"},
			{Name: "em-corpus", Title: "E_M, all words, corpus prior", Unit: "share", HigherIsPrivate: true,
				Doc: "the same with words as likely as in the shadow text, one added to every count"},
			{Name: "capacity", Title: "capacity", Unit: "bits",
				Doc: "log2 of how much one output multiplies the chance of guessing its word, at most, whatever the prior"},
		},
		Run: runMAP,
	})
}

func runMAP(ctx context.Context, s *Situation) ([]Outcome, error) {
	n := s.Words
	corpus, err := s.prior()
	if err != nil {
		return nil, err
	}
	priors := [][]float64{metrics.UniformPrior(n), corpus}
	// Errors without the output: the most frequent word every time.
	blind := make([]float64, len(priors))
	for i, prior := range priors {
		top := 0.0
		for _, p := range prior {
			top = max(top, p)
		}
		blind[i] = 1 - top
	}
	bits := math.Log2(float64(n))
	if s.Channel != nil {
		full, err := metrics.FullVocabulary(ctx, *s.Channel, priors, s.Workers)
		if err != nil {
			return nil, err
		}
		exact := func(v float64) metrics.Interval { return metrics.Interval{Estimate: v, Low: v, High: v} }
		return []Outcome{
			{Column: "em-uniform", Value: exact(full.Inference[0].MAP), Floor: blind[0], Ceiling: 0, Count: n},
			{Column: "em-corpus", Value: exact(full.Inference[1].MAP), Floor: blind[1], Ceiling: 0, Count: n},
			{Column: "capacity", Value: exact(full.Capacity), Floor: 0, Ceiling: bits, Count: n},
		}, nil
	}
	learn, err := s.draws(ctx, s.Options.LearnDraws, s.Seed.Derive("learn"))
	if err != nil {
		return nil, err
	}
	fresh, err := s.draws(ctx, s.Options.MeasureDraws, s.Seed.Derive("measure"))
	if err != nil {
		return nil, err
	}
	sampled, err := metrics.SampledVocabulary(ctx, learn, fresh, n, priors, s.Options.Level, s.Workers)
	if err != nil {
		return nil, err
	}
	note := func(e metrics.SampledInference) string {
		return fmt.Sprintf("an attacker who learned from %d draws a word, measured on %d others; the ideal one errs at least %.4f in expectation",
			e.Learned, e.Measured, e.Lower)
	}
	out := []Outcome{
		{Column: "em-uniform", Value: sampled.Inference[0].MAP, Floor: blind[0], Ceiling: 0, Note: note(sampled.Inference[0])},
		{Column: "em-corpus", Value: sampled.Inference[1].MAP, Floor: blind[1], Ceiling: 0, Note: note(sampled.Inference[1])},
		{Column: "capacity", Value: sampled.Capacity, Floor: 0, Ceiling: bits,
			Note: "sampled: a lower bound, between bounds that hold with the stated confidence"},
	}
	for i := range out {
		out[i].Count, out[i].Draws = n, s.Options.LearnDraws
	}
	return out, nil
}
