package mechanisms

import (
	"fmt"
	"math"

	"mldpbench/embeddings/nearest"
	"mldpbench/internal/params"
)

// mostNeighbors bounds k of the generalised mechanisms.
const mostNeighbors = 64

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "vickrey-k",
		Title:    "Generalised Vickrey",
		Source:   "Xu et al. 2021b, Algorithm 3",
		Metric:   "euclidean",
		Order:    31,
		Variants: []Variant{Proved},
		Parameters: []Parameter{{
			Name:    "t",
			Default: []float64{1, 1},
			Legal:   "a list of 1 to 64 numbers >= 0",
			Valid:   params.Between(0, math.Inf(1)),
			Doc:     "t_r for the r-th nearest word, drawn with probability ∝ exp(-t_r·a_r); its length is k",
		}},
		Drawn:   true,
		Chooses: true,
		New:     newVickreyK,
	})
	Register(Definition{
		Name:     "kth",
		Title:    "k-th neighbour",
		Source:   "Xu et al. 2021b, Figure 3",
		Metric:   "euclidean",
		Order:    32,
		Variants: []Variant{Proved},
		Parameters: []Parameter{{
			Name:    "k",
			Default: 2.0,
			Legal:   "a whole number in [1, 64], at most the number of words",
			Valid:   params.Whole(1, mostNeighbors),
			Doc:     "the k-th nearest word of the noisy vector is returned; 1 is CMP",
		}},
		Drawn: true,
		New:   newKth,
	})
}

// newVickreyK builds the generalised Vickrey mechanism over all of W: of the k
// nearest words of the noisy vector, at distances a_r, the r-th is returned
// with probability ∝ exp(−t_r·a_r). Where the space has fewer than k words, the
// choice is among all of them.
func newVickreyK(env Environment, s Settings) (*Mechanism, error) {
	t := s.Parameters["t"].([]float64)
	if len(t) < 1 || len(t) > mostNeighbors {
		return nil, fmt.Errorf("t has %d numbers: must be 1 to %d", len(t), mostNeighbors)
	}
	weights := func(p []float64, _ WordID, near []nearest.Neighbor) {
		// The smallest cost is subtracted so that one weight is 1.
		least := math.Inf(1)
		for r, a := range near {
			p[r] = t[r] * a.Distance
			least = min(least, p[r])
		}
		for r := range near {
			p[r] = math.Exp(least - p[r])
		}
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, chosenAmongNearest)
	return ByNoise(s, g, Noise{
		Space:     env.Space,
		Neighbors: min(len(t), env.Space.Len()),
		Weights:   weights,
	}), nil
}

// newKth builds the deterministic k-th neighbour over all of W.
func newKth(env Environment, s Settings) (*Mechanism, error) {
	k := s.Parameters["k"].(float64)
	if n := env.Space.Len(); k > float64(n) {
		return nil, fmt.Errorf("k = %v: must be at most the number of words, %d", k, n)
	}
	weights := func(p []float64, _ WordID, _ []nearest.Neighbor) { p[len(p)-1] = 1 }
	g := euclideanGuarantee(env.Space, s.Epsilon,
		"the noise is ε·d-private and its k-th nearest word is post-processing")
	return ByNoise(s, g, Noise{
		Space:     env.Space,
		Neighbors: int(k),
		Weights:   weights,
	}), nil
}
