package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// labelled are documents, as words or as text, with their private labels.
type labelled[D any] struct {
	documents []D
	labels    []int
}

// LabelScorer returns the scores of every private label for each document.
type LabelScorer[D any] func(ctx context.Context, documents []D) ([][]float64, error)

// trained is a scorer that has learned, and what was chosen on the way.
type trained[D any] struct {
	score LabelScorer[D]
	note  string
}

// found are the labels of the highest scores: the first among equals.
func (t trained[D]) found(ctx context.Context, documents []D) ([]int, error) {
	scores, err := t.score(ctx, documents)
	return list.Map(scores, func(s []float64) int { return floats.MaxIdx(s) }), err
}

// right counts the labels that are found.
func (t trained[D]) right(ctx context.Context, x labelled[D]) (n int, err error) {
	found, err := t.found(ctx, x.documents)
	for i, label := range found {
		if x.labels[i] == label {
			n++
		}
	}
	return n, err
}

// strongest is the one that finds most labels; ties go to the first.
func strongest[D any](ctx context.Context, all []trained[D], x labelled[D]) (best trained[D], err error) {
	most := -1
	for _, t := range all {
		n, err := t.right(ctx, x)
		if err != nil {
			return best, err
		}
		if n > most {
			best, most = t, n
		}
	}
	return best, nil
}

// reader is what an attacker of private labels reads of a text, and how he learns.
type reader[D any] struct {
	name     string
	key      string // of what is kept of him, with his name
	releases int    // trained on at most so many own releases; 0: Options.OwnReleases
	plain    func(documents []Document) []D
	release  func(s *Situation, ctx context.Context, r release) ([]D, error)
	fit      func(ctx context.Context, s *Situation, train, validation labelled[D], seed stream.Seed) (trained[D], error)
}

// onPlain are the documents of a split as they are.
func (r reader[D]) onPlain(s *Situation, split string) labelled[D] {
	documents := s.documents(split)
	return labelled[D]{r.plain(documents), privates(documents)}
}

// own are releases of a split that an attacker makes himself, at most so many.
func (r reader[D]) own(ctx context.Context, s *Situation, split string, most int) (out labelled[D], err error) {
	n := s.number(s.Options.OwnReleases)
	if most > 0 {
		n = min(n, most)
	}
	for i := range n {
		noisy, err := r.release(s, ctx, release{split, i})
		if err != nil {
			return out, err
		}
		out.documents, out.labels = append(out.documents, noisy...), append(out.labels, privates(s.documents(split))...)
	}
	return out, nil
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
type onPlain[D any] struct {
	trained[D]
	labels []int
}

// findPrivate attacks the private labels of each release of the test split by who
// learned from own releases; the ceiling is what who learned from plain text finds
// there.
func findPrivate[D any](ctx context.Context, s *Situation, name string, r reader[D],
	fromPlain func() (trained[D], error), fromOwn func(plain trained[D]) (trained[D], error)) ([]Outcome, error) {
	plain, err := once(s.Plain, r.name+r.key, func() (p onPlain[D], err error) {
		if p.trained, err = fromPlain(); err == nil {
			p.labels, err = p.found(ctx, r.plain(s.Test))
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
		test, err := r.release(s, ctx, release{Test, i})
		if err != nil {
			return nil, err
		}
		labels, err := attacker.found(ctx, test)
		if err != nil {
			return nil, err
		}
		found = append(found, labels)
	}
	return s.labelOutcomes(name, found, plain.labels, attacker.note)
}

// adapt trains a reader on own releases, without and with public text. It
// returns the one that is best on own releases of the validation split, the one
// trained on plain text among them, so it is not below a simpler one but by
// chance. Ties go to the one that knows more.
func adapt(ctx context.Context, s *Situation, r reader[[]int32], plain trained[[]int32], withPublic bool,
	seed stream.Seed) (trained[[]int32], error) {
	var none trained[[]int32]
	train, err := r.own(ctx, s, Train, r.releases)
	if err != nil {
		return none, err
	}
	validation, err := r.own(ctx, s, Validation, r.releases)
	if err != nil {
		return none, err
	}
	own, there := s.Made.trained[r.name+r.key]
	if !there {
		if own, err = r.fit(ctx, s, train, validation, seed); err != nil {
			return none, err
		}
		if s.Made.trained == nil {
			s.Made.trained = map[string]trained[[]int32]{}
		}
		s.Made.trained[r.name+r.key] = own
	}
	from := func(t trained[[]int32], from string) trained[[]int32] {
		if t.note != "" {
			from += ": " + t.note
		}
		return trained[[]int32]{t.score, "trained on " + from}
	}
	all := []trained[[]int32]{from(own, "own releases"), from(plain, "plain text")}
	if withPublic {
		more, err := r.own(ctx, s, public, 1)
		if err != nil {
			return none, err
		}
		both, err := r.fit(ctx, s, labelled[[]int32]{slices.Concat(train.documents, more.documents),
			slices.Concat(train.labels, more.labels)}, validation, seed)
		if err != nil {
			return none, err
		}
		all = append([]trained[[]int32]{from(both, "own releases and public text")}, all...)
	}
	return strongest(ctx, all, validation)
}

// labelColumns are those of every attacker of private labels.
func labelColumns(name, title string) []Column {
	return []Column{
		{Name: name + "-accuracy", Title: "private label found, " + title, Panel: Label}, // mean over releases
		{Name: name + "-f1", Title: "macro F1, " + title},
		// (F1 − majority)/(plain − majority): 1 where privatising does not hinder the attacker
		{Name: name + "-advantage", Title: "advantage, " + title},
	}
}

// labelOutcomes measures what was found in each release of the test split.
func (s *Situation) labelOutcomes(name string, found [][]int, plain []int, chosen string) ([]Outcome, error) {
	labels := privates(s.Test)
	a, err := metrics.MeasureAttribute(found, plain, labels, s.Privates, s.Options.Resamples, s.Options.Level, s.own)
	if err != nil {
		return nil, err
	}
	n, items := len(labels), make([]Item, len(labels))
	for i, label := range labels {
		items[i] = Item{Document: i, Position: Whole}
		for _, f := range found {
			if f[i] == label {
				items[i].Right += 1 / float64(len(found))
			}
		}
	}
	note := fmt.Sprintf("plain text: accuracy %.3f, F1 %.3f; most frequent label: %.3f, %.3f; %d releases",
		a.PlainAccuracy, a.PlainF1, a.MajorityAccuracy, a.MajorityF1, len(found))
	if chosen != "" {
		note += "; " + chosen
	}
	// F1 and advantage are no means over documents, so where a bootstrap of them has no
	// width, as of answers that are all right, there is no interval.
	score := func(column string, v stats.Interval, floor, ceiling float64) Outcome {
		note := ""
		switch {
		case math.IsNaN(v.Estimate):
			note = "on plain text no better than the most frequent label"
		case v.Low == v.High:
			v.Low, v.High = math.NaN(), math.NaN()
			note = fmt.Sprintf("no interval: the same in every bootstrap of the %d documents", n)
		}
		return Outcome{Column: name + column, Value: v, Floor: floor, Ceiling: ceiling, Count: n, Note: note}
	}
	return []Outcome{
		{Column: name + "-accuracy", Value: a.Accuracy, Floor: a.MajorityAccuracy, Ceiling: a.PlainAccuracy,
			Count: n, Note: note, Items: items},
		score("-f1", a.MacroF1, a.GuessF1, a.PlainF1),
		score("-advantage", a.Advantage, a.AdvantageFloor, 1),
	}, nil
}
