package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/metrics"
)

// linked are the documents to be linked; of gives their numbers in the test split.
type linked struct {
	plain, noisy [][]int32
	of           []int
}

// DocumentScorer returns the scores of every plain document for a privatised one,
// given by number: how well the second may come from the first.
type DocumentScorer func(ctx context.Context, s *Situation, l linked) (func(query int) []float64, error)

func init() {
	registerLinkage("tfidf", "tf-idf", 2, false, scoreTFIDF)
	registerLinkage("aligned", "words in their places", 1, true, scoreAligned)
}

// registerLinkage adds an attacker of documents. With inOrder it counts which word stands
// in which place, among documents of equal length.
func registerLinkage(by, title string, version int, inOrder bool, score DocumentScorer) {
	column := Column{Name: "linkage-" + by + "-p1", Title: "linkage P@1, " + title, Panel: Linked}
	Register(Definition{Name: "linkage-" + by, Version: version, OneRelease: true, Columns: []Column{column},
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			l, err := s.linked(ctx)
			if err != nil {
				return nil, err
			}
			return s.link(ctx, column.Name, l, inOrder, score)
		}})
}

// linked are the documents that are asked for.
func (s *Situation) linked(ctx context.Context) (linked, error) {
	noisy, err := s.release(ctx, release{Test, 0})
	if err != nil {
		return linked{}, err
	}
	l := linked{of: s.asked()}
	for _, i := range l.of {
		l.plain, l.noisy = append(l.plain, s.Test[i].Words), append(l.noisy, noisy[i])
	}
	return l, nil
}

// asked are the numbers of the test documents that are asked for, in order: all, or
// as many as are drawn.
func (s *Situation) asked() []int {
	n := len(s.Test)
	return slices.Sorted(slices.Values(s.Seed.Derive("linkage").Rand().Perm(n)[:min(n, s.Options.Documents)]))
}

// link names for each privatised document the plain one of the highest score: which
// record is it? The floor is who does not look at words. Documents with equal text
// cannot be distinguished, so the ceiling may be below one; ties count with their
// expectation.
func (s *Situation) link(ctx context.Context, column string, l linked, inOrder bool, score DocumentScorer) ([]Outcome,
	error) {
	scores, err := score(ctx, s, l)
	if err != nil {
		return nil, err
	}
	n := len(l.plain)
	right, chance, ideal := make([]float64, n), make([]float64, n), make([]float64, n)
	if err := s.parallel(ctx, n, func(q int) error {
		right[q] = metrics.RankOf(scores(q), q).First()
		return nil
	}); err != nil {
		return nil, err
	}
	same, keys, lengths := map[string]int{}, make([]string, n), map[int]int{}
	for i, d := range l.plain {
		if !inOrder {
			d = slices.Sorted(slices.Values(d))
		}
		keys[i] = fmt.Sprint(d)
		same[keys[i]]++
		lengths[len(d)]++
	}
	o := Outcome{Column: column, Count: n}
	for i, key := range keys {
		chance[i], ideal[i] = 1/float64(n), 1/float64(same[key])
		if k := len(l.noisy[i]); inOrder && k == len(l.plain[i]) {
			chance[i] = 1 / float64(lengths[k])
		}
		o.Items = append(o.Items, Item{Document: l.of[i], Position: Whole, Right: right[i]})
	}
	o.Floor, o.Ceiling = stats.Mean(chance), stats.Mean(ideal)
	// Where no query or every query succeeds, their variance is 0 and gives no interval:
	// it is widened to that of a count.
	o.Value = stats.MeanInterval(right, s.Options.Level)
	c := stats.ClopperPearson(int(math.Round(o.Value.Estimate*float64(n))), n, s.Options.Level)
	o.Value.Low, o.Value.High = max(0, min(o.Value.Low, c.Low)), min(1, max(o.Value.High, c.High))
	return []Outcome{o}, nil
}
