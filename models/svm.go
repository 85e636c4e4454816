package models

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/internal/params"
)

// Linear support vector machine (L2-regularised hinge loss, one-vs-rest) on mean
// embeddings, tf-idf or given vectors.
func init() {
	Register(Definition{
		Name:    "svm",
		Vectors: true,
		Words:   linearWords,
		Parameters: []Parameter{
			linearFeatures, linearCost,
			params.AtLeast("passes", 1, 100, "passes over the training texts for one value of c, at most"),
			params.Positive("tolerance", 0.05,
				"a fit stops where the projected gradients of a pass, in units of a margin, differ by less"),
		},
		New: func(o Options) Classifier {
			return newLinear("svm", o, false, func(x design, labels []int) trainer {
				return newSVMTrainer(x.(rowDesign).rows, labels, o)
			})
		},
	})
}

// svmTrainer minimises ½|w|² + C·Σ max(0, 1 − y·w·x) for each class against
// the rest, by coordinate descent on the dual (Hsieh et al. 2008, "A Dual
// Coordinate Descent Method for Large-scale Linear SVM", Algorithm 3, with
// shrinking).
type svmTrainer struct {
	machines  []*dualSolver
	passes    int
	tolerance float64
}

func newSVMTrainer(x rows, labels []int, o Options) *svmTrainer {
	t := &svmTrainer{nil, values(o.Parameters).int("passes"), values(o.Parameters).float("tolerance")}
	for k := range machines(o.Classes) {
		positive := k
		if o.Classes == 2 {
			positive = 1
		}
		t.machines = append(t.machines, newDualSolver(x, labels, positive, o.Seed.Derive("svm").At(uint64(k)).Rand()))
	}
	return t
}

func (t *svmTrainer) train(ctx context.Context, c float64) (weights [][]float64, err error) {
	for _, m := range t.machines {
		if err := m.solve(ctx, c, t.passes, t.tolerance); err != nil {
			return nil, err
		}
		weights = append(weights, slices.Clone(m.w))
	}
	return weights, nil
}

// dualSolver holds one machine's dual variables, so that the next C can start
// from them.
type dualSolver struct {
	x      rows
	sign   []float64 // y_i = ±1
	square []float64 // |x_i|² + 1
	alpha  []float64 // in [0, c]
	w      []float64 // Σ α_i·y_i·(x_i, 1)
	c      float64   // of the last fit, 0 before any
	order  []int
	rng    *rand.Rand
}

func newDualSolver(x rows, labels []int, positive int, rng *rand.Rand) *dualSolver {
	n := x.len()
	s := &dualSolver{x: x, rng: rng, sign: slices.Repeat([]float64{-1}, n), square: make([]float64, n),
		alpha: make([]float64, n), w: make([]float64, x.width()+1), order: consecutive(n)}
	row := make([]float64, x.width())
	for i := range n {
		if labels[i] == positive {
			s.sign[i] = 1
		}
		x.add(i, 1, row)
		s.square[i] = x.dot(i, row) + 1
		x.add(i, -1, row) // exactly zero again: row held only x_i
	}
	return s
}

// solve runs coordinate descent for cost c until the projected gradients of a
// pass over all examples lie within tolerance of each other, or for the given
// number of passes. Examples stuck at a bound are set aside (shrinking) and
// looked at again before the end.
func (s *dualSolver) solve(ctx context.Context, c float64, passes int, tolerance float64) error {
	if s.c > 0 { // α/C changes little with C
		ratio := c / s.c
		for i := range s.alpha {
			s.alpha[i] *= ratio
		}
		for j := range s.w {
			s.w[j] *= ratio
		}
	}
	s.c = c
	bias := s.x.width()
	active := len(s.order)
	upper, lower := math.Inf(1), math.Inf(-1)
	for range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.rng.Shuffle(active, func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
		highest, lowest := math.Inf(-1), math.Inf(1)
		for k := 0; k < active; k++ {
			i := s.order[k]
			y := s.sign[i]
			g := y*(s.x.dot(i, s.w[:bias])+s.w[bias]) - 1
			a := s.alpha[i]
			if a <= 0 && g > upper || a >= c && g < lower { // stuck: set aside
				active--
				s.order[k], s.order[active] = s.order[active], s.order[k]
				k--
				continue
			}
			projected := g
			if a <= 0 {
				projected = min(g, 0)
			} else if a >= c {
				projected = max(g, 0)
			}
			highest, lowest = max(highest, projected), min(lowest, projected)
			if math.Abs(projected) > 1e-12 {
				s.alpha[i] = min(max(a-g/s.square[i], 0), c)
				step := (s.alpha[i] - a) * y
				s.x.add(i, step, s.w[:bias])
				s.w[bias] += step
			}
		}
		done, all := highest-lowest <= tolerance, active == len(s.order)
		if done && all {
			break
		}
		upper, lower = highest, lowest
		if done {
			active = len(s.order)
		}
		if done || upper <= 0 {
			upper = math.Inf(1)
		}
		if done || lower >= 0 {
			lower = math.Inf(-1)
		}
	}
	return nil
}
