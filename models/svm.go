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
			return newLinear("svm", o, &linear{trainer: func(x design, labels []int) trainer {
				return newSVMTrainer(x.(rowDesign).rows, labels, o)
			}})
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

// newSVMTrainer has a machine for each class, or one of class 1 for two.
func newSVMTrainer(x rows, labels []int, o Options) *svmTrainer {
	p := values(o.Parameters)
	t := &svmTrainer{passes: p.int("passes"), tolerance: p.float("tolerance")}
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
// from them. A constant feature 1 holds the bias.
type dualSolver struct {
	x      rows
	sign   []float64 // y_i = ±1
	square []float64 // |x_i|² + 1
	alpha  []float64 // in [0, c]
	w      []float64 // Σ α_i·y_i·(x_i, 1)
	c      float64   // of the last fit, 0 before any
	order  []int     // of examples; those set aside are the last
	active int       // examples that are not set aside
	rng    *rand.Rand
}

// newDualSolver tells the examples of a label from the others.
func newDualSolver(x rows, labels []int, positive int, rng *rand.Rand) *dualSolver {
	n := x.len()
	s := &dualSolver{
		x:      x,
		sign:   slices.Repeat([]float64{-1}, n),
		square: make([]float64, n),
		alpha:  make([]float64, n),
		w:      make([]float64, x.width()+1),
		order:  consecutive(n),
		rng:    rng,
	}
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

// A span is an interval of projected gradients.
type span struct{ low, high float64 }

var (
	nothing    = span{low: math.Inf(1), high: math.Inf(-1)}
	everything = span{low: math.Inf(-1), high: math.Inf(1)}
)

// solve runs coordinate descent for cost c until the projected gradients of a
// pass over all examples lie within tolerance of each other, or for the given
// number of passes. Examples stuck at a bound are set aside (shrinking) and
// looked at again before the end.
func (s *dualSolver) solve(ctx context.Context, c float64, passes int, tolerance float64) error {
	s.rescale(c)
	s.active = len(s.order)
	limits := everything
	for range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.rng.Shuffle(s.active, func(a, b int) {
			s.order[a], s.order[b] = s.order[b], s.order[a]
		})
		seen := s.pass(limits)
		if seen.high-seen.low > tolerance {
			limits = shrunk(seen)
			continue
		}
		if s.active == len(s.order) {
			break
		}
		s.active = len(s.order)
		limits = everything
	}
	return nil
}

// rescale starts from the variables of the last cost: α/C changes little with C.
func (s *dualSolver) rescale(c float64) {
	if s.c > 0 {
		ratio := c / s.c
		for i := range s.alpha {
			s.alpha[i] *= ratio
		}
		for j := range s.w {
			s.w[j] *= ratio
		}
	}
	s.c = c
}

// shrunk are the gradients beyond which the next pass sets examples aside, given those of the last one.
func shrunk(seen span) span {
	if seen.high <= 0 {
		seen.high = math.Inf(1)
	}
	if seen.low >= 0 {
		seen.low = math.Inf(-1)
	}
	return seen
}

// pass looks at each active example once. One at a bound whose gradient is beyond the limits is set aside. It returns
// the span of the projected gradients of the others.
func (s *dualSolver) pass(limits span) span {
	seen := nothing
	bias := s.x.width()
	for k := 0; k < s.active; {
		i := s.order[k]
		y := s.sign[i]
		a := s.alpha[i]
		g := y*(s.x.dot(i, s.w[:bias])+s.w[bias]) - 1
		lowest := a <= 0
		highest := a >= s.c
		if lowest && g > limits.high || highest && g < limits.low {
			s.active--
			s.order[k], s.order[s.active] = s.order[s.active], s.order[k]
			continue
		}
		projected := g
		if lowest {
			projected = min(g, 0)
		} else if highest {
			projected = max(g, 0)
		}
		seen.high = max(seen.high, projected)
		seen.low = min(seen.low, projected)
		if math.Abs(projected) > 1e-12 {
			s.alpha[i] = min(max(a-g/s.square[i], 0), s.c)
			step := (s.alpha[i] - a) * y
			s.x.add(i, step, s.w[:bias])
			s.w[bias] += step
		}
		k++
	}
	return seen
}
