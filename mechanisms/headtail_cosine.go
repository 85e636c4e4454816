package mechanisms

import (
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/internal/kernel"
)

// flatEpsilon is the largest ε at which words are drawn without rows. There,
// at most e^{ε/2} = 16 proposals per word are expected; a row would pay only
// for a word that is drawn more than a hundred times.
const flatEpsilon = 8 * math.Ln2

// cosineSplit is that of cosines. The weight of an output is split at the weight of
// some cost c_τ,
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
// Costs are those of the rows of products, bit for bit.
type cosineSplit struct {
	*Decay
	inverse []float64 // 1/norm of outputs, 0 for a zero vector
	flat    *headRow  // of every word where no head is made
}

func newCosineSplit(d Decay) *cosineSplit {
	m := &cosineSplit{Decay: &d, inverse: make([]float64, len(d.Costs.outputs))}
	for i, y := range d.Costs.outputs {
		if n := d.Costs.norms[y]; n > 0 {
			m.inverse[i] = 1 / n
		}
	}
	if d.Rate <= flatEpsilon/2 {
		m.flat = new(headRow)
	}
	return m
}

func (m *cosineSplit) rowsAtOnce() int { return kernel.PairRows }
func (m *cosineSplit) fixed() *headRow { return m.flat }

// numbers are the seed of a word's own generator.
func (m *cosineSplit) numbers() int { return 2 }

// cost is c of two words from their inner product.
func (m *cosineSplit) cost(product float64, a, b WordID) float64 {
	return 1 - m.Costs.cosine(product, a, b)
}

// choose takes a proposal y where an exponential number is at least
// rate·(c(w,y) − c_τ).
func (m *cosineSplit) choose(row *headRow, word WordID, random wordRandom) WordID {
	var rng rand.PCG
	rng.Seed(random[0], random[1])
	for {
		if len(row.head) > 0 && !row.share.chosen(&rng) {
			return row.head.choose(rng.Uint64())
		}
		if y, limit := m.propose(row.least, &rng); m.within(word, y, limit) {
			return y
		}
	}
}

// within reports whether the cost of y for a word is at most limit ≥ 0.
func (m *cosineSplit) within(word, y WordID, limit float64) bool {
	if limit >= 1 || word == y {
		return true
	}
	if m.Costs.norms[word]*m.Costs.norms[y] == 0 {
		return false
	}
	v := m.Costs.space.Vector(word)
	u := m.Costs.space.Vector(y)
	product := 0.0
	for i, x := range u {
		product += float64(float64(v[i]) * float64(x))
	}
	return m.cost(product, word, y) <= limit
}

// measure makes inner products.
func (m *cosineSplit) measure(b *headBuilder, words []WordID) {
	b.products, b.stride = m.Costs.basis.rows(b.products, words...)
}

// fillRow takes what is above the weight of c_τ for the head.
func (m *cosineSplit) fillRow(b *headBuilder, row *headRow, i int, word WordID) {
	n := m.Costs.count()
	m.nearest(b, word, b.products[i*b.stride:(i+1)*b.stride], min(n, headWords+1))
	head := min(b.headWeights(m.Decay), len(b.candidates)-1)
	first := b.candidates[0].cost
	row.least = b.candidates[head].cost
	beyond := expNegative(float64(-m.Rate * (row.least - first)))
	total := 0.0
	above := 0
	for above < head && b.weights[above] > beyond {
		b.weights[above] -= beyond
		total += b.weights[above]
		b.candidates[above].id = m.Costs.outputs[b.candidates[above].id]
		above++
	}
	if above == 0 {
		return
	}
	row.head = b.alias.build(b.candidates[:above], b.weights[:above], total)
	row.share = newTailShare(logShare(math.Log(total)+float64(m.Rate*(row.least-first)), float64(n)))
}

// nearest fills candidates with the count outputs of least cost, ascending by
// cost and id, given as positions among the outputs.
func (m *cosineSplit) nearest(b *headBuilder, word WordID, products []float64, count int) {
	outputs := m.Costs.outputs
	inverse := 0.0
	if n := m.Costs.norms[word]; n > 0 {
		inverse = 1 / n
	}
	b.keys = resize(b.keys, len(products)) // costs less 1 in float32, +Inf after the last
	for i, x := range m.inverse {
		b.keys[i] = min(float32(-products[i]*inverse*x), 0)
	}
	for i := len(outputs); i < len(b.keys); i++ {
		b.keys[i] = float32(math.Inf(1))
	}
	own, isOutput := slices.BinarySearch(outputs, word)
	if isOutput {
		b.keys[own] = -1
	}
	// A key is rounded to 24 bits; float64 errs far less.
	const room = 0x1p-22
	if !b.within(b.keys, count, keyRange{
		low:  -1 - room,
		high: 0,
		room: room,
	}) {
		for i := range outputs {
			b.ids = append(b.ids, uint32(i))
		}
	}
	b.costs = resize(b.costs, len(b.ids))
	for i, id := range b.ids {
		b.costs[i] = m.cost(products[id], word, outputs[id])
	}
	b.order(count)
}
