package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// The words drawn from the vocabulary, the ranks and the percentiles of Feyisetan et al. 2020, Figure 1; ranks that
// the vocabulary does not have are left out.
const neighbourWords = 1000

var (
	neighbourRanks      = []int{1, 5, 10, 20, 50, 100, 200, 500, 1000}
	neighbourPercentile = []float64{5, 20, 50, 80, 95}
)

// Distances to neighbours.
func init() {
	Register(Measurement{
		Name:       "neighbours",
		Version:    2,
		OfSpace:    true,
		Quantities: quantities("distance"),
		Metric: study.Metric{
			Key: "neighbours",
			Doc: "percentiles, over words, of the distance to the k-th neighbour",
			New: func() any { return &struct{}{} },
		},
		Measure: measureNeighbours,
	})
}

// measureNeighbours returns percentiles, over words, of the distance to the k-th
// neighbour, a row for each k and percentile. A word is not its own
// neighbour.
func measureNeighbours(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	space := r.Space.Space
	ranks := results.Where(neighbourRanks, func(k int) bool { return k < space.Len() })
	if len(ranks) == 0 {
		return nil, errors.New("the embedding has one word: it has no neighbour")
	}
	deepest := slices.Max(ranks)
	index := nearest.Of(space)
	distances := make(map[int][]float64, len(ranks))
	near := make([]nearest.Neighbor, deepest)
	for _, w := range SampleWords(space, neighbourWords, r.Root().Derive("words")) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index.SearchExcluding(near, space.Vector(w), deepest, []embeddings.WordID{w})
		for _, k := range ranks {
			distances[k] = append(distances[k], near[k-1].Distance)
		}
	}
	var rows []results.Row
	row := r.Row(q)
	for _, k := range ranks {
		slices.Sort(distances[k])
		for _, percentile := range neighbourPercentile {
			row.Parameters = fmt.Sprintf("k=%d percentile=%g", k, percentile)
			m := results.Number(stat.Quantile(percentile/100, stat.Empirical, distances[k], nil))
			m.Whole = len(distances[k])
			rows = append(rows, row.Of("distance", m))
		}
	}
	return rows, nil
}
