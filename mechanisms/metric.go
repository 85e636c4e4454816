package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings"
)

func norm(v []float32) float64 {
	var squares float64
	for _, x := range v {
		squares += float64(float64(x) * float64(x))
	}
	return math.Sqrt(squares)
}

// DistanceOf returns a distance between the words of a space by the name that
// Guarantee.Metric and Definition.Metric give it: "euclidean", "discrete" or
// "mahalanobis", that of the default λ. The other metrics exist only for an
// instance of a mechanism.
func DistanceOf(s *embeddings.Space, metric string) (func(a, b WordID) float64, error) {
	switch metric {
	case "euclidean":
		return s.Distance, nil
	case "discrete":
		return Discrete, nil
	case "mahalanobis":
		shape, err := mahalanobisShapeOf(s, mahalanobisKey{lambda: defaultLambda})
		if err != nil {
			return nil, err
		}
		return func(a, b WordID) float64 {
			return shape.distance(s.Vector(a), s.Vector(b))
		}, nil
	}
	return nil, fmt.Errorf("metric = %q: must be %q, %q or %q", metric, "euclidean", "discrete", "mahalanobis")
}
