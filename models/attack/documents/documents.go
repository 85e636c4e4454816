// Package documents has the attackers who find, for each privatised document, the original
// that it comes from: which record is it? An attacker is a Scorer of originals; Register
// makes floor, ceiling, items and interval.
package documents

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/mechanisms/channel"
	"mldpbench/metrics"
	"mldpbench/models/attack"
)

// Linked are the documents to be linked: before and after, in the same order.
type Linked struct {
	Plain, Noisy [][]int32
	Numbers      []int // in the test split
}

// Scores say how well the originals fit a privatised document.
type Scores struct {
	Take channel.TakeRow // gets every row of the channel; nil: it reads none
	// Of returns a score of every original for a privatised document, given by its place in
	// Linked, higher where it fits better. It is called after the last row, by several
	// goroutines at once.
	Of func(query int) []float64
}

// Scorer prepares the scores of originals.
type Scorer func(ctx context.Context, t *attack.Target, l Linked) (Scores, error)

// Attacker links documents. His one column is NAME-p1: the share that is found first.
type Attacker struct {
	Name, Title string
	Version     int // raised whenever his numbers change; 0 means 1
	Needs       []attack.Need
	// InOrder means that he counts which word stands in which place, among documents of
	// equal length: documents of the same words in another order are not equal to him.
	InOrder bool
	Score   Scorer
}

// Register adds an attacker. It is called from init functions only.
func Register(a Attacker) {
	column := attack.Column{
		Name:  a.Name + "-p1",
		Title: "linkage P@1, " + a.Title,
		Panel: attack.Linked,
	}
	attack.Register(attack.Definition{
		Name:       a.Name,
		Version:    a.Version,
		Needs:      a.Needs,
		OneRelease: true,
		Columns:    []attack.Column{column},
		Start: func(ctx context.Context, t *attack.Target) (attack.Attack, error) {
			l, err := newLinked(ctx, t)
			if err != nil {
				return attack.Attack{}, err
			}
			scores, err := a.Score(ctx, t, l)
			if err != nil {
				return attack.Attack{}, err
			}
			return attack.Attack{
				Take: scores.Take,
				Finish: func() ([]attack.Outcome, error) {
					o, err := a.link(ctx, t, l, scores.Of)
					o.Column = column.Name
					return []attack.Outcome{o}, err
				},
			}, nil
		},
	})
}

// newLinked are the documents that are asked for, and their release.
func newLinked(ctx context.Context, t *attack.Target) (Linked, error) {
	noisy, err := t.Release(ctx, attack.Test, 0)
	if err != nil {
		return Linked{}, err
	}
	l := Linked{Numbers: asked(t)}
	for _, i := range l.Numbers {
		l.Plain = append(l.Plain, t.Corpus.Test[i].Words)
		l.Noisy = append(l.Noisy, noisy[i])
	}
	return l, nil
}

// asked are the numbers of the test documents that are asked for, in order: all, or
// as many as are drawn.
func asked(t *attack.Target) []int {
	order := t.Corpus.Seed.Derive("linkage").Rand().Perm(len(t.Corpus.Test))
	return slices.Sorted(slices.Values(order[:min(len(order), t.Options.Documents)]))
}

// link names for each privatised document the plain one of the highest score. Ties count
// with their expectation.
func (a Attacker) link(ctx context.Context, t *attack.Target, l Linked, score func(query int) []float64) (
	attack.Outcome, error) {
	n := len(l.Plain)
	right := make([]float64, n)
	err := t.Parallel(ctx, n, func(q int) error {
		scores := score(q)
		if len(scores) != n {
			return fmt.Errorf("document %d: scores of %d originals, not of %d", l.Numbers[q], len(scores), n)
		}
		right[q] = metrics.RankOf(scores, q).First()
		return nil
	})
	if err != nil {
		return attack.Outcome{}, err
	}
	o := attack.Outcome{
		Count:   n,
		Floor:   stats.Mean(a.chance(l)),
		Ceiling: stats.Mean(a.ideal(l)),
	}
	for i, r := range right {
		o.Items = append(o.Items, attack.Item{
			Document: l.Numbers[i],
			Position: attack.Whole,
			Right:    r,
		})
	}
	// Where no query or every query succeeds, their variance is 0 and gives no interval:
	// it is widened to that of a count.
	o.Value = stats.MeanInterval(right, t.Options.Level)
	count := stats.ClopperPearson(int(math.Round(o.Value.Estimate*float64(n))), n, t.Options.Level)
	o.Value.Low = max(0, min(o.Value.Low, count.Low))
	o.Value.High = min(1, max(o.Value.High, count.High))
	return o, nil
}

// chance is how likely who does not look at words finds each document: by its length,
// where that is released and he knows it.
func (a Attacker) chance(l Linked) []float64 {
	lengths := map[int]int{}
	for _, d := range l.Plain {
		lengths[len(d)]++
	}
	out := make([]float64, len(l.Plain))
	for i, d := range l.Plain {
		out[i] = 1 / float64(len(l.Plain))
		if a.InOrder && len(l.Noisy[i]) == len(d) {
			out[i] = 1 / float64(lengths[len(d)])
		}
	}
	return out
}

// ideal is how likely each original itself would be linked: documents with equal text cannot
// be distinguished.
func (a Attacker) ideal(l Linked) []float64 {
	texts := make([]string, len(l.Plain))
	same := map[string]int{}
	for i, d := range l.Plain {
		if !a.InOrder {
			d = slices.Sorted(slices.Values(d))
		}
		texts[i] = fmt.Sprint(d)
		same[texts[i]]++
	}
	out := make([]float64, len(l.Plain))
	for i, text := range texts {
		out[i] = 1 / float64(same[text])
	}
	return out
}
