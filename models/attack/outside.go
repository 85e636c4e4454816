package attack

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/stream"
)

// Outside is an attacker of private labels that is not built in.
type Outside struct {
	Name string
	Key  string // of everything that its answers depend on besides its input
	// Find trains on texts with private labels and returns the label that it finds
	// for each test text, in [0, Known.Privates).
	Find func(ctx context.Context, train []string, labels []int, test []string, seed stream.Seed) ([]int, error)
}

// RunOutside is RunAll for an adaptive attacker of private labels that is not
// built in; columns are named without his name. As a built-in one he trains on plain
// text and on one own release, the better of which on the validation split attacks.
func RunOutside(ctx context.Context, a Outside, s Situation) ([]Outcome, error) {
	err := s.ready()
	if missing := (Definition{Needs: []Need{NeedsPrivate, NeedsWords}}).Missing(&s); len(missing) > 0 {
		err = fmt.Errorf("no %s", missing[0])
	}
	if err != nil {
		return nil, fmt.Errorf("attacker %s: %w", a.Name, err)
	}
	s.own = s.Noise.Derive("attack", "command", a.Name)
	texts := func(documents [][]int32) []string {
		return list.Map(documents, func(d []int32) string { return strings.Join(list.Map(d, s.Spelling), " ") })
	}
	fit := func(_ context.Context, _ *Situation, train, _ labelled[[]int32], seed stream.Seed) (trained[[]int32], error) {
		return trained[[]int32]{score: func(ctx context.Context, documents [][]int32) ([][]float64, error) {
			if len(documents) == 0 {
				return nil, nil
			}
			labels, err := a.Find(ctx, texts(train.documents), train.labels, texts(documents), seed)
			return list.Map(labels, func(l int) []float64 {
				scores := make([]float64, s.Privates)
				scores[l] = 1
				return scores
			}), err
		}}, nil
	}
	r := ofWords("command "+a.Name, 1, fit)
	r.key = " " + a.Key
	outcomes, err := s.learnPrivate(ctx, "", r, true, false)
	if err != nil {
		return nil, fmt.Errorf("attacker %s: %w", a.Name, err)
	}
	for i := range outcomes {
		outcomes[i].Column = strings.TrimPrefix(outcomes[i].Column, "-")
	}
	return outcomes, nil
}
