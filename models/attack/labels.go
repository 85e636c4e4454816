package attack

import (
	"context"
	"fmt"

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
	out := make([]Document, len(s.documents(r.split)))
	copy(out, s.documents(r.split))
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
	n := s.number(s.Options.OwnReleases)
	if most > 0 {
		n = min(n, most)
	}
	for i := range n {
		noisy, err := l.released(ctx, s, release{split, i})
		if err != nil {
			return nil, err
		}
		out = append(out, noisy...)
	}
	return out, nil
}

// fitOwn learns from own releases, of the training split and, once, of other ones, and
// returns those of the validation split as well.
func (l learner) fitOwn(ctx context.Context, s *Situation, seed stream.Seed, others ...string) (t trained,
	validation []Document, err error) {
	train, err := l.own(ctx, s, Train, l.releases)
	if err == nil {
		validation, err = l.own(ctx, s, Validation, l.releases)
	}
	for _, split := range others {
		if err == nil {
			var more []Document
			more, err = l.own(ctx, s, split, 1)
			train = append(train, more...)
		}
	}
	if err == nil {
		t, err = l.fit(ctx, s, train, validation, seed)
	}
	return t, validation, err
}

// number returns how many of so many releases there are.
func (s *Situation) number(releases int) int {
	if s.Single {
		return 1
	}
	return releases
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
	var found [][]int
	for i := range s.number(s.Options.TestReleases) {
		test, err := l.released(ctx, s, release{Test, i})
		if err != nil {
			return nil, err
		}
		labels, err := attacker.found(ctx, test)
		if err != nil {
			return nil, err
		}
		found = append(found, labels)
	}
	return s.labelOutcome(column, found, plain.labels, attacker.note)
}

// labelColumn is that of an attacker of private labels: a mean over releases.
func labelColumn(name, title string) []Column {
	return []Column{{Name: name + "-accuracy", Title: "private label found, " + title, Panel: Label}}
}

// labelOutcome measures what was found in each release of the test split.
func (s *Situation) labelOutcome(column string, found [][]int, plain []int, chosen string) ([]Outcome, error) {
	labels := privates(s.Test)
	a, err := metrics.MeasureAttribute(found, plain, labels, s.Privates, s.Options.Resamples, s.Options.Level, s.own)
	if err != nil {
		return nil, err
	}
	o := Outcome{Column: column, Value: a.Accuracy, Floor: a.Majority, Ceiling: a.Plain, Count: len(labels)}
	for i, label := range labels {
		item := Item{Document: i, Position: Whole}
		for _, f := range found {
			if f[i] == label {
				item.Right += 1 / float64(len(found))
			}
		}
		o.Items = append(o.Items, item)
	}
	o.Note = fmt.Sprintf("%d releases", len(found))
	if chosen != "" {
		o.Note += "; " + chosen
	}
	return []Outcome{o}, nil
}
