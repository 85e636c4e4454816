package attack

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

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

// compared is what of a document's words counts.
type compared int

const (
	bag     compared = iota // which they are
	ordered                 // their order as well
	inOrder                 // which stands in which place, among documents of equal length
)

func init() {
	for _, by := range []struct {
		name, title string
		version     int
		needs       []Need
		compared    compared
		score       DocumentScorer
	}{
		{"tfidf", "tf-idf", 2, nil, bag, scoreTFIDF},
		{"encoder", "sentence encoder", 2, []Need{NeedsEncoder}, ordered, scoreEncoded},
		{"aligned", "words in their places", 1, []Need{NeedsVectors}, inOrder, scoreAligned},
	} {
		d := Definition{Name: "linkage-" + by.name, Version: by.version, Needs: by.needs, OneRelease: true}
		for _, c := range []string{"P@1", "R@10", "MRR"} {
			d.Columns = append(d.Columns, Column{Name: d.Name + "-" + strings.ToLower(strings.ReplaceAll(c, "@", "")),
				Title: "linkage " + c + ", " + by.title})
		}
		d.Columns[0].Panel, d.Columns[2].Mean = Linked, true
		d.Run = func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.link(ctx, d.Name, by.compared, by.score)
		}
		Register(d)
	}
}

// linked are the documents that are asked for, in order: all, or as many as are
// drawn.
func (s *Situation) linked(ctx context.Context) (linked, error) {
	noisy, err := s.release(ctx, release{Test, 0})
	if err != nil {
		return linked{}, err
	}
	n := len(noisy)
	l := linked{of: slices.Sorted(slices.Values(s.Seed.Derive("linkage").Rand().Perm(n)[:min(n, s.Options.Documents)]))}
	for _, i := range l.of {
		l.plain, l.noisy = append(l.plain, s.Test[i].Words), append(l.noisy, noisy[i])
	}
	return l, nil
}

// link ranks all plain documents by their scores for each privatised one: which record
// is it? The floor is the ranking without looking at words. Documents with equal text
// cannot be distinguished, so the ceiling may be below one.
func (s *Situation) link(ctx context.Context, name string, by compared, score DocumentScorer) ([]Outcome, error) {
	l, err := s.linked(ctx)
	if err != nil {
		return nil, err
	}
	scores, err := score(ctx, s, l)
	if err != nil {
		return nil, err
	}
	n := len(l.plain)
	ranks, chance, ideal := make([]metrics.Rank, n), make([]metrics.Rank, n), make([]metrics.Rank, n)
	if err := s.parallel(ctx, n, func(q int) error {
		ranks[q] = metrics.RankOf(scores(q), q)
		return nil
	}); err != nil {
		return nil, err
	}
	same, keys, lengths, items := map[string]int{}, make([]string, n), map[int]int{}, make([]Item, n)
	for i, d := range l.plain {
		if by == bag {
			d = slices.Sorted(slices.Values(d))
		}
		keys[i] = fmt.Sprint(d)
		same[keys[i]]++
		lengths[len(d)]++
	}
	for i, key := range keys {
		chance[i], ideal[i] = metrics.Rank{Equal: n}, metrics.Rank{Equal: same[key]}
		if k := len(l.noisy[i]); by == inOrder && k == len(l.plain[i]) {
			chance[i] = metrics.Rank{Equal: lengths[k]}
		}
		items[i] = Item{Document: l.of[i], Position: Whole, Right: ranks[i].Within(1)}
	}
	var all [3]metrics.Retrieval // found, floor, ceiling
	for i, of := range [][]metrics.Rank{ranks, chance, ideal} {
		if all[i], err = metrics.MeasureRetrieval(of, n, s.Options.Level); err != nil {
			return nil, err
		}
	}
	outcome := func(column string, of func(metrics.Retrieval) stats.Interval) Outcome {
		return Outcome{Column: name + column, Value: of(all[0]), Floor: of(all[1]).Estimate, Ceiling: of(all[2]).Estimate,
			Count: n}
	}
	p1 := outcome("-p1", func(r metrics.Retrieval) stats.Interval { return s.counted(r.P1, n) })
	p1.Items = items
	return []Outcome{p1, outcome("-r10", func(r metrics.Retrieval) stats.Interval { return s.counted(r.R10, n) }),
		outcome("-mrr", func(r metrics.Retrieval) stats.Interval { return r.MRR })}, nil
}

// counted widens the interval of a share of n queries to that of a count: where
// no query or every query succeeds, their variance is 0 and gives no interval.
func (s *Situation) counted(share stats.Interval, n int) stats.Interval {
	c, err := proportion(int(math.Round(share.Estimate*float64(n))), n, s.Options.Level)
	if err == nil { // 0 ≤ k ≤ n: always
		share.Low, share.High = max(0, min(share.Low, c.Low)), min(1, max(share.High, c.High))
	}
	return share
}
