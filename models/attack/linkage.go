package attack

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// lengthBins are the documents by their number of words.
var lengthBins = []struct {
	name     string
	from, to int
}{{"short", 0, 20}, {"medium", 20, 100}, {"long", 100, math.MaxInt}}

func init() {
	for _, by := range []struct {
		name, title string
		needs       []Need
		ordered     bool // the order of words counts
		score       similarity
	}{
		{"tfidf", "tf-idf", nil, false, tfidfSimilarity},
		{"encoder", "sentence encoder", []Need{NeedsEncoder}, true, encoderSimilarity},
	} {
		d := linkageDefinition(by.name, by.title)
		d.Needs, d.OneRelease, d.Version = by.needs, true, 2
		d.Run = func(ctx context.Context, s *Situation) ([]Outcome, error) {
			l, err := s.linked(ctx)
			if err != nil {
				return nil, err
			}
			scores, err := by.score(ctx, s, l.plain, l.noisy)
			if err != nil {
				return nil, err
			}
			return s.linkageOutcomes(ctx, d.Name, l, scores, by.ordered, nil)
		}
		Register(d)
	}
}

// linkageDefinition has the columns of every attacker that ranks the plain
// documents by their similarity to each privatised one: which record is it?
func linkageDefinition(short, title string) Definition {
	name := "linkage-" + short
	d := Definition{Name: name}
	for _, c := range []string{"P@1", "R@10", "MRR"} {
		short := strings.ToLower(strings.ReplaceAll(c, "@", ""))
		d.Columns = append(d.Columns, Column{Name: name + "-" + short, Title: "linkage " + c + ", " + title})
	}
	d.Columns[0].Panel, d.Columns[2].Mean = Linked, true
	for _, b := range lengthBins { // ranked among all documents
		d.Columns = append(d.Columns, Column{Name: name + "-p1-" + b.name, Title: "linkage P@1, " + title + ", " + b.name})
	}
	return d
}

// similarity makes a function that returns the similarities of a privatised
// document, given by number, to every plain document.
type similarity func(ctx context.Context, s *Situation, plain, noisy [][]int32) (func(query int) []float64, error)

// linked are the documents to be linked; of gives their numbers in the test split.
type linked struct {
	plain, noisy [][]int32
	of           []int
}

// LinkedDocuments are the numbers of the test documents that linkage asks for, in
// order: all n, or as many as are drawn for a data seed.
func LinkedDocuments(n, most int, seed stream.Seed) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if n > most {
		all = slices.Sorted(slices.Values(seed.Derive("linkage").Rand().Perm(n)[:most]))
	}
	return all
}

func (s *Situation) linked(ctx context.Context) (linked, error) {
	noisy, err := s.Released(ctx, Test)
	if err != nil {
		return linked{}, err
	}
	l := linked{of: LinkedDocuments(len(noisy), s.Options.Documents, s.DataSeed)}
	for _, i := range l.of {
		l.plain, l.noisy = append(l.plain, s.Test[i].Words), append(l.noisy, noisy[i])
	}
	return l, nil
}

// linkageOutcomes ranks all documents for each privatised one. chance, if not
// nil, are the ranks without looking at words; else all documents are alike.
func (s *Situation) linkageOutcomes(ctx context.Context, name string, l linked, scores func(query int) []float64,
	ordered bool, chance []metrics.Rank) ([]Outcome, error) {
	plain, n := l.plain, len(l.plain)
	ranks := make([]metrics.Rank, n)
	if err := s.parallel(ctx, n, func(q int) error {
		ranks[q] = metrics.RankOf(scores(q), q)
		return nil
	}); err != nil {
		return nil, err
	}
	if chance == nil {
		chance = slices.Repeat([]metrics.Rank{{Equal: n}}, n)
	}
	// Documents with equal text cannot be distinguished, so the ceiling may be
	// below one.
	same := map[string]int{}
	keys := make([]string, n)
	for i, d := range plain {
		if !ordered {
			d = slices.Sorted(slices.Values(d))
		}
		keys[i] = fmt.Sprint(d)
		same[keys[i]]++
	}
	ideal, items := make([]metrics.Rank, n), make([]Item, n)
	for i, key := range keys {
		ideal[i] = metrics.Rank{Equal: same[key]}
		items[i] = Item{Document: l.of[i], Position: Whole, Right: ranks[i].Within(1)}
	}
	measure := func(in func(d []int32) bool) (got [3]metrics.Retrieval, err error) {
		for i, list := range [][]metrics.Rank{ranks, chance, ideal} {
			var of []metrics.Rank
			for q, r := range list {
				if in(plain[q]) {
					of = append(of, r)
				}
			}
			if got[i], err = metrics.MeasureRetrieval(of, n, s.Options.Level); err != nil {
				return got, err
			}
		}
		return got, nil
	}
	all, err := measure(func([]int32) bool { return true })
	if err != nil {
		return nil, err
	}
	got, floor, best := all[0], all[1], all[2]
	out := []Outcome{
		{Column: name + "-p1", Value: s.counted(got.P1, n), Floor: floor.P1.Estimate, Ceiling: best.P1.Estimate, Count: n,
			Items: items},
		{Column: name + "-r10", Value: s.counted(got.R10, n), Floor: floor.R10.Estimate, Ceiling: best.R10.Estimate,
			Count: n},
		{Column: name + "-mrr", Value: got.MRR, Floor: floor.MRR.Estimate, Ceiling: best.MRR.Estimate, Count: n},
	}
	for _, b := range lengthBins {
		some, err := measure(func(d []int32) bool { return len(d) >= b.from && len(d) < b.to })
		if err != nil {
			return nil, err
		}
		queries := some[0].Queries
		low, note := some[1].P1.Estimate, ""
		if queries == 0 {
			low, note = floor.P1.Estimate, "no document of this length"
		}
		out = append(out, Outcome{Column: name + "-p1-" + b.name, Value: s.counted(some[0].P1, queries), Floor: low,
			Ceiling: some[2].P1.Estimate, Count: queries, Note: note})
	}
	return out, nil
}

// counted widens the interval of a share of n queries to that of a count: where
// no query or every query succeeds, their variance is 0 and gives no interval.
func (s *Situation) counted(share stats.Interval, n int) stats.Interval {
	if n == 0 {
		return share
	}
	c, err := proportion(int(math.Round(share.Estimate*float64(n))), n, s.Options.Level)
	if err != nil {
		return share // 0 ≤ k ≤ n: cannot be
	}
	share.Low, share.High = max(0, min(share.Low, c.Low)), min(1, max(share.High, c.High))
	return share
}

// tfidfSimilarity weighs words by counts and ln((1+n)/(1+df)) + 1 over the
// plain documents; words that none of them has are left out.
func tfidfSimilarity(_ context.Context, _ *Situation, plain, noisy [][]int32) (func(int) []float64, error) {
	df := map[int32]int{}
	for _, d := range plain {
		for w := range countWords(d) {
			df[w]++
		}
	}
	type entry struct {
		document int
		weight   float64
	}
	vector := func(d []int32) (words []int32, weights []float64) {
		counts := countWords(d)
		for w := range counts {
			if df[w] > 0 {
				words = append(words, w)
			}
		}
		slices.Sort(words)
		square := 0.0
		for _, w := range words {
			v := float64(counts[w]) * (math.Log((1+float64(len(plain)))/(1+float64(df[w]))) + 1)
			weights = append(weights, v)
			square += float64(v * v)
		}
		for i := range weights {
			weights[i] /= math.Sqrt(square)
		}
		return words, weights
	}
	postings := map[int32][]entry{}
	for i, d := range plain {
		words, weights := vector(d)
		for j, w := range words {
			postings[w] = append(postings[w], entry{i, weights[j]})
		}
	}
	return func(query int) []float64 {
		scores := make([]float64, len(plain))
		words, weights := vector(noisy[query])
		for j, w := range words {
			for _, e := range postings[w] {
				scores[e.document] += float64(weights[j] * e.weight)
			}
		}
		return scores
	}, nil
}

func countWords(d []int32) map[int32]int {
	counts := make(map[int32]int, len(d))
	for _, w := range d {
		counts[w]++
	}
	return counts
}

func encoderSimilarity(ctx context.Context, s *Situation, plain, noisy [][]int32) (func(int) []float64, error) {
	before, err := s.Encode(ctx, plain)
	if err != nil {
		return nil, err
	}
	after, err := s.Encode(ctx, noisy)
	if err != nil {
		return nil, err
	}
	if len(before) != len(plain) || len(after) != len(plain) {
		return nil, fmt.Errorf("%d and %d vectors for %d documents", len(before), len(after), len(plain))
	}
	return func(query int) []float64 {
		return list.Map(before, func(v []float32) float64 { return metrics.Cosine(after[query], v) })
	}, nil
}
