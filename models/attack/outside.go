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
	// for each test text, in [0, Situation.Privates).
	Find func(ctx context.Context, train []string, labels []int, test []string, seed stream.Seed) ([]int, error)
	// Column names a quantity: "accuracy", "f1", "advantage",
	// "accuracy-advantage".
	Column func(what string) string
}

// RunOutside is Run for an adaptive attacker of private labels that is not
// built in. As a built-in one it trains on plain text and on one own release,
// the better of which on the validation split attacks. What it finds in plain
// text, trained on plain text, is the ceiling.
func RunOutside(ctx context.Context, a Outside, s Situation) ([]Outcome, error) {
	if err := s.ready(); err != nil {
		return nil, fmt.Errorf("attacker %s: %w", a.Name, err)
	}
	d := Definition{Needs: []Need{NeedsPrivate, NeedsWords}}
	if missing := d.Missing(&s); len(missing) > 0 {
		return nil, fmt.Errorf("attacker %s: no %s", a.Name, missing[0])
	}
	s.own = s.Seed.Derive("attack", "command", a.Name)
	texts := func(documents [][]int32) []string {
		return list.Map(documents, func(d []int32) string { return strings.Join(list.Map(d, s.Spelling), " ") })
	}
	r := reader{name: "command " + a.Name, key: " " + a.Key, releases: 1,
		fit: func(_ context.Context, _ *Situation, train, _ labelled, seed stream.Seed) (finder, string, error) {
			return func(ctx context.Context, documents [][]int32) (found answers, err error) {
				if len(documents) > 0 {
					found.labels, err = a.Find(ctx, texts(train.documents), train.labels, texts(documents), seed)
				}
				return found, err
			}, "", nil
		}}
	outcomes, err := s.findPrivate(ctx, a.Name, r, true, false)
	if err != nil {
		return nil, fmt.Errorf("attacker %s: %w", a.Name, err)
	}
	for i, o := range outcomes {
		outcomes[i].Column = a.Column(strings.TrimPrefix(o.Column, a.Name+"-"))
	}
	return outcomes, nil
}
