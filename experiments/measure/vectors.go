package measure

import (
	"context"
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// pairsOfVectors is the number of words on each side of the pairs: the figures have 100 × 100 distances.
const pairsOfVectors = 100

// Errors of distances and inner products of noisy vectors.
func init() {
	Register(Measurement{
		Name:       "vector-errors",
		Version:    2,
		WordsAlone: true,
		Quantities: quantities("distance_error", "inner_product_error"),
		Metric: study.Metric{
			Key: "vector_errors",
			Doc: "how far distances and inner products of released vectors are from the true ones",
			New: func() any { return &struct{}{} },
		},
		Applies: func(s *Spec, _ *Query) bool { return s.Definition().NewVector != nil },
		Measure: measureVectorErrors,
	})
}

// measureVectorErrors says how far distances and inner products of released vectors are
// from the true ones: Feyisetan & Kasiviswanathan 2021, Figures 1 and 2.
func measureVectorErrors(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	space := r.Space.Space
	if space.Len() < 2*pairsOfVectors {
		return nil, fmt.Errorf("the embedding has %d words: pairs need %d", space.Len(), 2*pairsOfVectors)
	}
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	drawn := SampleWords(space, 2*pairsOfVectors, r.Root().Derive("pairs"))
	m := r.batch.vector
	distance, product := pairErrors(m, space, drawn[:pairsOfVectors], drawn[pairsOfVectors:],
		r.RepetitionSeed().Derive("noise"))
	row := r.Row(q)
	row.Note = fmt.Sprintf("%d dimensions released", m.OutputDimension())
	return []results.Row{row.Of("distance_error", distance), row.Of("inner_product_error", product)}, ctx.Err()
}

// pairErrors returns the mean absolute errors of distances and inner products
// over all pairs: |‖M(x)−M(y)‖ − ‖x−y‖| and |⟨M(x),M(y)⟩ − ⟨x,y⟩|.
func pairErrors(m mechanisms.VectorMechanism, space *embeddings.Space, left, right []embeddings.WordID,
	seed stream.Seed) (distance, product results.Measured) {
	width := m.OutputDimension()
	rng := seed.Rand()
	a := make([]float32, len(left)*width)
	b := make([]float32, len(right)*width)
	m.Release(a, left, rng)
	m.Release(b, right, rng)
	var ofDistance, ofProduct float64
	for i, v := range left {
		for j, w := range right {
			x := a[i*width : (i+1)*width]
			y := b[j*width : (j+1)*width]
			ofDistance += math.Abs(embeddings.Euclidean(x, y) - space.Distance(v, w))
			ofProduct += math.Abs(dot(x, y) - dot(space.Vector(v), space.Vector(w)))
		}
	}
	n := len(left) * len(right)
	distance = results.Number(ofDistance / float64(n))
	distance.Whole = n
	product = results.Number(ofProduct / float64(n))
	product.Whole = n
	return distance, product
}

func dot(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}
