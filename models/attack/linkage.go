package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/metrics"
)

// lengthBins are the documents by their number of words.
var lengthBins = []struct {
	name     string
	from, to int
}{{"short", 0, 20}, {"medium", 20, 100}, {"long", 100, math.MaxInt}}

func init() {
	for _, by := range []struct {
		name, title, doc string
		needs            []Need
		ordered          bool // the order of words counts
		score            similarity
	}{
		{"tfidf", "tf-idf", "by the cosine of their tf-idf vectors", nil, false, tfidfSimilarity},
		{"encoder", "sentence encoder", "by the cosine of their sentence embeddings", []Need{NeedsEncoder}, true,
			encoderSimilarity},
	} {
		name := "linkage-" + by.name
		d := Definition{Name: name, Title: "linkage, " + by.title, Needs: by.needs, OneRelease: true,
			Doc: "ranks the plain documents by their similarity to each privatised one, " + by.doc +
				": which record is it?"}
		d.Columns = []Column{
			{Name: name + "-p1", Title: "linkage P@1, " + by.title, Unit: "share",
				Doc: "share of documents whose original is the most similar"},
			{Name: name + "-r10", Title: "linkage R@10, " + by.title, Unit: "share",
				Doc: "share whose original is among the ten most similar"},
			{Name: name + "-mrr", Title: "linkage MRR, " + by.title, Unit: "share",
				Doc: "mean of 1/rank of the original"},
		}
		for _, b := range lengthBins {
			doc := fmt.Sprintf("P@1 of documents of %d to %d words, among all documents", b.from, b.to-1)
			if b.to == math.MaxInt {
				doc = fmt.Sprintf("P@1 of documents of %d words or more, among all documents", b.from)
			}
			d.Columns = append(d.Columns, Column{Name: name + "-p1-" + b.name,
				Title: "linkage P@1, " + by.title + ", " + b.name, Unit: "share", Doc: doc})
		}
		d.Run = func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return link(ctx, s, name, by.score, by.ordered)
		}
		Register(d)
	}
}

// similarity makes a function that returns the similarities of a privatised
// document, given by number, to every plain document.
type similarity func(ctx context.Context, s *Situation, plain, noisy [][]int32) (func(query int) []float64, error)

func link(ctx context.Context, s *Situation, name string, similar similarity, ordered bool) ([]Outcome, error) {
	plain := wordsOf(s.Test)
	noisy, err := s.Released(ctx, Test)
	if err != nil {
		return nil, err
	}
	if most := s.Options.Documents; len(plain) > most {
		order := s.DataSeed.Derive("linkage").Rand().Perm(len(plain))[:most]
		slices.Sort(order)
		chosen, released := make([][]int32, most), make([][]int32, most)
		for i, id := range order {
			chosen[i], released[i] = plain[id], noisy[id]
		}
		plain, noisy = chosen, released
	}
	scores, err := similar(ctx, s, plain, noisy)
	if err != nil {
		return nil, err
	}
	ranks := make([]metrics.Rank, len(plain))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Workers)
	for q := range plain {
		g.Go(func() error {
			ranks[q] = metrics.RankOf(scores(q), q)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	// Documents with equal text cannot be distinguished, so the ceiling may be
	// below one.
	same := map[string]int{}
	keys := make([]string, len(plain))
	for i, d := range plain {
		if !ordered {
			d = slices.Sorted(slices.Values(d))
		}
		keys[i] = fmt.Sprint(d)
		same[keys[i]]++
	}
	ideal := make([]metrics.Rank, len(plain))
	for i, key := range keys {
		ideal[i] = metrics.Rank{Equal: same[key]}
	}
	n := len(plain)
	all, err := metrics.MeasureRetrieval(ranks, n)
	if err != nil {
		return nil, err
	}
	best, err := metrics.MeasureRetrieval(ideal, n)
	if err != nil {
		return nil, err
	}
	p1, r10, mrr := all.Chance()
	out := []Outcome{
		{Column: name + "-p1", Value: counted(all.P1, n), Floor: p1, Ceiling: best.P1.Estimate, Count: n},
		{Column: name + "-r10", Value: counted(all.R10, n), Floor: r10, Ceiling: best.R10.Estimate, Count: n},
		{Column: name + "-mrr", Value: all.MRR, Floor: mrr, Ceiling: best.MRR.Estimate, Count: n},
	}
	for _, b := range lengthBins {
		var of, idealOf []metrics.Rank
		for q, d := range plain {
			if len(d) >= b.from && len(d) < b.to {
				of, idealOf = append(of, ranks[q]), append(idealOf, ideal[q])
			}
		}
		r, err := metrics.MeasureRetrieval(of, n)
		if err != nil {
			return nil, err
		}
		best, err := metrics.MeasureRetrieval(idealOf, n)
		if err != nil {
			return nil, err
		}
		out = append(out, Outcome{Column: name + "-p1-" + b.name, Value: counted(r.P1, len(of)), Floor: p1,
			Ceiling: best.P1.Estimate,
			Count:   len(of)})
	}
	return out, nil
}

// counted widens the interval of a share of n queries to that of a count: where
// no query or every query succeeds, their variance is 0 and gives no interval.
func counted(share metrics.Interval, n int) metrics.Interval {
	if n == 0 {
		return share
	}
	c, err := proportion(int(math.Round(share.Estimate*float64(n))), n, 0.95)
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
		scores := make([]float64, len(before))
		for i, v := range before {
			scores[i] = metrics.Cosine(after[query], v)
		}
		return scores
	}, nil
}
