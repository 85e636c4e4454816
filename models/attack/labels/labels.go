// Package labels has the attackers who find the private label of each document. An attacker
// is a Learner, who returns a Scorer of labels for documents, and what he learns from;
// Register makes the rest: the forms among which validation chooses, the ceiling on plain
// text, releases, items and interval.
package labels

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Scorer returns the scores of every private label for each document.
type Scorer func(ctx context.Context, documents []attack.Document) ([][]float64, error)

// Learned is a scorer that has learned, and what was chosen on the way.
type Learned struct {
	Score Scorer
	Note  string
}

// labels are those of the highest scores: the first among equals.
func (l Learned) labels(ctx context.Context, documents []attack.Document) ([]int, error) {
	scores, err := l.Score(ctx, documents)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(documents) {
		return nil, fmt.Errorf("scores of %d documents, not of %d", len(scores), len(documents))
	}
	labels := make([]int, len(scores))
	for i, s := range scores {
		if len(s) == 0 {
			return nil, fmt.Errorf("document %d: no scores of labels", i)
		}
		labels[i] = floats.MaxIdx(s)
	}
	return labels, nil
}

// from adds to the note from what was learned.
func (l Learned) from(text string) Learned {
	if l.Note != "" {
		text += ": " + l.Note
	}
	return Learned{l.Score, "trained on " + text}
}

// mostRight is the one that finds most labels; ties go to the first.
func mostRight(ctx context.Context, all []Learned, documents []attack.Document) (Learned, error) {
	var best Learned
	most := -1
	for _, l := range all {
		labels, err := l.labels(ctx, documents)
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
			best = l
			most = n
		}
	}
	return best, nil
}

// privateLabels are those of documents.
func privateLabels(documents []attack.Document) []int {
	return list.Map(documents, func(d attack.Document) int { return d.Private })
}

// Source is what an attacker learns from.
type Source string

// Sources; where there are several, validation chooses.
const (
	Static   Source = "static"   // plain text
	Own      Source = "own"      // releases of his own by the same mechanism
	Adaptive Source = "adaptive" // such releases, or plain text
	Public   Source = "public"   // such releases, also of public text, or plain text
)

// Attacker finds private labels. His one column is NAME-accuracy.
type Attacker struct {
	Name, Title string
	Version     int           // raised whenever his numbers change; 0 means 1
	Needs       []attack.Need // beside a private label
	From        Source        // "" is Adaptive
	Learner     Learner
}

// Register adds an attacker. It is called from init functions only.
func Register(a Attacker) {
	attack.Register(a.definition(column(a.Name, a.Title)))
}

// column is that of an attacker of private labels: a mean over releases.
func column(name, title string) attack.Column {
	return attack.Column{
		Name:  name + "-accuracy",
		Title: "private label found, " + title,
		Panel: attack.Label,
	}
}

// definition is that of an attacker with one column.
func (a Attacker) definition(c attack.Column) attack.Definition {
	learner := a.Learner
	if learner.Name == "" {
		learner.Name = a.Name
	}
	return attack.Definition{
		Name:       a.Name,
		Version:    a.Version,
		Needs:      append(slices.Clone(a.Needs), attack.NeedsPrivate),
		Columns:    []attack.Column{c},
		OneRelease: !learner.Written,
		Start: attack.AtOnce(func(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
			return learner.attack(ctx, t, c.Name, a.From)
		}),
	}
}

// attack is by who is best on own releases of the validation split: who
// learned from the source or from less, so he is not below a simpler one but by chance.
// Ties go to the one that knows more. All attackers of one learner start from the same
// seed and differ only in their input.
func (l Learner) attack(ctx context.Context, t *attack.Target, column string, from Source) ([]attack.Outcome, error) {
	seed := t.Corpus.Seed.Derive("attribute", l.Name)
	plain, err := l.learnPlain(ctx, t, seed)
	if err != nil {
		return nil, err
	}
	attacker, err := l.learnFrom(ctx, t, from, plain.Learned, seed)
	if err != nil {
		return nil, err
	}
	return l.find(ctx, t, column, attacker, plain.labels)
}

// ownKey is that of what a learner learned from own releases.
type ownKey struct{ learner string }

// learnFrom learns from a source, or from less.
func (l Learner) learnFrom(ctx context.Context, t *attack.Target, from Source, plain Learned, seed stream.Seed) (
	Learned, error) {
	if from == Static {
		return plain, nil
	}
	made, err := memo.Once(&t.Releases.Cache, ownKey{l.Name}, func() (fromReleases, error) {
		return l.learnReleases(ctx, t, seed)
	})
	if err != nil || from == Own {
		return made.Learned, err
	}
	all := []Learned{made.from("own releases"), plain.from("plain text")}
	if from == Public && t.Has(attack.NeedsPublic) {
		both, err := l.learnReleases(ctx, t, seed, attack.Public)
		if err != nil {
			return plain, err
		}
		all = append([]Learned{both.from("own releases and public text")}, all...)
	}
	return mostRight(ctx, all, made.validation)
}

// find attacks the private labels of each release of the test split; the ceiling is what
// was found in plain text.
func (l Learner) find(ctx context.Context, t *attack.Target, column string, attacker Learned, plain []int) (
	[]attack.Outcome, error) {
	labels := privateLabels(t.Corpus.Test)
	items := make([]attack.Item, len(labels))
	for i := range items {
		items[i] = attack.Item{Document: i, Position: attack.Whole}
	}
	found := make([][]int, t.Options.TestReleases)
	for r := range found {
		test, err := l.released(ctx, t, attack.Test, r)
		if err != nil {
			return nil, err
		}
		found[r], err = attacker.labels(ctx, test)
		if err != nil {
			return nil, err
		}
		for i, label := range found[r] {
			if label == labels[i] {
				items[i].Right += 1 / float64(len(found))
			}
		}
	}
	a := metrics.MeasureAttribute(metrics.Inferred{
		Predicted: found,
		Plain:     plain,
		Labels:    labels,
		Classes:   t.Corpus.PrivateLabels,
	}, metrics.Bootstrap{
		Resamples: t.Options.Resamples,
		Level:     t.Options.Level,
		Seed:      t.Seed,
	})
	note := fmt.Sprintf("%d releases", len(found))
	if attacker.Note != "" {
		note += "; " + attacker.Note
	}
	return []attack.Outcome{{
		Column:  column,
		Value:   a.Accuracy,
		Floor:   a.Majority,
		Ceiling: a.Plain,
		Count:   len(labels),
		Items:   items,
		Note:    note,
	}}, nil
}
