package models

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

func init() {
	definition := Definition{
		Name:    "svm",
		Doc:     "linear support vector machine (L2-regularised hinge loss, one-vs-rest) on mean embeddings, tf-idf or given vectors",
		Vectors: true,
		Parameters: []Parameter{
			oneOf("features", "mean", "tfidf").is("mean", "of token sequences: mean of the word vectors, or tf-idf; given vectors are taken as they are"),
			nonNegative("c").is(0.0, "cost of the hinge loss; 0 chooses among 0.01, 0.1, 1, 10, 100 by validation accuracy"),
			atLeast("passes", 1).is(100, "at most so many passes over the training set per fit"),
			positive("tolerance").is(0.05, "stop when the projected gradients of a pass differ by less"),
		},
	}
	definition.New = func(o Options) (Classifier, error) { return newSVM(o), nil }
	Register(definition)
}

// svmGrid is searched from strong to weak regularisation; each fit starts from
// the one before.
var svmGrid = []float64{0.01, 0.1, 1, 10, 100}

// svm minimises ½|w|² + C·Σ max(0, 1 − y·w·x) for each class against the rest,
// by coordinate descent on the dual (Hsieh et al. 2008, "A Dual Coordinate
// Descent Method for Large-scale Linear SVM", Algorithm 3, with shrinking). A
// constant feature carries the bias, regularised like any weight. Dense
// features are standardised on the training set. Two classes need one
// machine: the score of class 0 is minus that of class 1.
//
// The weights kept are those trained on the training set alone with the
// chosen C; validation examples choose, they do not train, as for the other
// models.
type svm struct {
	options    Options
	parameters values
	state      *svmState
}

type svmState struct {
	Width    int         // of given vectors, 0 for sequences
	Columns  int         // features, without the bias
	Features string      // "mean" or "tfidf"
	Weights  [][]float64 // machines × (Columns + 1), the bias last
	Scaling  scaling     // dense features only
	IDF      []float64   // tf-idf only
}

func newSVM(o Options) *svm { return &svm{options: o, parameters: o.Parameters} }

func (m *svm) checkInputs(x Examples) (width int, err error) {
	tokens := -1
	if m.parameters.text("features") == "mean" {
		tokens = m.options.Embedding.Len()
	}
	return x.checkInputs(tokens)
}

func (m *svm) Fit(ctx context.Context, train, validation Examples) (History, error) {
	history := History{Best: -1, Chosen: map[string]float64{}}
	if m.state != nil {
		return history, errFitted
	}
	s := &svmState{Features: m.parameters.text("features")}
	for _, part := range []struct {
		name string
		x    Examples
	}{{"train", train}, {"validation", validation}} {
		if err := part.x.checkLabels(part.name, m.options.Classes); err != nil {
			return history, err
		}
		width, err := m.checkInputs(part.x)
		if err != nil {
			return history, fmt.Errorf("%s: %w", part.name, err)
		}
		if part.name == "train" {
			s.Width = width
		} else if width != s.Width {
			return history, fmt.Errorf("validation: vectors of length %d, train has %d", width, s.Width)
		}
	}

	var x rows
	if s.dense() {
		d := m.denseFeatures(train)
		s.Scaling = fitScaling(d)
		s.Scaling.apply(d)
		x = d
	} else {
		s.IDF = inverseDocumentFrequency(train.Sequences)
		x = tfidf(s.IDF, train.Sequences)
	}
	s.Columns = x.width()
	held := m.features(s, validation)

	grid := svmGrid
	if c := m.parameters.float("c"); c > 0 {
		grid = []float64{c}
	}
	machines := m.machines()
	solvers := make([]*dualSolver, machines)
	for k := range solvers {
		solvers[k] = newDualSolver(x, train.Labels, m.positiveClass(k), m.options.Seed.Derive("svm").At(uint64(k)).Rand())
	}
	best := -1.0
	for _, c := range grid {
		weights := make([][]float64, machines)
		for k, solver := range solvers {
			if err := solver.solve(ctx, c, m.parameters.int("passes"), m.parameters.float("tolerance")); err != nil {
				return history, err
			}
			weights[k] = append([]float64(nil), solver.w...)
		}
		predicted, _ := predictions(margins(held, weights, m.options.Classes), nil)
		if a := accuracy(predicted, validation.Labels); a > best { // a tie goes to the smaller C
			best = a
			s.Weights = weights
			history.Chosen["c"] = c
		}
	}
	history.Chosen["validation_accuracy"] = best
	m.state = s
	return history, nil
}

func (s *svmState) dense() bool { return s.Width > 0 || s.Features == "mean" }

func (m *svm) machines() int {
	if m.options.Classes == 2 {
		return 1
	}
	return m.options.Classes
}

// positiveClass is the class that machine k tells from the rest.
func (m *svm) positiveClass(k int) int {
	if m.options.Classes == 2 {
		return 1
	}
	return k
}

// denseFeatures are fresh copies, not yet scaled.
func (m *svm) denseFeatures(x Examples) denseRows {
	if x.Vectors != nil {
		return stack(x.Vectors)
	}
	return meanVectors(m.options.Embedding, x.Sequences)
}

func (m *svm) features(s *svmState, x Examples) rows {
	if s.dense() {
		d := m.denseFeatures(x)
		s.Scaling.apply(d)
		return d
	}
	return tfidf(s.IDF, x.Sequences)
}

// margins are the signed scores w·x + b of every class.
func margins(x rows, weights [][]float64, classes int) [][]float64 {
	out := make([][]float64, x.len())
	for i := range out {
		out[i] = make([]float64, classes)
		for k, w := range weights {
			m := x.dot(i, w[:len(w)-1]) + w[len(w)-1]
			if classes == 2 {
				out[i][0], out[i][1] = -m, m
			} else {
				out[i][k] = m
			}
		}
	}
	return out
}

func (m *svm) Score(ctx context.Context, x Examples) ([][]float64, error) {
	if m.state == nil {
		return nil, errNotFitted
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if x.Len() == 0 {
		return nil, nil
	}
	width, err := m.checkInputs(x)
	if err != nil {
		return nil, err
	}
	if width != m.state.Width {
		return nil, fmt.Errorf("vectors of length %d: the model was trained on %d", width, m.state.Width)
	}
	return margins(m.features(m.state, x), m.state.Weights, m.options.Classes), nil
}

func (m *svm) Predict(ctx context.Context, x Examples) ([]int, error) {
	return predictions(m.Score(ctx, x))
}

func (m *svm) Save(w io.Writer) error {
	if m.state == nil {
		return errNotFitted
	}
	return saveState(w, "svm", m.state)
}

func (m *svm) Load(r io.Reader) error {
	if m.state != nil {
		return errFitted
	}
	var s svmState
	if err := loadState(r, "svm", &s); err != nil {
		return err
	}
	if want := m.parameters.text("features"); s.Features != want {
		return fmt.Errorf("load svm: features = %q: must be %q", s.Features, want)
	}
	if err := s.check(m.machines(), m.options.Embedding.Dimension); err != nil {
		return fmt.Errorf("load svm: %w", err)
	}
	m.state = &s
	return nil
}

// check verifies the shapes that Score relies on.
func (s *svmState) check(machines, dimension int) error {
	if len(s.Weights) != machines {
		return fmt.Errorf("%d machines: must be %d", len(s.Weights), machines)
	}
	for _, w := range s.Weights {
		if len(w) != s.Columns+1 {
			return fmt.Errorf("%d weights for %d features and a bias", len(w), s.Columns)
		}
		for _, v := range w {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("a weight is not finite")
			}
		}
	}
	switch {
	case !s.dense():
		if len(s.IDF) != s.Columns {
			return fmt.Errorf("%d document frequencies for %d features", len(s.IDF), s.Columns)
		}
	case s.Width > 0 && s.Width != s.Columns, s.Width == 0 && dimension != s.Columns:
		return fmt.Errorf("%d features do not fit the inputs", s.Columns)
	case len(s.Scaling.Centre) != s.Columns || len(s.Scaling.Scale) != s.Columns:
		return fmt.Errorf("scaling of %d columns for %d features", len(s.Scaling.Centre), s.Columns)
	}
	return nil
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
	s := &dualSolver{
		x: x, rng: rng,
		sign: make([]float64, n), square: make([]float64, n), alpha: make([]float64, n),
		w: make([]float64, x.width()+1), order: make([]int, n),
	}
	row := make([]float64, x.width())
	for i := range n {
		s.order[i] = i
		s.sign[i] = -1
		if labels[i] == positive {
			s.sign[i] = 1
		}
		x.add(i, 1, row)
		s.square[i] = x.dot(i, row) + 1
		x.add(i, -1, row) // back to exactly zero: row held only x_i
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
			projected := g
			if a := s.alpha[i]; a <= 0 {
				if g > upper {
					active--
					s.order[k], s.order[active] = s.order[active], s.order[k]
					k--
					continue
				}
				projected = min(g, 0)
			} else if a >= c {
				if g < lower {
					active--
					s.order[k], s.order[active] = s.order[active], s.order[k]
					k--
					continue
				}
				projected = max(g, 0)
			}
			highest, lowest = max(highest, projected), min(lowest, projected)
			if math.Abs(projected) > 1e-12 {
				old := s.alpha[i]
				s.alpha[i] = min(max(old-g/s.square[i], 0), c)
				step := (s.alpha[i] - old) * y
				s.x.add(i, step, s.w[:bias])
				s.w[bias] += step
			}
		}
		if highest-lowest <= tolerance {
			if active == len(s.order) {
				break
			}
			active = len(s.order)
			upper, lower = math.Inf(1), math.Inf(-1)
			continue
		}
		upper, lower = highest, lowest
		if upper <= 0 {
			upper = math.Inf(1)
		}
		if lower >= 0 {
			lower = math.Inf(-1)
		}
	}
	return nil
}
