package mechanisms

import (
	"errors"
	"math"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
)

// In one dimension the Poincaré ball is a line: d_H(a, b) = 2·|artanh a − artanh b|.
func TestHyperbolicOnALine(t *testing.T) {
	line := spacetest.New(t, 1, []float32{0, 0.5, -0.9, 0.99999})
	env := Environment{Space: spacetest.Ball(t, line)}
	at := func(w WordID) float64 { return 2 * math.Atanh(float64(env.Space.Vector(w)[0])) }
	weights := make([]float64, 4)
	for y := range weights {
		weights[y] = math.Exp(-1.5 / 2 * math.Abs(at(1)-at(WordID(y))))
	}
	m := requireLaw(t, env, Settings{Mechanism: "hyperbolic", Epsilon: 1.5}, "w1", weights...)
	for a := range WordID(4) {
		for b := range WordID(4) {
			want := math.Abs(at(a) - at(b))
			if got := m.Guarantee().Distance(a, b); math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("the distance of words %d and %d is %v, want %v", a, b, got, want)
			}
		}
	}
}

// The distance is that of the textbook, symmetric, and keeps the triangle inequality.
func TestHyperbolicDistance(t *testing.T) {
	s := spacetest.Ball(t, spacetest.Gaussian(t, 15, 3, 1, 68))
	d := mustNew(t, Environment{Space: s}, Settings{Mechanism: "hyperbolic", Epsilon: 1}).Guarantee().Distance
	norms := normsOf(s)
	for a := range WordID(15) {
		for b := range WordID(15) {
			squared := s.Distance(a, b) * s.Distance(a, b)
			want := math.Acosh(1 + 2*squared/((1-norms[a]*norms[a])*(1-norms[b]*norms[b])))
			if math.Abs(d(a, b)-want) > 1e-9 || d(a, b) != d(b, a) {
				t.Errorf("d(%d, %d) = %v, d(%d, %d) = %v, want %v", a, b, d(a, b), b, a, d(b, a), want)
			}
			for c := range WordID(15) {
				if d(a, c) > d(a, b)+d(b, c)+1e-12 {
					t.Errorf("d(%d, %d) = %v is above %v by word %d", a, c, d(a, c), d(a, b)+d(b, c), b)
				}
			}
		}
	}
}

// Vectors of another geometry are refused, and a vector outside the ball is.
func TestHyperbolicNeedsTheBall(t *testing.T) {
	s := spacetest.New(t, 1, []float32{0, 0.5})
	_, err := New(Environment{Space: s}, Settings{Mechanism: "hyperbolic", Epsilon: 1})
	var undefined *UndefinedError
	if !errors.As(err, &undefined) {
		t.Errorf("vectors called %q: error %v, want that it is undefined", s.Name, err)
	}
	for _, x := range []float32{1, -1.5} {
		_, err := embeddings.NewSpace("wordnet.Poincare.1d", s.Vocabulary, 1, []float32{0, x})
		if err == nil || !strings.Contains(err.Error(), `the vector of "w1" has length`) {
			t.Errorf("a vector %v of the Poincaré ball: error %v, want its word", x, err)
		}
	}
}
