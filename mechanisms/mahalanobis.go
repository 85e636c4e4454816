package mechanisms

import (
	"math"

	"mldpbench/internal/params"
)

// defaultLambda is that of the source.
const defaultLambda = 0.2

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "mahalanobis",
		Title:    "Mahalanobis",
		Source:   "Xu et al. 2020, Algorithm 1",
		Metric:   "mahalanobis",
		Order:    20,
		Variants: []Variant{Proved, Released, AsRun},
		Parameters: []Parameter{{
			Name:    "lambda",
			Default: defaultLambda,
			Legal:   "in [0, 1]",
			Valid:   params.Between(0, 1),
			Doc:     "share of the covariance in the shape of the noise; 0 is CMP",
		}},
		Drawn: true,
		New:   newMahalanobis,
	})
}

// newMahalanobis builds the regularised Mahalanobis mechanism: noise of density
// ∝ exp(−ε·‖R^{−1/2} z‖) with R = λΣ + (1−λ)I and Σ the sample covariance of
// the space scaled to trace p, then the nearest word by Euclidean distance. It
// guarantees ε·d_R, d_R(w,u) = ‖R^{−1/2}(φ(w)−φ(u))‖, which is not ε·d: along
// directions of little variance d_R exceeds d.
//
//   - Released: Σ is divided by the variance of all numbers together, as mldp-text
//     0.1.2 does. The guarantee is ε·d_R by this R, in which d_R is longer.
func newMahalanobis(env Environment, s Settings) (*Mechanism, error) {
	lambda := s.Parameters["lambda"].(float64)
	if s.Variant == AsRun {
		return newAsRunCMP(env, s)
	}
	shape, err := mahalanobisShapeOf(env.Space, mahalanobisKey{lambda: lambda, released: s.Variant == Released})
	if err != nil {
		return nil, err
	}
	reason := "the noise is private for the distance after whitening with R and the nearest word is post-processing"
	if s.Variant == Released {
		reason += "; R has less of the covariance than the source's, so that this distance is longer than the source's"
	}
	g := Guarantee{
		Metric:           "mahalanobis",
		Epsilon:          s.Epsilon,
		EuclideanEpsilon: s.Epsilon / math.Sqrt(shape.smallest),
		Reason:           reason,
		Distance: func(a, b WordID) float64 {
			return shape.distance(env.Space.Vector(a), env.Space.Vector(b))
		},
	}
	return ByNoise(s, g, Noise{
		Space:  env.Space,
		Shape:  shape.rows,
		Whiten: shape.whiten,
	}), nil
}
