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
	"mldpbench/internal/check"
	"mldpbench/results"
)

// neighbours asks for percentiles, over words, of the distance to the k-th
// neighbour: Feyisetan et al. 2020, Figure 1.
type neighbours struct {
	Words       int       `yaml:"words" limits:"1,1000000"` // drawn from the vocabulary
	K           []int     `yaml:"k" limits:"1,1000000"`     // ranks of neighbours
	Percentiles []float64 `yaml:"percentiles"`              // of the distance, 0 to 100
}

func init() {
	Register(Measurement{
		Name: "neighbours", Version: 2, Of: OfSpace, Columns: columns("distance"),
		Metric: study.Metric{Key: "neighbours", New: func() any { return new(neighbours) },
			Check: func(options any, _ *study.Design, at study.At) error {
				o := options.(*neighbours)
				if o.Words < 1 || len(o.K) == 0 || len(o.Percentiles) == 0 {
					return at(errors.New("neighbours: words, k and percentiles must be given"), "")
				}
				for i, v := range o.Percentiles {
					if err := check.Inside("percentiles", v, 0, 100); err != nil {
						return at(err, "percentiles[%d]", i)
					}
				}
				return nil
			}},
		Measure: measureNeighbours,
	})
}

// measureNeighbours returns a row for each k and percentile. A word is not its own
// neighbour.
func measureNeighbours(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o, space := q.Options.(*neighbours), r.Space.Space
	deepest := slices.Max(o.K)
	if deepest >= space.Len() {
		return nil, fmt.Errorf("k = %d: the embedding has %d words", deepest, space.Len())
	}
	index := nearest.Of(space)
	distances := make(map[int][]float64, len(o.K))
	near := make([]nearest.Neighbor, deepest)
	for _, w := range SampleWords(space, o.Words, r.Root().Derive("words")) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index.SearchExcluding(near, space.Vector(w), deepest, []embeddings.WordID{w})
		for _, k := range o.K {
			distances[k] = append(distances[k], near[k-1].Distance)
		}
	}
	var rows []results.Row
	row := r.Row(q)
	for _, k := range o.K {
		slices.Sort(distances[k])
		for _, percentile := range o.Percentiles {
			row.Parameters = fmt.Sprintf("k=%d percentile=%g", k, percentile)
			m := results.Number(stat.Quantile(percentile/100, stat.Empirical, distances[k], nil))
			m.Whole = len(distances[k])
			rows = append(rows, row.Of("distance", m))
		}
	}
	return rows, nil
}
