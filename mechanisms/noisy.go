package mechanisms

import (
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// Noisy is a mechanism that adds noise to the vector of a word and chooses its
// output from the noisy vector without looking at the word again. Its guarantee
// is one of the noise: in the guarantee's metric the log-density of the noise
// changes by at most ε times the distance of two vectors.
type Noisy interface {
	Mechanism
	// NoisyVectors writes noisy vectors of a word, as they are searched for, to
	// the rows of dst, len(dst) / dimension of them.
	NoisyVectors(dst []float32, word WordID, rng *rand.Rand)
	// Project writes to dst the words that are released for noisy vectors, one a
	// row. It is not told the input word.
	Project(dst []WordID, vectors []float32, rng *rand.Rand)
	// Whiten turns a displacement into one whose Euclidean length is its length
	// in the metric of the guarantee.
	Whiten(z []float64)
}

// NoisyVectors writes noisy vectors of a word; see Noisy.
func (m *projector) NoisyVectors(dst []float32, word WordID, rng *rand.Rand) {
	d := m.space.Dimension
	for len(dst) > 0 {
		n := min(len(dst)/d, batchWords)
		b, outputs := m.newBatch(n), make([]WordID, n)
		for i := range n {
			b.add(word, m.settings.Epsilon, rng, &outputs[i])
		}
		copy(dst, b.queries())
		dst = dst[n*d:]
	}
}

// Project searches for noisy vectors; see Noisy.
func (m *projector) Project(dst []WordID, vectors []float32, rng *rand.Rand) {
	near := make([]nearest.Neighbor, len(dst)*m.neighbors)
	m.index.Search(near, vectors, m.neighbors)
	for i := range dst {
		dst[i] = m.pick(embeddings.Unknown, near[i*m.neighbors:][:m.neighbors], rng.Float64())
	}
}

// Whiten leaves a displacement of Euclidean noise as it is; see Noisy.
func (m *projector) Whiten(z []float64) {
	if m.whiten != nil {
		m.whiten(z)
	}
}

// NoisyVectors writes noisy vectors of a word; see Noisy.
func (m *rankFix) NoisyVectors(dst []float32, word WordID, rng *rand.Rand) {
	m.base.NoisyVectors(dst, word, rng)
}

// Project moves the words of the base by ranks; see Noisy.
func (m *rankFix) Project(dst []WordID, vectors []float32, rng *rand.Rand) {
	m.base.Project(dst, vectors, rng)
	m.move([][]WordID{dst}, nil, []*rand.Rand{rng})
}

// Whiten is that of the base; see Noisy.
func (m *rankFix) Whiten(z []float64) { m.base.Whiten(z) }

// whiten solves L·y = z in place, by forward substitution: ‖y‖ = ‖R^{−1/2}z‖.
func (m *mahalanobisShape) whiten(z []float64) {
	for i := range z {
		row := m.lower[i*(i+1)/2:][:i+1]
		for k := range i {
			z[i] -= row[k] * z[k]
		}
		z[i] /= row[i]
	}
}
