package models

import (
	"math/rand/v2"

	"mldpbench/stream"
)

// topics makes documents whose words come mostly from the topic of their
// label: words [label·per, (label+1)·per), otherwise any word. Word vectors
// are Gaussian around a centre per topic.
func topics(seed uint64, classes, per, dimension int) (Embedding, func(n, length int) Examples) {
	rng := stream.FromUint64(seed).Rand()
	e := Embedding{Dimension: dimension}
	for range classes {
		centre := make([]float64, dimension)
		for j := range centre {
			centre[j] = 0.5 * rng.NormFloat64()
		}
		for range per {
			for j := range dimension {
				e.Vectors = append(e.Vectors, float32(centre[j]+rng.NormFloat64()))
			}
		}
	}
	return e, func(n, length int) Examples {
		var x Examples
		for i := range n {
			label := i % classes
			s := make([]int32, 5+rng.IntN(length))
			for t := range s {
				s[t] = int32(rng.IntN(classes * per))
				if rng.Float64() < 0.5 {
					s[t] = int32(label*per + rng.IntN(per))
				}
			}
			x.Sequences = append(x.Sequences, s)
			x.Labels = append(x.Labels, label)
		}
		return x
	}
}

// clouds are Gaussian clouds, one per class.
func clouds(rng *rand.Rand, n, classes, dimension int, distance float64) Examples {
	var x Examples
	for i := range n {
		label := i % classes
		v := make([]float32, dimension)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		v[label%dimension] += float32(distance)
		x.Vectors = append(x.Vectors, v)
		x.Labels = append(x.Labels, label)
	}
	return x
}
