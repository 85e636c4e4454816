package measure

import (
	"context"
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// vectorErrors asks how far distances and inner products of released vectors are
// from the true ones: Feyisetan & Kasiviswanathan 2021, Figures 1 and 2.
type vectorErrors struct {
	Words int `yaml:"words" limits:"1,100000"` // on each side of the pairs: Words² distances
}

func init() {
	Register(Measurement{
		Name: "vector-errors", Version: 2, WordsAlone: true, Columns: columns("distance_error", "inner_product_error"),
		Metric: study.Metric{Key: "vector_errors", New: func() any { return new(vectorErrors) },
			Check: func(options any, _ *study.Design, at study.At) error {
				return at(check.AtLeast("words", options.(*vectorErrors).Words, 1), "words")
			}},
		Applies: func(s *Spec, _ *Query) bool { return s.Definition().NewVector != nil },
		Measure: measureVectorErrors,
	})
}

func measureVectorErrors(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o, space := q.Options.(*vectorErrors), r.Space.Space
	if space.Len() < 2*o.Words {
		return nil, fmt.Errorf("words = %d: the embedding has %d words, fewer than twice as many", o.Words, space.Len())
	}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	drawn := SampleWords(space, 2*o.Words, r.Root().Derive("pairs"))
	m := r.batch.vector
	distance, product := pairErrors(m, space, drawn[:o.Words], drawn[o.Words:], r.RepetitionSeed().Derive("noise"))
	row := r.Row(q)
	row.Note = fmt.Sprintf("%d dimensions released", m.OutputDimension())
	return []results.Row{row.Of("distance_error", distance), row.Of("inner_product_error", product)}, ctx.Err()
}

// pairErrors returns the mean absolute errors of distances and inner products
// over all pairs: |‖M(x)−M(y)‖ − ‖x−y‖| and |⟨M(x),M(y)⟩ − ⟨x,y⟩|.
func pairErrors(m mechanisms.VectorMechanism, space *embeddings.Space, left, right []embeddings.WordID,
	seed stream.Seed) (distance, product results.Measured) {
	width, rng := m.OutputDimension(), seed.Rand()
	a, b := make([]float32, len(left)*width), make([]float32, len(right)*width)
	m.Release(a, left, rng)
	m.Release(b, right, rng)
	var ofDistance, ofProduct float64
	for i, v := range left {
		for j, w := range right {
			x, y := a[i*width:(i+1)*width], b[j*width:(j+1)*width]
			ofDistance += math.Abs(embeddings.Euclidean(x, y) - space.Distance(v, w))
			ofProduct += math.Abs(dot(x, y) - dot(space.Vector(v), space.Vector(w)))
		}
	}
	n := len(left) * len(right)
	distance, product = results.Number(ofDistance/float64(n)), results.Number(ofProduct/float64(n))
	distance.Whole, product.Whole = n, n
	return distance, product
}

func dot(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}
