package attack

import "context"

// inversion takes every output for the word itself: the cheapest attacker, which
// needs no probabilities.
func init() {
	Register(Definition{
		Name:    "inversion",
		Columns: []Column{{Name: "inversion-1", Title: "output unchanged", Panel: OneWord}},
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			t, err := s.target(ctx, Test, s.Options.Tokens)
			if err != nil {
				return nil, err
			}
			o := s.foundWords("inversion-1", t, t.each(t.noisy))
			o.Floor = 1 / float64(s.Words)
			return []Outcome{o}, nil
		},
	})
}
