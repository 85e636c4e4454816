package labels

import (
	"context"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Command is an attacker of private labels that is another program.
type Command struct {
	Name string
	Key  string // of everything that its answers depend on besides its input
	// Find trains on texts with private labels and returns the label that it finds
	// for each test text, in [0, Corpus.PrivateLabels).
	Find func(ctx context.Context, train []string, labels []int, test []string, seed stream.Seed) ([]int, error)
}

// RunCommand is attack.Run for a command; its one column is "accuracy". As a built-in
// attacker it trains on plain text and on own releases, the better of which on the
// validation split attacks; it gets one own release.
func RunCommand(ctx context.Context, c Command, t *attack.Target) ([]attack.Outcome, error) {
	a := Attacker{
		Name: c.Name,
		From: Adaptive,
		Learner: Learner{
			Name:     "command " + c.Name + " " + c.Key,
			Releases: 1,
			Learn:    c.learn,
		},
	}
	return attack.Run(ctx, []attack.Definition{a.definition(attack.Column{Name: "accuracy"})}, t)
}

// learn leaves all to the command, which learns anew for each list of documents.
func (c Command) learn(_ context.Context, t *attack.Target, train, _ []attack.Document, seed stream.Seed) (Learned,
	error) {
	texts := func(documents []attack.Document) []string {
		return list.Map(documents, func(d attack.Document) string {
			return strings.Join(list.Map(d.Words, t.Words.Spelling), " ")
		})
	}
	score := func(ctx context.Context, documents []attack.Document) ([][]float64, error) {
		if len(documents) == 0 {
			return nil, nil
		}
		labels, err := c.Find(ctx, texts(train), privateLabels(train), texts(documents), seed)
		return list.Map(labels, func(l int) []float64 {
			scores := make([]float64, t.Corpus.PrivateLabels)
			scores[l] = 1
			return scores
		}), err
	}
	return Learned{Score: score}, nil
}
