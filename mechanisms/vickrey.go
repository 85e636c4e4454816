package mechanisms

import (
	"math"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "vickrey",
		Title:    "Vickrey",
		Source:   "Xu et al. 2021b, Algorithm 2",
		Metric:   "euclidean",
		Order:    30,
		Variants: []Variant{Proved, Released, AsRun},
		Parameters: []Parameter{{
			Name:     "t",
			Default:  0.5,
			Legal:    "in [0, 1]",
			Valid:    params.Between(0, 1),
			Variants: []string{string(Proved)},
			Doc:      "how far the choice leans to the second nearest word; 0 is CMP",
		}},
		Drawn:   true,
		Chooses: true,
		New:     newVickrey,
	})
}

// newVickrey builds the Vickrey mechanism with k = 2.
//
//   - Proved: neighbours over all of W.
//   - Released: three neighbours are fetched, w is dropped when it is the very
//     nearest, and the first of the two left, at distance a, is drawn with
//     probability e^{−a}/(e^{−a}+1).
func newVickrey(env Environment, s Settings) (*Mechanism, error) {
	if s.Variant == AsRun {
		return newAsRunVickrey(env, s)
	}
	if s.Variant == Released {
		g := Guarantee{Reason: "the neighbours depend on the input word: it is dropped when it is the nearest, " +
			"which is not post-processing of the noisy vector"}
		return ByNoise(s, g, Noise{
			Space:     env.Space,
			Neighbors: 3,
			Weights:   releasedVickrey,
		}), nil
	}
	t := s.Parameters["t"].(float64)
	weights := func(p []float64, _ WordID, near []nearest.Neighbor) {
		oneOfTwo(p, near, func(a, b float64) float64 { return firstPrice(t, a, b) })
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, chosenAmongNearest)
	return ByNoise(s, g, Noise{
		Space:     env.Space,
		Neighbors: 2,
		Weights:   weights,
	}), nil
}

const chosenAmongNearest = "the noise is ε·d-private and the choice among its nearest words is post-processing"

// firstPrice returns the probability of the first of two neighbours at
// distances a1 ≤ a2: (1−t)·a2 / (t·a1 + (1−t)·a2) (Xu et al. 2021b, eq. 3).
func firstPrice(t, a1, a2 float64) float64 {
	switch {
	case a2 == 0:
		return 1 - t // the limit for equal distances
	case a1 == 0:
		return 1 // the limit of a1 → 0 at any t < 1
	}
	return (1 - t) * a2 / (t*a1 + (1-t)*a2)
}

// oneOfTwo writes the probabilities of the first two neighbours, that of the first
// given by their distances; where there is one only, it is certain.
func oneOfTwo(p []float64, near []nearest.Neighbor, first func(a1, a2 float64) float64) {
	if near[1].ID == embeddings.Unknown {
		p[0] = 1
		return
	}
	p[0] = first(near[0].Distance, near[1].Distance)
	p[1] = 1 - p[0]
}

// releasedVickrey drops the word where it is the nearest.
func releasedVickrey(p []float64, w WordID, near []nearest.Neighbor) {
	if near[0].ID == w && near[1].ID != embeddings.Unknown { // a vocabulary of one word has no neighbour
		p = p[1:]
		near = near[1:]
	}
	oneOfTwo(p, near, func(a, _ float64) float64 {
		weight := math.Exp(-a)
		return weight / (weight + 1)
	})
}
