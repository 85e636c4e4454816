package mechanisms

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"unsafe"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// clippedCosine is the rating ρ from the inner product of two words: 1 for the
// word itself, 0 where a vector is zero and has no direction.
func clippedCosine(product float64, norms []float64, a, b WordID) float64 {
	if a == b {
		return 1
	}
	if norms[a] == 0 || norms[b] == 0 {
		return 0
	}
	return min(max(product/(norms[a]*norms[b]), 0), 1)
}

// normsOf returns the Euclidean norm of every word, in float64.
func normsOf(space *embeddings.Space) []float64 {
	norms := make([]float64, space.Len())
	for id := range norms {
		norms[id] = norm(space.Vector(WordID(id)))
	}
	return norms
}

// cosineLaw is Pr[y] ∝ exp((ε/2)·ρ(w,y)) as a law of the cost c = 1 − ρ, with
// ρ the clipped cosine.
func cosineLaw(epsilon float64) distanceLaw { return distanceLaw{epsilon / 2, 1} }

// flatEpsilon is the largest ε at which words are drawn without rows. There,
// at most e^{ε/2} = 16 proposals per word are expected; a row would pay only
// for a word that is drawn more than a hundred times.
const flatEpsilon = 8 * math.Ln2

// cosineSelector draws from a cosineLaw over a large set of outputs without a
// table of all of them. The weight of an output is split at the weight of some
// cost c_τ,
//
//	e^{−rate·c} = min(e^{−rate·c}, e^{−rate·c_τ}) + what is above,
//
// where something is above for the head only, the outputs of least cost. What
// is above is drawn from an alias table, the rest by rejection: a uniform
// output is taken with probability e^{−rate·max(c−c_τ, 0)}, and after a
// rejection the choice between the two starts anew. So neither the normaliser
// nor which outputs are in the head is needed.
//
// Up to flatEpsilon there is no head, c_τ = 0, and no row of a word is made.
// Above, a row has a head of at most headWords, and at most 1 + n/headWords
// rounds are expected. Which of the two depends on ε only.
//
// Everything is specified in float64, in a fixed order: costs are those of the
// rows of products, bit for bit. A float32 product decides wherever its error
// allows, so words drawn are the same on every SIMD path.
//
// Nothing underflows, as in distanceSelector: acceptances and shares below 2⁻⁶⁴
// are compared in logarithms, so no possible output becomes impossible.
type cosineSelector struct {
	*selector // for rows of products; its tables are not used
	space     *embeddings.Space
	outputs   []WordID  // ascending
	norms     []float64 // by WordID
	inverse   []float64 // 1/norm of outputs, 0 for a zero vector
	flat      cosineRow // of every word where no head is made
	rowsKept  *rowCache[cosineRow]
	builders  sync.Pool // of *cosineBuilder
}

// cosineRow is the row of a word.
type cosineRow struct {
	head  headTable // of what is above the weight of c_τ
	share tailShare // probability that a proposal is made, not a draw from the head
	least float64   // c_τ
}

func newCosineSelector(full *selector, space *embeddings.Space, outputs []WordID, norms []float64) *cosineSelector {
	m := &cosineSelector{
		selector: full, space: space, outputs: outputs, norms: norms, inverse: make([]float64, len(outputs)),
		rowsKept: newRowCache[cosineRow](space.Len(), rowLimit(space.Len())),
	}
	for i, y := range outputs {
		if norms[y] > 0 {
			m.inverse[i] = 1 / norms[y]
		}
	}
	m.builders.New = func() any { return &cosineBuilder{m: m} }
	return m
}

// random draws the seed of a word's own generator.
func (m *cosineSelector) random(rng *rand.Rand) wordRandom { return drawRandom(rng, 2) }

func (m *cosineSelector) draw(ctx context.Context, documents []Document, workers int) error {
	return drawRows(ctx, m, documents, workers)
}

func (m *cosineSelector) rowsAtOnce() int                 { return kernel.PairRows }
func (m *cosineSelector) builder() rowBuilder[cosineRow]  { return m.builders.Get().(*cosineBuilder) }
func (m *cosineSelector) release(b rowBuilder[cosineRow]) { m.builders.Put(b) }

// cost is c of two words from their inner product.
func (m *cosineSelector) cost(product float64, a, b WordID) float64 {
	return 1 - clippedCosine(product, m.norms, a, b)
}

func (m *cosineSelector) kept(w WordID) *cosineRow {
	if m.epsilon <= flatEpsilon {
		return &m.flat
	}
	return m.rowsKept.get(w)
}

// draw takes a proposal y where an exponential number is at least
// rate·(c(w,y) − c_τ).
func (m *cosineSelector) choose(row *cosineRow, key rowKey, random wordRandom) WordID {
	var rng rand.PCG
	rng.Seed(random[0], random[1])
	rate := cosineLaw(key.epsilon).rate
	for {
		if len(row.head) > 0 && !row.share.chosen(&rng) {
			return row.head.choose(rng.Uint64())
		}
		column, _ := bits.Mul64(rng.Uint64(), uint64(len(m.outputs)))
		if y := m.outputs[column]; m.costs(key.word, y, row.least+exponential(&rng)/rate) {
			return y
		}
	}
}

// costs reports whether the cost of y for a word is at most limit ≥ 0.
func (m *cosineSelector) costs(word, y WordID, limit float64) bool {
	if limit >= 1 || word == y {
		return true
	}
	if m.norms[word]*m.norms[y] == 0 {
		return false
	}
	v, u, product := m.space.Vector(word), m.space.Vector(y), 0.0
	for i, x := range u {
		product += float64(float64(v[i]) * float64(x))
	}
	return m.cost(product, word, y) <= limit
}

// cosineBuilder is the scratch space of one goroutine for building rows.
type cosineBuilder struct {
	headBuilder
	m     *cosineSelector
	words []WordID
	rows  []float64 // products; see basisRows
	keys  []float32 // costs less 1 in float32, +Inf after the last
}

func (b *cosineBuilder) build(keys []rowKey, use func(i int, row *cosineRow)) {
	m := b.m
	b.words = b.words[:0]
	for _, k := range keys {
		if k.epsilon > flatEpsilon {
			b.words = append(b.words, k.word)
		}
	}
	stride := 0
	if len(b.words) > 0 {
		b.rows, stride = m.basisRows(b.rows, b.words...)
	}
	next := b.rows
	for i, key := range keys {
		if key.epsilon <= flatEpsilon {
			use(i, &m.flat)
			continue
		}
		row := new(cosineRow)
		b.row(row, key, next[:stride])
		next = next[stride:]
		if key.epsilon == m.epsilon && m.rowsKept.hasRoom() {
			row.head = slices.Clone(row.head)
			m.rowsKept.keep(key.word, row, int(unsafe.Sizeof(*row))+row.head.size())
		}
		use(i, row)
	}
}

// row computes the row of a word from its inner products with the outputs. The
// head is stored in the builder's scratch space.
func (b *cosineBuilder) row(row *cosineRow, key rowKey, products []float64) {
	m, n := b.m, len(b.m.outputs)
	b.nearestOf(key.word, products, min(n, headWords+1))
	law := cosineLaw(key.epsilon)
	head := min(b.headWeights(law, n), len(b.candidates)-1)
	first := b.candidates[0].distance
	row.least = b.candidates[head].distance
	beyond := expNegative(float64(-law.rate * (row.least - first)))
	total, above := 0.0, 0
	for above < head && b.weights[above] > beyond {
		b.weights[above] -= beyond
		total += b.weights[above]
		b.candidates[above].id = m.outputs[b.candidates[above].id]
		above++
	}
	if above == 0 {
		return
	}
	row.head = b.alias.build(b.candidates[:above], b.weights[:above], total)
	row.share = newTailShare(logShare(math.Log(total)+float64(law.rate*(row.least-first)), float64(n)))
}

// nearestOf fills candidates with the count outputs of least cost, ascending by
// cost and id, given as positions in outputs.
func (b *cosineBuilder) nearestOf(word WordID, products []float64, count int) {
	m, n := b.m, len(b.m.outputs)
	inverse := 0.0
	if m.norms[word] > 0 {
		inverse = 1 / m.norms[word]
	}
	b.keys = resize(b.keys, len(products))
	for i, x := range m.inverse {
		b.keys[i] = min(float32(-products[i]*inverse*x), 0)
	}
	for i := n; i < len(b.keys); i++ {
		b.keys[i] = float32(math.Inf(1))
	}
	if own, ok := slices.BinarySearch(m.outputs, word); ok {
		b.keys[own] = -1
	}
	// A key is rounded to 24 bits; float64 errs far less.
	const room = 0x1p-22
	if !b.within(b.keys, count, -1-room, 0, room) {
		for i := range n {
			b.ids = append(b.ids, uint32(i))
		}
	}
	b.distances = resize(b.distances, len(b.ids))
	for i, id := range b.ids {
		b.distances[i] = m.cost(products[id], word, m.outputs[id])
	}
	b.order()
	b.candidates = b.candidates[:count] // later ones are not complete
}
