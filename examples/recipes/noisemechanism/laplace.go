// Package noisemechanism is a template: copy it, and import it in cmd/mldp.
package noisemechanism

import (
	"math"
	"math/rand/v2"

	"mldpbench/mechanisms"
)

func init() {
	mechanisms.Register(mechanisms.Definition{
		Name:     "laplace",
		Title:    "Laplace",
		Source:   "Dwork et al. 2006 (Laplace mechanism), nearest word",
		Metric:   "euclidean",
		Order:    992,
		Variants: []mechanisms.Variant{mechanisms.Proved},
		Drawn:    true,
		New:      newLaplace,
	})
}

// newLaplace adds Laplace noise of scale √p/ε to each of p coordinates and returns the nearest word. The log-density
// changes by at most (ε/√p)·‖x−y‖₁, which is at most ε·‖x−y‖₂.
func newLaplace(env mechanisms.Environment, s mechanisms.Settings) (*mechanisms.Mechanism, error) {
	g := mechanisms.Guarantee{
		Metric:           "euclidean",
		Epsilon:          s.Epsilon,
		EuclideanEpsilon: s.Epsilon,
		Distance:         env.Space.Distance,
		Reason:           "the noise is ε·d-private and the nearest word is post-processing",
	}
	scale := math.Sqrt(float64(env.Space.Dimension)) / s.Epsilon
	noise := func(z []float64, rng *rand.Rand) {
		for i := range z {
			z[i] = scale * rng.ExpFloat64()
			if rng.IntN(2) == 0 {
				z[i] = -z[i]
			}
		}
	}
	return mechanisms.ByNoise(s, g, mechanisms.Noise{Space: env.Space, Draw: noise}), nil
}
