package measure

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// The measurements of Feyisetan & Kasiviswanathan 2021 ("Private Release of
// Text Embedding Vectors"): M1 adds multivariate Laplace noise to a vector, M2
// projects it to fewer dimensions first. As in the paper's figures there is a
// panel per ε, and x is β.

func init() {
	Register(Measurement{
		Name: "vector-errors", Version: 1, Of: OfAllRepeats, Columns: columns("distance_error", "inner_product_error"),
		Metric: entry("vector_errors", false, false, func(_ *vectorErrors, d *study.Design, at study.At) error {
			return checkVectors(d, at)
		}),
		Place: placeOfBeta, Measure: measureVectorErrors,
	})
	Register(Measurement{
		Name: "vector-accuracy", Version: 1, Of: OfAllRepeats, Model: true,
		Columns: append(columns("accuracy", "validation_accuracy", "auc"), results.Column{Name: "train_accuracy"}),
		Metric: entry("vector_accuracy", true, true, func(_ *vectorAccuracy, d *study.Design, at study.At) error {
			for i, m := range d.Models {
				if x, err := models.Find(m.Name); err == nil && !x.Vectors {
					return at(fmt.Errorf("%s reads no vectors", m.Name), "models[%d].name", i)
				}
			}
			return checkVectors(d, at)
		}),
		Place: placeOfBeta, Measure: measureVectorAccuracy,
	})
}

func checkVectors(d *study.Design, at study.At) error {
	for _, m := range d.Mechanisms {
		if x, err := mechanisms.Find(m.Name); err != nil || x.NewVector == nil {
			return at(fmt.Errorf("%s releases no vectors", m.Name), "")
		}
	}
	return nil
}

// placeOfBeta is the place in a figure: a panel per ε, curves over β. M1 has no
// projection and so no β.
func placeOfBeta(p *results.Place, s *Spec, _ *Query) {
	p.Panel = fmt.Sprintf("%s, ε = %v", s.Panel, s.Mechanism.Epsilon)
	p.Series = strings.TrimSuffix(s.Series, " "+s.Parameters())
	p.XName, p.X = "beta", results.Missing
	if beta, ok := s.Mechanism.Parameters["beta"].(float64); ok && s.Mechanism.Parameters["projection"] != "none" {
		p.X = results.Float(beta)
	}
}

// vectorErrors is Figures 1 and 2: how far distances and inner products of
// released vectors are from the true ones.
type vectorErrors struct {
	Words int `yaml:"words" limits:"1,100000"` // on each side of the pairs: Words² distances
}

// vectorAccuracy is Figures 3 and 4, a linear model on single released vectors
// of words, and Table 1, one on means of released vectors.
type vectorAccuracy struct{}

func measureVectorErrors(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o, space := q.Options.(*vectorErrors), r.Space.Space
	if space.Len() < 2*o.Words {
		return nil, fmt.Errorf("words = %d: the embedding has %d words, fewer than twice as many", o.Words, space.Len())
	}
	drawn := SampleWords(space, 2*o.Words, r.Root().Derive("pairs"))
	return releases(r, q, func(m mechanisms.VectorMechanism, seed stream.Seed) (map[string]results.Measured, error) {
		return pairErrors(m, space, drawn[:o.Words], drawn[o.Words:], seed.Derive("noise")), ctx.Err()
	})
}

// pairErrors returns the mean absolute errors of distances and inner products
// over all pairs: |‖M(x)−M(y)‖ − ‖x−y‖| and |⟨M(x),M(y)⟩ − ⟨x,y⟩|.
func pairErrors(m mechanisms.VectorMechanism, space *embeddings.Space, left, right []embeddings.WordID,
	seed stream.Seed) map[string]results.Measured {
	width, rng := m.OutputDimension(), seed.Rand()
	a, b := make([]float32, len(left)*width), make([]float32, len(right)*width)
	m.Release(a, left, rng)
	m.Release(b, right, rng)
	var distance, product float64
	for i, v := range left {
		for j, w := range right {
			x, y := a[i*width:(i+1)*width], b[j*width:(j+1)*width]
			distance += math.Abs(embeddings.Euclidean(x, y) - space.Distance(v, w))
			product += math.Abs(dot(x, y) - dot(space.Vector(v), space.Vector(w)))
		}
	}
	n := len(left) * len(right)
	mean := func(sum float64) results.Measured {
		m := results.Number(sum / float64(n))
		m.Whole = n
		return m
	}
	return map[string]results.Measured{"distance_error": mean(distance), "inner_product_error": mean(product)}
}

func dot(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}

// measureVectorAccuracy classifies documents by the mean of the released vectors of their
// words; every occurrence of a word is released anew.
func measureVectorAccuracy(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	c := r.Corpus
	classes := len(c.Classes)
	return releases(r, q, func(m mechanisms.VectorMechanism, seed stream.Seed) (map[string]results.Measured, error) {
		var parts [3]models.Examples
		for i, split := range c.Splits() {
			vectors, _, err := ReleaseVectors(ctx, m, r.Policy, c.Tokens[i], seed.Derive("noise", split.Name))
			if err != nil {
				return nil, err
			}
			parts[i] = models.Examples{Vectors: vectors, Labels: c.Labels(i)}
		}
		t, err := Train(ctx, q.Model, classes, models.Embedding{}, seed.Derive("model"), parts[0], parts[1])
		if err != nil {
			return nil, err
		}
		values := map[string]results.Measured{}
		for i, name := range []string{"train_accuracy", "validation_accuracy", "accuracy"} {
			s, err := Test(ctx, t.Model, classes, parts[i])
			if err != nil {
				return nil, err
			}
			values[name] = rightly(s)
			if i == 2 && classes == 2 {
				values["auc"] = results.Number(s.AUC)
			}
		}
		return values, nil
	})
}

// releases measures every repetition of a mechanism that releases vectors, each
// with its own projection and noise.
func releases(r *Release, q *Query, measure func(m mechanisms.VectorMechanism,
	seed stream.Seed) (map[string]results.Measured, error)) ([]results.Row, error) {
	row := r.Row(q)
	placeOfBeta(&row.Place, &r.Spec, q)
	var rows []results.Row
	for i := range r.Repetitions {
		seed := r.Root().Derive(study.Labels(r.Mechanism)...).At(uint64(i))
		m, err := mechanisms.NewVector(mechanisms.Environment{Space: r.Space.Space, Seed: seed}, r.Mechanism)
		if err != nil {
			return nil, err
		}
		values, err := measure(m, seed)
		if err != nil {
			return nil, err
		}
		row.Promise = results.PromiseOf(m.Guarantee())
		for _, quantity := range slices.Sorted(maps.Keys(values)) {
			v := values[quantity]
			v.Note = fmt.Sprintf("%d dimensions released", m.OutputDimension())
			rows = append(rows, of(row, i+1, quantity, v))
		}
	}
	return rows, nil
}
