package words

import (
	"context"

	"mldpbench/models/attack"
)

// inversion takes every output for the word itself: the cheapest attacker, which
// needs no probabilities.
func init() {
	attack.Register(attack.Definition{
		Name:    "inversion",
		Columns: []attack.Column{{Name: "inversion-1", Title: "output unchanged", Panel: attack.OneWord}},
		Start:   attack.AtOnce(invert),
	})
}

// invert is the outcome.
func invert(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
	s, err := seekInPlace(ctx, t, attack.Test, t.Options.Tokens)
	if err != nil {
		return nil, err
	}
	o := s.outcome(t, "inversion-1", s.each(s.noisy))
	o.Floor = 1 / float64(t.Words.Count)
	return []attack.Outcome{o}, nil
}
