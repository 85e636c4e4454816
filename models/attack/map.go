package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/mechanisms/channel"
)

// map names the most probable word given one output, of all words: E_M (Xu et al.
// 2021b §3.1) by what a shadow text says of their frequencies, and the capacity (Braun et al.
// 2009), which needs no prior.
func init() {
	Register(Definition{
		Name:    "map",
		Version: 3,
		Columns: []Column{ // shares of words that the attacker gets wrong
			// The prior is that of the shadow text.
			{Name: "map-em-frequency", FormerName: "em-corpus", Title: "E_M by frequency", HigherIsPrivate: true},
			// log2 of how much one output multiplies the chance of guessing its word, at most
			{Name: "capacity", Title: "capacity", Unit: "bits"},
		},
		Start: func(ctx context.Context, t *Target) (Attack, error) {
			if t.Channel == nil {
				return Attack{Finish: func() ([]Outcome, error) { return t.sampledMAP(ctx) }}, nil
			}
			pass := channel.NewPass(*t.Channel, [][]float64{t.Prior()})
			return Attack{
				Take:   pass.Take,
				Finish: func() ([]Outcome, error) { return t.inferred(pass.Result()), nil },
			}, nil
		},
	})
}

// sampledMAP learns the channel from draws and is measured on others.
func (t *Target) sampledMAP(ctx context.Context) ([]Outcome, error) {
	learned, err := t.learn(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := t.drawAll(ctx, t.Options.MeasureDraws, t.Seed.Derive("measure"))
	if err != nil {
		return nil, err
	}
	// How much less an attacker errs who learned from all draws than one who
	// learned from half of them says what more draws would do.
	all := t.Options.LearnDraws
	growth := channel.Growth{
		First:     max(1, all/4),
		Most:      all,
		Tolerance: math.SmallestNonzeroFloat64,
		Level:     t.Options.Level,
	}
	sample := channel.Sample{
		Learn:   func(n, _ int) (channel.Draws, error) { return learned.First(n), nil },
		Fresh:   fresh,
		Outputs: t.Words.Count,
	}
	grown, err := channel.Sampled(sample, [][]float64{t.Prior()}, growth)
	if err != nil {
		return nil, err
	}
	return t.inferred(grown), nil
}

// inferred are the outcomes. The floor is the error of an attacker that sees no
// output and always guesses the most frequent word.
func (t *Target) inferred(i channel.Inference) []Outcome {
	e := i.Errors[1] // under the prior of the shadow text
	words := t.Words.Count
	em := Outcome{
		Column: "map-em-frequency",
		Value:  e.MAP,
		Floor:  1 - slices.Max(t.Prior()),
		Count:  words,
	}
	capacity := Outcome{
		Column:  "capacity",
		Value:   i.Capacity,
		Ceiling: math.Log2(float64(words)),
		Count:   words,
	}
	if i.Learned > 0 {
		em.Draws = t.Options.LearnDraws
		em.Note = fmt.Sprintf("an attacker who %s, measured on %d others; more draws would lower it by about %.4f; "+
			"the ideal one errs at least %.4f in expectation", e.By.Says(i.Learned), i.Fresh.PerInput, e.Remaining,
			e.Lower)
		capacity.Draws = t.Options.LearnDraws
		capacity.Note = "sampled: a lower bound, between bounds that hold with the stated confidence"
	}
	return []Outcome{em, capacity}
}
