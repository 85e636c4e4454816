package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
)

// Names of distances between words that mechanisms take as a parameter.
const (
	euclideanMetric  = "euclidean"
	normalizedMetric = "normalized euclidean"
	angularMetric    = "angular"
)

// metricParameter lets a mechanism choose its distance.
var metricParameter = Parameter{
	Name: "metric", Default: euclideanMetric, Legal: `"euclidean", "normalized euclidean" or "angular"`,
	Words:    []string{euclideanMetric, normalizedMetric, angularMetric},
	Doc:      "distance in which epsilon counts; normalized: of vectors of length 1; angular: the angle divided by π",
	Variants: []Variant{Proved}, Optional: true,
}

// wordMetric is a distance between the words of a space.
type wordMetric struct {
	name  string
	space *embeddings.Space // whose Euclidean distances equal this distance or are converted into it
	// convert turns a row of Euclidean distances from one word into distances;
	// nil leaves them unchanged.
	convert  func(row []float64, word WordID)
	distance func(a, b WordID) float64
}

// metricOf returns the distance that a mechanism's parameters choose.
//
//   - euclidean: ‖φ(w)−φ(u)‖.
//   - normalized euclidean: that of the vectors divided by their lengths, in
//     float32. A vector of zeros is left unchanged.
//   - angular: arccos(cos(w,u))/π, in [0, 1]. A vector of zeros has no
//     direction: its distance is 1/2 to all others and 0 to another vector of
//     zeros, which preserves the triangle inequality.
//
// 1 − cos is not offered: it violates the triangle inequality, and with it the
// proof of every mechanism here.
func metricOf(s *embeddings.Space, p Parameters) (*wordMetric, error) {
	name, given := p[metricParameter.Name].(string)
	if !given {
		name = euclideanMetric
	}
	if err := check.OneOf("metric", name, metricParameter.Words...); err != nil {
		return nil, err
	}
	if name == euclideanMetric {
		return &wordMetric{name, s, nil, s.Distance}, nil
	}
	u, err := unitSpaceOf(s)
	if err != nil {
		return nil, err
	}
	m := &wordMetric{name, u.Space, nil, u.Distance}
	if name == angularMetric {
		m.convert = func(row []float64, word WordID) {
			for y := range s.Len() {
				row[y] = u.angle(row[y], word, WordID(y))
			}
		}
		m.distance = func(a, b WordID) float64 { return u.angle(u.Distance(a, b), a, b) }
	}
	return m, nil
}

// guarantee returns ε times the metric for all pairs of words.
func (m *wordMetric) guarantee(epsilon float64, reason string) Guarantee {
	g := Guarantee{Metric: m.name, Epsilon: epsilon, Reason: reason, Distance: m.distance}
	if m.name == euclideanMetric {
		g.EuclideanEpsilon = epsilon
	}
	return g
}

// selector is newDistanceSelector with this distance.
func (m *wordMetric) selector(s Settings, g Guarantee, law func(epsilon float64) distanceLaw) Mechanism {
	if m.convert == nil {
		return newDistanceSelector(s, g, m.space, law)
	}
	return newFullSelector(s, g, m.space, law, m.convert)
}

// unitSpace holds vectors of length 1, up to float32, and their true lengths.
type unitSpace struct {
	*embeddings.Space
	norms []float64
}

type unitKey struct{}

func unitSpaceOf(s *embeddings.Space) (*unitSpace, error) {
	return embeddings.Derive(s, unitKey{}, func() (*unitSpace, error) {
		d := s.Dimension
		vectors := make([]float32, len(s.Vectors))
		for w := range s.Len() {
			from, to := s.Vectors[w*d:(w+1)*d], vectors[w*d:(w+1)*d]
			if n := norm(from); n > 0 {
				for i, x := range from {
					to[i] = float32(float64(x) / n)
				}
			}
		}
		unit, err := embeddings.NewSpace(s.Name+", normalized", s.Vocabulary, d, vectors)
		if err != nil {
			return nil, fmt.Errorf("normalizing: %w", err)
		}
		u := &unitSpace{Space: unit, norms: make([]float64, s.Len())}
		for w := range u.norms {
			u.norms[w] = norm(vectors[w*d : (w+1)*d])
		}
		return u, nil
	})
}

func norm(v []float32) float64 {
	var squares float64
	for _, x := range v {
		squares += float64(float64(x) * float64(x))
	}
	return math.Sqrt(squares)
}

// angle is the angle between two words, divided by π, from the distance c of
// their unit vectors: sin²(θ/2) = (c² − (‖a‖−‖b‖)²)/(4‖a‖‖b‖), which stays
// accurate at small angles, where the arc cosine does not, and tolerates
// lengths that are 1 only up to float32.
func (u *unitSpace) angle(c float64, a, b WordID) float64 {
	na, nb := u.norms[a], u.norms[b]
	switch {
	case a == b || na == 0 && nb == 0:
		return 0
	case na == 0 || nb == 0:
		return 0.5
	}
	square := (c - (na - nb)) * (c + (na - nb)) / (4 * na * nb)
	return 2 * math.Asin(math.Sqrt(min(max(square, 0), 1))) / math.Pi
}

// DistanceOf returns a distance between the words of a space by the name that
// Guarantee.Metric and Definition.Metric give it: "euclidean", "normalized
// euclidean", "angular", "discrete" or "mahalanobis", that of the default λ. The
// other metrics exist only for an instance of a mechanism.
func DistanceOf(s *embeddings.Space, metric string) (func(a, b WordID) float64, error) {
	if metric == "discrete" {
		return discrete, nil
	}
	if metric == "mahalanobis" {
		shape, err := mahalanobisShapeOf(s, defaultLambda)
		if err != nil {
			return nil, err
		}
		return func(a, b WordID) float64 { return shape.distance(s.Vector(a), s.Vector(b)) }, nil
	}
	m, err := metricOf(s, Parameters{metricParameter.Name: metric})
	if err != nil {
		return nil, fmt.Errorf("metric = %q: must be %q, %q, %q, %q or %q",
			metric, euclideanMetric, normalizedMetric, angularMetric, "discrete", "mahalanobis")
	}
	return m.distance, nil
}
