package measure

import (
	"context"
	"fmt"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/memo"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results"
)

// LOW, the least frequent words.
func init() {
	Register(Measurement{
		Name:       "low",
		Version:    2,
		Setting:    true,
		Quantities: quantities("low", "low_overlap"),
		Metric: study.Metric{
			Key:    "low",
			Doc:    "LOW: the overlap of the so many least frequent words before and after",
			New:    func() any { return new(int) },
			Limits: "0,1000000",
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*int) > 0 },
		Measure: measureLow,
	})
}

// measureLow follows the least frequent words of the original, as many as the
// options say: which of them are still there, and which are still among the
// least frequent.
func measureLow(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	n := *q.Options.(*int)
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	rare, err := memo.Once(&r.Lab.Shared, engine.MakeID("low", r.Corpus.Fingerprint, r.Dataset.Name, n, r.Root()),
		func() ([]string, error) {
			return metrics.LeastFrequent(r.Corpus.Documents, n, r.Root().Derive("low", r.dataName())), nil
		})
	if err != nil {
		return nil, fmt.Errorf("low: %w", err)
	}
	present := ofWords(rare, r.Corpus.Documents, metrics.Present(rare, c.After))
	least, both := metrics.Overlap(c.Before, c.After, n)
	shared := ofWords(least, c.Before, both)
	row := r.Row(q)
	return []results.Row{row.Of("low", present), row.Of("low_overlap", shared)}, nil
}

// ofWords is the share of different words that are right. Each is counted at the
// document where it occurs first: words of one document stay or go together.
func ofWords(words []string, documents [][]string, right []bool) results.Measured {
	index := make(map[string]int, len(words))
	for i, w := range words {
		index[w] = i
	}
	hits := make([]int, len(documents))
	trials := make([]int, len(documents))
	for d, document := range documents {
		for _, w := range document {
			i, sought := index[w]
			if !sought {
				continue
			}
			delete(index, w)
			trials[d]++
			if right[i] {
				hits[d]++
			}
		}
	}
	return ofDocuments(hits, trials)
}

// ofDocuments is the share in % of hits among the words of documents, with its
// interval over the documents.
func ofDocuments(hits, trials []int) results.Measured {
	part := 0
	whole := 0
	documents := 0
	for i, n := range trials {
		part += hits[i]
		whole += n
		if n > 0 {
			documents++
		}
	}
	m := results.Share(part, whole)
	m.Value = results.Float(metrics.Percent(part, whole)) // to the last bit as package metrics computes it
	i := stats.RatioInterval(hits, trials, 0.95)
	if i.Low == i.High { // all documents are alike
		i = stats.Alike(i.Estimate, documents, 0.95)
	}
	return m.Within(100*i.Low, 100*i.High)
}
