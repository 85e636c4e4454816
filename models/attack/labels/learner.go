package labels

import (
	"context"
	"slices"

	"mldpbench/internal/memo"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Learn learns from documents with private labels; what has several forms chooses among
// them on the validation documents.
type Learn func(ctx context.Context, t *attack.Target, train, validation []attack.Document, seed stream.Seed) (
	Learned, error)

// Learner is how an attacker of private labels reads a text, and how he learns.
type Learner struct {
	// Name is with what his answers depend on besides the documents: learners of one name
	// share what they learned. "" is that of the attacker.
	Name     string
	Written  bool // reads texts as they are written, else words
	Releases int  // trained on at most so many own releases; 0: Options.OwnReleases
	Learn    Learn
}

// released are the documents of a release, as a learner reads them.
func (l Learner) released(ctx context.Context, t *attack.Target, split attack.Split, number int) ([]attack.Document,
	error) {
	out := slices.Clone(t.Corpus.Documents(split))
	if l.Written {
		texts, err := t.Written(ctx, split, number)
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			out[i].Text = text
		}
		return out, nil
	}
	words, err := t.Release(ctx, split, number)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		out[i].Words = w
	}
	return out, nil
}

// ownReleases are the first releases of a split that an attacker makes himself.
func (l Learner) ownReleases(ctx context.Context, t *attack.Target, split attack.Split, n int) ([]attack.Document,
	error) {
	var out []attack.Document
	for i := range n {
		noisy, err := l.released(ctx, t, split, i)
		if err != nil {
			return nil, err
		}
		out = append(out, noisy...)
	}
	return out, nil
}

// numberOfReleases is how many a learner makes of each split.
func (l Learner) numberOfReleases(t *attack.Target) int {
	if l.Releases == 0 {
		return t.Options.OwnReleases
	}
	return min(l.Releases, t.Options.OwnReleases)
}

// fromReleases is who learned from own releases, with those of the validation split.
type fromReleases struct {
	Learned
	validation []attack.Document
}

// learnReleases learns from own releases of the training split and, once, of other splits.
func (l Learner) learnReleases(ctx context.Context, t *attack.Target, seed stream.Seed, others ...attack.Split) (
	f fromReleases, err error) {
	n := l.numberOfReleases(t)
	f.validation, err = l.ownReleases(ctx, t, attack.Validation, n)
	if err != nil {
		return f, err
	}
	train, err := l.ownReleases(ctx, t, attack.Train, n)
	if err != nil {
		return f, err
	}
	for _, split := range others {
		more, err := l.ownReleases(ctx, t, split, 1)
		if err != nil {
			return f, err
		}
		train = append(train, more...)
	}
	f.Learned, err = l.Learn(ctx, t, train, f.validation, seed)
	return f, err
}

// fromPlain is who learned from plain text, with what he finds there.
type fromPlain struct {
	Learned
	labels []int
}

// plainKey is that of what a learner learned from plain text.
type plainKey struct{ learner string }

// learnPlain learns from plain text.
func (l Learner) learnPlain(ctx context.Context, t *attack.Target, seed stream.Seed) (fromPlain, error) {
	c := t.Corpus
	return memo.Once(&c.Cache, plainKey{l.Name}, func() (fromPlain, error) {
		learned, err := l.Learn(ctx, t, c.Train, c.Validation, seed)
		if err != nil {
			return fromPlain{}, err
		}
		labels, err := learned.labels(ctx, c.Test)
		return fromPlain{learned, labels}, err
	})
}
