package attack

import (
	"context"
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
// text and on own releases, the better of which on the validation split attacks; he gets
// one own release.
func RunOutside(ctx context.Context, a Outside, s Situation) ([]Outcome, error) {
	texts := func(documents []Document) []string {
		return list.Map(documents, func(d Document) string { return strings.Join(list.Map(d.Words, s.Spelling), " ") })
	}
	l := learner{name: "command " + a.Name + " " + a.Key, releases: 1}
	l.fit = func(_ context.Context, s *Situation, train, _ []Document, seed stream.Seed) (trained, error) {
		return trained{score: func(ctx context.Context, documents []Document) ([][]float64, error) {
			if len(documents) == 0 {
				return nil, nil
			}
			labels, err := a.Find(ctx, texts(train), privates(train), texts(documents), seed)
			return list.Map(labels, func(l int) []float64 {
				scores := make([]float64, s.Privates)
				scores[l] = 1
				return scores
			}), err
		}}, nil
	}
	return s.attackedBy(ctx, []Definition{{Name: a.Name, Needs: []Need{NeedsPrivate},
		Columns: []Column{{Name: "accuracy"}}, Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.learnPrivate(ctx, "accuracy", l, "adaptive")
		}}})
}
