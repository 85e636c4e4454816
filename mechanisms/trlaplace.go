package mechanisms

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
)

func init() {
	Register(Definition{
		Name:     "trlaplace",
		Title:    "TrLaplace",
		Source:   "Huang et al. 2024 (EMNLP), Theorem 1",
		Metric:   "discrete",
		Order:    220,
		Variants: []Variant{Printed},
		Epsilons: []float64{0.1, 0.5}, // the source is about the regime below 1
		Parameters: []Parameter{{
			Name: "clip", Default: longestClip, Number: true, Legal: `"longest" or a length > 0`,
			Valid: strictly(0, math.Inf(1)), Words: []string{longestClip},
			Doc: "largest length C of a vector, longer ones are shortened to it; longest is that of the longest vector",
		}},
		New: newTrLaplace,
	})
}

const longestClip = "longest"

// newTrLaplace builds the truncated Laplace mechanism: the vector is shortened
// to length C at most, noise of density ∝ e^{−|x|/b} on [−A, A] is added to
// every coordinate, b = 2C√d/ε and A = −b·ln(1 − 2ε/√d), and the nearest of the
// shortened vectors is returned. A exists for ε < √d/2 only.
//
// The source claims ε-DP. This does not hold: the noisy vectors of two words
// lie in two cubes, and vectors in only one of the cubes are possible for one
// word only. Taking the nearest word hides this partly but does not remove it.
// The source's code adds one noise vector to all words of a batch and shortens
// none.
func newTrLaplace(env Environment, s Settings) (Mechanism, error) {
	length := longestVector(env.Space)
	if clip, ok := s.Parameters["clip"].(float64); ok {
		length = clip
	}
	clipped, err := clippedSpace(env.Space, length)
	if err != nil {
		return nil, err
	}
	env.Space = clipped
	m := &truncatedLaplace{projector: newProjector(env, s, 1)}
	if err := m.CheckEpsilon(s.Epsilon); err != nil {
		return nil, err
	}
	root := math.Sqrt(float64(clipped.Dimension))
	m.noise = func(z []float32, epsilon float64, rng *rand.Rand) {
		b := 2 * length * root / epsilon
		for i := range z {
			// The inverse of the distribution function of |x| on [0, A].
			x := min(-b*math.Log1p(-rng.Float64()*2*epsilon/root), longestNoise)
			if rng.Uint64()&1 == 1 {
				x = -x
			}
			z[i] = float32(x)
		}
	}
	m.guarantee = Guarantee{Reason: "the noise is bounded, so a noisy vector of one word can be impossible for another"}
	return m, nil
}

// truncatedLaplace is a projector that is undefined at some ε.
type truncatedLaplace struct{ *projector }

// CheckEpsilon returns an *UndefinedError from √d/2 on.
func (m *truncatedLaplace) CheckEpsilon(epsilon float64) error {
	largest := math.Sqrt(float64(m.space.Dimension)) / 2
	if epsilon >= largest {
		return &UndefinedError{
			Reason: fmt.Sprintf("epsilon = %v: must be < %.6g, half the root of the %d dimensions",
				epsilon, largest, m.space.Dimension),
			LargestEpsilon: largest,
		}
	}
	return nil
}

type clippedKey struct{ length float64 }

// clippedSpace is the space with vectors shortened to a length, or the space
// itself where none is longer.
func clippedSpace(s *embeddings.Space, length float64) (*embeddings.Space, error) {
	return embeddings.Derive(s, clippedKey{length}, func() (*embeddings.Space, error) {
		vectors := make([]float32, len(s.Vectors))
		copy(vectors, s.Vectors)
		longer := false
		for w := range s.Len() {
			row := vectors[w*s.Dimension : (w+1)*s.Dimension]
			if n := norm(row); n > length {
				longer = true
				for i, x := range row {
					row[i] = float32(float64(x) * length / n)
				}
			}
		}
		if !longer {
			return s, nil
		}
		return embeddings.NewSpace(s.Name+", shortened", s.Vocabulary, s.Dimension, vectors)
	})
}
