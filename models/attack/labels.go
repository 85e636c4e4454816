package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// LabelScorer returns the scores of every private label for each document.
type LabelScorer func(ctx context.Context, documents []Document) ([][]float64, error)

// trained is a scorer that has learned, and what was chosen on the way.
type trained struct {
	score LabelScorer
	note  string
}

// found are the labels of the highest scores: the first among equals.
func (t trained) found(ctx context.Context, documents []Document) ([]int, error) {
	scores, err := t.score(ctx, documents)
	return list.Map(scores, func(s []float64) int { return floats.MaxIdx(s) }), err
}

// mostRight is the one that finds most labels; ties go to the first.
func mostRight(ctx context.Context, all []trained, documents []Document) (best trained, err error) {
	most := -1
	for _, t := range all {
		labels, err := t.found(ctx, documents)
		if err != nil {
			return best, err
		}
		n := 0
		for i, label := range labels {
			if documents[i].Private == label {
				n++
			}
		}
		if n > most {
			best, most = t, n
		}
	}
	return best, nil
}

// learner is how an attacker of private labels reads a text, and how he learns.
type learner struct {
	name     string // with what his answers depend on besides the documents
	written  bool   // reads texts as they are written, else words
	releases int    // trained on at most so many own releases; 0: Options.OwnReleases
	fit      func(ctx context.Context, s *Situation, train, validation []Document, seed stream.Seed) (trained, error)
}

// released are the documents of a release, as a learner reads them.
func (l learner) released(ctx context.Context, s *Situation, r release) ([]Document, error) {
	out := slices.Clone(s.documents(r.split))
	if l.written {
		texts, err := s.written(ctx, r)
		for i, t := range texts {
			out[i].Text = t
		}
		return out, err
	}
	words, err := s.release(ctx, r)
	for i, w := range words {
		out[i].Words = w
	}
	return out, err
}

// own are releases of a split that an attacker makes himself, at most so many.
func (l learner) own(ctx context.Context, s *Situation, split string, most int) (out []Document, err error) {
	for i := range min(s.Options.OwnReleases, cmp.Or(most, s.Options.OwnReleases)) {
		noisy, err := l.released(ctx, s, release{split, i})
		if err != nil {
			return nil, err
		}
		out = append(out, noisy...)
	}
	return out, nil
}

// ownFit is who learned from own releases, with those of the validation split.
type ownFit struct {
	trained
	validation []Document
}

// fitOwn learns from own releases, of the training split and, once, of other ones.
func (l learner) fitOwn(ctx context.Context, s *Situation, seed stream.Seed, others ...string) (f ownFit, err error) {
	var train []Document
	for i, split := range append([]string{Validation, Train}, others...) {
		most := l.releases
		if i > 1 {
			most = 1
		}
		noisy, err := l.own(ctx, s, split, most)
		if err != nil {
			return f, err
		}
		if i == 0 {
			f.validation = noisy
		} else {
			train = append(train, noisy...)
		}
	}
	f.trained, err = l.fit(ctx, s, train, f.validation, seed)
	return f, err
}

func privates(documents []Document) []int {
	return list.Map(documents, func(d Document) int { return d.Private })
}

// onPlain is an attacker who learned from plain text, with what he finds there.
type onPlain struct {
	trained
	labels []int
}

// findPrivate attacks the private labels of each release of the test split by who
// learned from own releases, given who learned from plain text; the ceiling is what the
// latter finds there.
func (s *Situation) findPrivate(ctx context.Context, column string, l learner, seed stream.Seed,
	fromOwn func(plain trained) (trained, error)) ([]Outcome, error) {
	plain, err := once(s.Plain, l.name, func() (p onPlain, err error) {
		if p.trained, err = l.fit(ctx, s, s.Train, s.Validation, seed); err == nil {
			p.labels, err = p.found(ctx, s.Test)
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	attacker, err := fromOwn(plain.trained)
	if err != nil {
		return nil, err
	}
	labels := privates(s.Test)
	items, found := make([]Item, len(labels)), make([][]int, s.Options.TestReleases)
	for i := range labels {
		items[i] = Item{Document: i, Position: Whole}
	}
	for r := range found {
		test, err := l.released(ctx, s, release{Test, r})
		if err != nil {
			return nil, err
		}
		if found[r], err = attacker.found(ctx, test); err != nil {
			return nil, err
		}
		for i, label := range found[r] {
			if label == labels[i] {
				items[i].Right += 1 / float64(len(found))
			}
		}
	}
	a := metrics.MeasureAttribute(found, plain.labels, labels, s.Privates, s.Options.Resamples, s.Options.Level, s.own)
	note := fmt.Sprintf("%d releases", len(found))
	if attacker.note != "" {
		note += "; " + attacker.note
	}
	return []Outcome{{Column: column, Value: a.Accuracy, Floor: a.Majority, Ceiling: a.Plain, Count: len(labels),
		Items: items, Note: note}}, nil
}

// labelColumn is that of an attacker of private labels: a mean over releases.
func labelColumn(name, title string) []Column {
	return []Column{{Name: name + "-accuracy", Title: "private label found, " + title, Panel: Label}}
}
