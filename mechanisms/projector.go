package mechanisms

import (
	"context"
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/kernel"
)

// Noise describes a mechanism that adds noise to the vector of a word, finds the
// words nearest to the sum, and returns one of them. Everything after the addition is
// post-processing of the noisy vector, so a guarantee of the noise is a guarantee of
// the mechanism, as long as Weights does not look at the word.
type Noise struct {
	Space *embeddings.Space
	// Draw writes noise to z, Space.Dimension numbers, all randomness that of rng;
	// nil draws spherical noise of density ∝ exp(−ε‖z‖), ε that of the settings.
	Draw func(z []float64, rng *rand.Rand)
	// Shape has the rows of a matrix, Dimension × Dimension, by which noise is
	// multiplied; nil leaves it.
	Shape []float32
	// Whiten turns a displacement into one whose Euclidean length is its length in
	// the metric of the guarantee; nil leaves it as it is.
	Whiten func(z []float64)
	// Neighbors is the number of nearest words that Weights gets; 0 means 1.
	Neighbors int
	// Weights writes how likely each of the neighbours of a noisy vector is returned,
	// up to a factor, to weights, where there are zeros; nil returns the nearest.
	// Neighbours are nearest first, ties by the smaller id, then Unknown ones where
	// the space has fewer words, which must keep 0.
	Weights func(weights []float64, word WordID, near []nearest.Neighbor)
}

// VectorNoise is what can be seen of the noise of a mechanism. The guarantee is one
// of the noise: in its metric the log-density of the noise changes by at most ε times
// the distance of two vectors.
type VectorNoise struct {
	// Vectors writes noisy vectors of a word, as they are searched for, to the
	// rows of dst, len(dst) / dimension of them.
	Vectors func(dst []float32, word WordID, rng *rand.Rand)
	// Whiten is that of Noise.
	Whiten func(z []float64)
}

// ByNoise makes a mechanism of noise, at the ε of s. A guarantee that holds is one
// of the noise.
func ByNoise(s Settings, g Guarantee, x Noise) *Mechanism {
	p := newProjector(x, s.Epsilon)
	m := &Mechanism{
		settings:   s,
		guarantee:  g,
		vocabulary: x.Space.Vocabulary,
		sampler:    p,
	}
	if g.Holds() {
		m.noise = &VectorNoise{p.noisyVectors, x.Whiten}
	}
	if x.Weights != nil {
		m.choices = p.choices
	}
	return m
}

// batchWords is the number of noisy vectors searched for at once.
const batchWords = 2048

// projector draws from Noise.
type projector struct {
	Noise
	epsilon float64 // of noise that is not drawn by Draw
	index   *nearest.Index
	shape   *kernel.Panels // nil without one
	radius  float64        // bounds the norm of a noisy vector, see pullBack
}

func newProjector(x Noise, epsilon float64) *projector {
	x.Neighbors = max(1, x.Neighbors)
	p := &projector{
		Noise:   x,
		epsilon: epsilon,
		index:   nearest.Of(x.Space),
		radius:  noisyRadius(x.Space.Longest()),
	}
	if x.Shape != nil {
		p.shape = kernel.PackPanels(x.Shape, x.Space.Dimension)
	}
	return p
}

// noise writes noise without its shape to z.
func (m *projector) noise(z []float64, rng *rand.Rand) {
	if m.Draw == nil {
		sphericalNoise(z, m.epsilon, rng)
		return
	}
	m.Draw(z, rng)
	for i, x := range z {
		z[i] = min(max(x, -longestNoise), longestNoise)
	}
}

// noisyVectors is VectorNoise.Vectors.
func (m *projector) noisyVectors(dst []float32, word WordID, rng *rand.Rand) {
	d := m.Space.Dimension
	for len(dst) > 0 {
		n := min(len(dst)/d, batchWords)
		b := m.newBatch(n)
		outputs := make([]WordID, n)
		for i := range n {
			b.add(word, rng, &outputs[i])
		}
		copy(dst, b.queries())
		dst = dst[n*d:]
	}
}

func (m *projector) whole() bool { return false }

// draw searches for the words of all documents together.
func (m *projector) draw(ctx context.Context, documents []document, _ int) error {
	words := 0
	for _, x := range documents {
		words += len(x.words)
	}
	b := m.newBatch(min(words, batchWords))
	for _, x := range documents {
		for i, w := range x.words {
			b.add(w, x.rng, &x.words[i])
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

// newBatch has room for so many words.
func (m *projector) newBatch(words int) *batch {
	b := &batch{
		m:        m,
		words:    make([]WordID, 0, words),
		outputs:  make([]*WordID, 0, words),
		uniforms: make([]float64, 0, words),
		noisy:    make([]float32, words*m.Space.Dimension),
		near:     make([]nearest.Neighbor, words*m.Neighbors),
		weights:  make([]float64, m.Neighbors),
		noise:    make([]float64, m.Space.Dimension),
	}
	if m.shape != nil {
		b.noise = make([]float64, len(b.noisy))
	}
	return b
}

// add draws everything one word needs, in a fixed order. Noise is added in float64:
// the nearest word is thus searched for the exact sum, rounded to float32 once. That
// rounding is post-processing; a sum of numbers that were rounded before would lie on
// a grid that reveals the vector (Mironov 2012).
func (b *batch) add(w WordID, rng *rand.Rand, output *WordID) {
	m := b.m
	at := len(b.words)
	if m.shape != nil {
		m.noise(rowAt(b.noise, at, m.Space.Dimension), rng)
	} else {
		m.noise(b.noise, rng)
		sum := rowAt(b.noisy, at, m.Space.Dimension)
		for i, x := range m.Space.Vector(w) {
			sum[i] = float32(float64(x) + b.noise[i])
		}
	}
	var u float64
	if m.Weights != nil {
		u = rng.Float64()
	}
	b.words = append(b.words, w)
	b.outputs = append(b.outputs, output)
	b.uniforms = append(b.uniforms, u)
}

// rowAt is the i-th row of a matrix with d columns.
func rowAt[T any](matrix []T, i, d int) []T { return matrix[i*d : (i+1)*d] }

// queries returns the noisy vectors.
func (b *batch) queries() []float32 {
	if b.m.shape != nil {
		b.addShaped()
	}
	d := b.m.Space.Dimension
	for i := range b.words {
		b.m.pullBack(rowAt(b.noisy, i, d))
	}
	return b.noisy[:len(b.words)*d]
}

// addShaped adds noise that has a shape, multiplied and added in float64, and the
// sum rounded once.
func (b *batch) addShaped() {
	m := b.m
	d := m.Space.Dimension
	shaped := make([]float64, kernel.PairRows*m.shape.Stride())
	for start := 0; start < len(b.words); start += kernel.PairRows {
		words := b.words[start:min(start+kernel.PairRows, len(b.words))]
		var rows [kernel.PairRows][]float64
		for i := range words {
			rows[i] = rowAt(b.noise, start+i, d)
		}
		m.shape.InnerProducts64(shaped, rows[:len(words)]...)
		for i, w := range words {
			sum := rowAt(b.noisy, start+i, d)
			noise := rowAt(shaped, i, m.shape.Stride())
			for j, x := range m.Space.Vector(w) {
				sum[j] = float32(float64(x) + noise[j])
			}
		}
	}
}

// flush searches for the words collected and writes their outputs.
func (b *batch) flush() {
	m := b.m
	n := len(b.words)
	if n == 0 {
		return
	}
	queries := b.queries()
	near := b.near[:n*m.Neighbors]
	m.index.Search(near, queries, m.Neighbors)
	for i, w := range b.words {
		*b.outputs[i] = b.pick(w, rowAt(near, i, m.Neighbors), b.uniforms[i])
	}
	b.words = b.words[:0]
	b.outputs = b.outputs[:0]
	b.uniforms = b.uniforms[:0]
}

// weigh fills weights for the neighbours of a noisy vector of a word and returns
// their sum.
func (m *projector) weigh(weights []float64, word WordID, near []nearest.Neighbor) float64 {
	clear(weights)
	m.Weights(weights, word, near)
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	return sum
}

// pick chooses the output among the neighbours of a noisy vector by u, uniform on
// [0, 1).
func (b *batch) pick(word WordID, near []nearest.Neighbor, u float64) WordID {
	if b.m.Weights == nil {
		return near[0].ID
	}
	u *= b.m.weigh(b.weights, word, near)
	last := 0 // of those that can be returned
	for r, weight := range b.weights {
		if weight == 0 {
			continue
		}
		if u < weight {
			return near[r].ID
		}
		u -= weight
		last = r
	}
	return near[last].ID
}

// choices are those among the neighbours.
func (m *projector) choices(words []WordID, rng *rand.Rand) Choices {
	b := m.newBatch(len(words))
	k := m.Neighbors
	for _, w := range words {
		b.add(w, rng, nil)
	}
	near := b.near // the rest is large, and not kept
	m.index.Search(near, b.queries(), k)
	return func(i int, take func(WordID, float64)) {
		weights := make([]float64, k)
		among := rowAt(near, i, k)
		sum := m.weigh(weights, words[i], among)
		for r, weight := range weights {
			if weight > 0 {
				take(among[r].ID, weight/sum)
			}
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

// euclideanGuarantee returns ε·d with d the space's Euclidean distance.
func euclideanGuarantee(s *embeddings.Space, epsilon float64, reason string) Guarantee {
	return Guarantee{
		Metric:           "euclidean",
		Epsilon:          epsilon,
		EuclideanEpsilon: epsilon,
		Distance:         s.Distance,
		Reason:           reason,
	}
}
