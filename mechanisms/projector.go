package mechanisms

import (
	"context"
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/kernel"
	"mldpbench/internal/list"
)

// batchWords is the number of noisy vectors searched for at once.
const batchWords = 2048

// projector is the noise-and-project family: add noise to the vector of a word,
// find the words nearest to the sum, choose one of them. Everything after the
// addition is post-processing of the noisy vector, so a guarantee of the noise
// is a guarantee of the mechanism, as long as search and choice do not look at
// the input word again.
type projector struct {
	epsilon float64
	space   *embeddings.Space
	index   *nearest.Index

	// shape has the rows of a matrix by which spherical noise is multiplied; nil
	// leaves it.
	shape *kernel.Panels
	// whiten turns displacements into the metric of the guarantee; nil leaves
	// them.
	whiten func(z []float64)
	// neighbors is the number of nearest words passed to among.
	neighbors int
	// among returns those of the neighbours (nearest first) that the output is drawn
	// from, writes their weights to p and returns the sum; nil takes the nearest and
	// draws nothing.
	among func(p []float64, word WordID, near []nearest.Neighbor) ([]nearest.Neighbor, float64)

	// radius bounds the norm of a noisy vector, see pullBack.
	radius float64
}

func newProjector(space *embeddings.Space, epsilon float64, neighbors int) *projector {
	return &projector{epsilon: epsilon, space: space, index: nearest.Of(space), neighbors: neighbors,
		radius: noisyRadius(longestVector(space))}
}

// mechanism is the projector with a guarantee, which is one of its noise where it
// holds.
func (m *projector) mechanism(s Settings, g Guarantee) *Mechanism {
	out := &Mechanism{settings: s, guarantee: g, vocabulary: m.space.Vocabulary, sampler: m}
	if g.Holds() {
		out.noise = &Noise{m.noisyVectors, m.whiten}
	}
	if m.among != nil {
		out.choices = m.choices
	}
	return out
}

// Noise is that of a mechanism that adds it to the vector of a word and chooses
// its output from the noisy vector without looking at the word again. The
// guarantee is one of the noise: in its metric the log-density of the noise
// changes by at most ε times the distance of two vectors.
type Noise struct {
	// Vectors writes noisy vectors of a word, as they are searched for, to the
	// rows of dst, len(dst) / dimension of them.
	Vectors func(dst []float32, word WordID, rng *rand.Rand)
	// Whiten turns a displacement into one whose Euclidean length is its length
	// in the metric of the guarantee; nil leaves it as it is.
	Whiten func(z []float64)
}

func (m *projector) noisyVectors(dst []float32, word WordID, rng *rand.Rand) {
	d := m.space.Dimension
	for len(dst) > 0 {
		n := min(len(dst)/d, batchWords)
		b, outputs := m.newBatch(n), make([]WordID, n)
		for i := range n {
			b.add(word, m.epsilon, rng, &outputs[i])
		}
		copy(dst, b.queries())
		dst = dst[n*d:]
	}
}

func (m *projector) whole() bool { return false }

// draw searches for the words of all documents together.
func (m *projector) draw(ctx context.Context, documents []Document, _ int) error {
	words := list.Sum(documents, func(x Document) int { return len(x.Words) })
	b := m.newBatch(min(words, batchWords))
	for _, x := range documents {
		for i, w := range x.Words {
			b.add(w, x.Epsilon, x.Rand, &x.Words[i])
			if len(b.words) == cap(b.words) {
				if err := ctx.Err(); err != nil {
					return err
				}
				b.flush()
			}
		}
	}
	b.flush()
	return nil
}

// batch collects noise until there is enough for one search.
type batch struct {
	m        *projector
	words    []WordID
	outputs  []*WordID
	uniforms []float64
	noisy    []float32 // vectors of the words plus noise, where it has no shape
	near     []nearest.Neighbor
	weights  []float64 // of the neighbours of one
	noise    []float64 // of the words, where it has a shape; else of one
}

func (m *projector) newBatch(words int) *batch {
	b := &batch{
		m:        m,
		words:    make([]WordID, 0, words),
		outputs:  make([]*WordID, 0, words),
		uniforms: make([]float64, 0, words),
		noisy:    make([]float32, words*m.space.Dimension),
		near:     make([]nearest.Neighbor, words*m.neighbors),
		weights:  make([]float64, m.neighbors),
		noise:    make([]float64, m.space.Dimension),
	}
	if m.shape != nil {
		b.noise = make([]float64, len(b.noisy))
	}
	return b
}

// add draws everything one word needs, in a fixed order.
func (b *batch) add(w WordID, epsilon float64, rng *rand.Rand, output *WordID) {
	d := b.m.space.Dimension
	if at := len(b.words) * d; b.m.shape == nil {
		addSphericalNoise(b.noisy[at:at+d], b.m.space.Vector(w), b.noise, epsilon, rng)
	} else {
		sphericalNoise(b.noise[at:at+d], epsilon, rng)
	}
	var u float64
	if b.m.among != nil {
		u = rng.Float64()
	}
	b.words = append(b.words, w)
	b.outputs = append(b.outputs, output)
	b.uniforms = append(b.uniforms, u)
}

// queries returns the noisy vectors. Noise that has a shape is multiplied and
// added in float64, and the sum rounded once.
func (b *batch) queries() []float32 {
	m, d := b.m, b.m.space.Dimension
	if m.shape != nil {
		shaped := make([]float64, kernel.PairRows*m.shape.Stride())
		for start := 0; start < len(b.words); start += kernel.PairRows {
			words := b.words[start:min(start+kernel.PairRows, len(b.words))]
			var rows [kernel.PairRows][]float64
			for i := range words {
				rows[i] = b.noise[(start+i)*d:][:d]
			}
			m.shape.InnerProducts64(shaped, rows[:len(words)]...)
			for i, w := range words {
				row := b.noisy[(start+i)*d:][:d]
				for j, x := range m.space.Vector(w) {
					row[j] = float32(float64(x) + shaped[i*m.shape.Stride()+j])
				}
			}
		}
	}
	q := b.noisy[:len(b.words)*d]
	for i := range b.words {
		m.pullBack(q[i*d:][:d])
	}
	return q
}

func (b *batch) flush() {
	m, n := b.m, len(b.words)
	if n == 0 {
		return
	}
	queries := b.queries()
	near := b.near[:n*m.neighbors]
	m.index.Search(near, queries, m.neighbors)
	for i, w := range b.words {
		*b.outputs[i] = b.pick(w, near[i*m.neighbors:][:m.neighbors], b.uniforms[i])
	}
	b.words, b.outputs, b.uniforms = b.words[:0], b.outputs[:0], b.uniforms[:0]
}

// pick chooses the output among the neighbours of a noisy vector by u, uniform on
// [0, 1).
func (b *batch) pick(w WordID, near []nearest.Neighbor, u float64) WordID {
	if b.m.among == nil {
		return near[0].ID
	}
	near, sum := b.m.among(b.weights, w, near)
	last := len(near) - 1
	u *= sum
	for r, a := range near[:last] {
		if u < b.weights[r] {
			return a.ID
		}
		u -= b.weights[r]
	}
	return near[last].ID
}

// choices are those among the neighbours.
func (m *projector) choices(words []WordID, rng *rand.Rand) Choices {
	b, k := m.newBatch(len(words)), m.neighbors
	for _, w := range words {
		b.add(w, m.epsilon, rng, nil)
	}
	near := b.near // the rest is large, and not kept
	m.index.Search(near, b.queries(), k)
	return func(i int, take func(WordID, float64)) {
		p := make([]float64, k)
		among, sum := m.among(p, words[i], near[i*k:][:k])
		for r, a := range among {
			take(a.ID, p[r]/sum)
		}
	}
}

// noisyRadius is a million times the longest word vector; see pullBack.
func noisyRadius(longest float64) float64 { return 1e6 * (1 + longest) }

// pullBack moves a noisy vector beyond a million times the longest word vector
// onto that sphere along its ray. It depends on the noisy vector alone, so it
// is post-processing; it keeps distances comparable in float64 at absurdly
// small ε, where the nearest word depends on the direction only.
func (m *projector) pullBack(v []float32) {
	if norm(v) > m.radius {
		kernel.SetNorm(v, m.radius)
	}
}

type longestKey struct{}

// longestVector is the largest Euclidean norm of the space's vectors.
func longestVector(s *embeddings.Space) float64 {
	return embeddings.Once(s, longestKey{}, func() float64 {
		zero := make([]float32, s.Dimension)
		longest := 0.0
		for id := range WordID(s.Len()) {
			longest = max(longest, embeddings.Euclidean(zero, s.Vector(id)))
		}
		return longest
	})
}

// euclideanGuarantee returns ε·d with d the space's Euclidean distance.
func euclideanGuarantee(s *embeddings.Space, epsilon float64, reason string) Guarantee {
	return Guarantee{Metric: "euclidean", Epsilon: epsilon, EuclideanEpsilon: epsilon, Distance: s.Distance,
		Reason: reason}
}
