package mechanisms

import (
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// distanceSplit is that of distances: the tail is all outputs beyond the head, and a
// row has the probability of the tail. A word of the tail is drawn by rejection: a
// uniform output y beyond the head is taken with probability
//
//	e^{−rate·(min(d(w,y), most) − min(d_τ, most))},  d_τ the least distance in the tail,
//
// so at most n·Pr[word at d_τ] proposals per word drawn are expected.
//
// Making a row computes the tail's share in float32, with a bound on the error; only
// where a random number falls between the bounds is it computed in float64.
type distanceSplit struct {
	*Decay
	space   *embeddings.Space
	panels  *kernel.Panels
	norms   []float32 // squared; +Inf where a word is no output
	longest float64   // vector
}

type squaredNormsKey struct{}

// newDistanceSplit gives words that are no output a norm of +Inf, so no distance is within
// a limit.
func newDistanceSplit(d Decay) *distanceSplit {
	space := d.Costs.space
	panels := panelsOf(space)
	norms := embeddings.Once(space, squaredNormsKey{}, panels.SquaredNorms)
	if d.Costs.contains != nil {
		norms = slices.Clone(norms)
		for y, yes := range d.Costs.contains {
			if !yes {
				norms[y] = float32(math.Inf(1))
			}
		}
	}
	return &distanceSplit{&d, space, panels, norms, space.Longest()}
}

func (m *distanceSplit) rowsAtOnce() int { return kernel.ProductRows }
func (m *distanceSplit) fixed() *headRow { return nil }

// numbers are one to decide between head and tail, two to choose within (for the
// tail they seed a separate generator) and, where words may stay, one to decide
// that.
func (m *distanceSplit) numbers() int {
	if m.Costs.outputs != nil {
		return 4
	}
	return 3
}

// stays reports whether a word stays unchanged, given 64 random bits.
func (m *distanceSplit) stays(word WordID, random uint64) bool {
	return !m.Costs.isOutput(word) && float64(random>>11)*0x1p-53 >= m.Replaced
}

// choose decides between head and tail by the bounds on the share of the tail or, where
// these leave it open, by the share.
func (m *distanceSplit) choose(row *headRow, word WordID, random wordRandom) WordID {
	switch {
	case m.stays(word, random[3]):
		return word
	case random[0] > row.high:
		return row.head.choose(random[1])
	}
	var rng rand.PCG
	rng.Seed(random[1], random[2])
	if random[0] < row.low {
		return m.drawTail(row, word, &rng)
	}
	share := row.exact.Load()
	if share == nil {
		share = m.exactShare(row, word)
		row.exact.Store(share)
	}
	switch {
	case random[0] > share.whole:
		return row.head.choose(random[1])
	case random[0] < share.whole:
		return m.drawTail(row, word, &rng)
	case exponential(&rng) > -share.logRest: // once in 2⁶⁴
		return m.drawTail(row, word, &rng)
	}
	return row.head.choose(rng.Uint64())
}

// drawTail draws a word beyond the head. y is taken where an exponential
// number E is at least rate·(min(d, most) − min(d_τ, most)).
func (m *distanceSplit) drawTail(row *headRow, word WordID, rng *rand.PCG) WordID {
	v := m.space.Vector(word)
	least := min(row.least, m.Most)
	// Two float64 sums of the same squares differ by less.
	slack := float64(4*len(v)+64) * 0x1p-53
	for {
		y, limit := m.propose(least, rng)
		if limit >= m.Most {
			limit = math.Inf(1)
		}
		u := m.space.Vector(y)
		d := math.Sqrt(kernel.SquaredDistance(v, u))
		margin := slack * d
		if d-margin > row.last && d+margin <= limit {
			return y
		}
		if d+margin < row.last || d-margin > limit {
			continue
		}
		d = embeddings.Euclidean(v, u)
		if d <= limit && row.beyond(d, y) {
			return y
		}
	}
}

// beyond reports whether a word at a distance is beyond the head.
func (row *headRow) beyond(d float64, y WordID) bool {
	return d > row.last || d == row.last && y > row.lastID
}

// exactShare computes the tail's share in float64, word by word in order.
func (m *distanceSplit) exactShare(row *headRow, word WordID) *tailShare {
	least := min(row.least, m.Most)
	sum := 0.0
	for y, d := range m.Costs.basis.row(word) {
		if m.Costs.isOutput(WordID(y)) && row.beyond(d, WordID(y)) {
			sum += expNegative(float64(-m.Rate * (min(d, m.Most) - least)))
		}
	}
	share := newTailShare(logShare(row.logHead, sum))
	return &share
}

// measure makes squared distances without the words' own squared norms.
func (m *distanceSplit) measure(b *headBuilder, words []WordID) {
	b.stride = m.panels.Stride()
	b.queries = b.queries[:0]
	for _, w := range words {
		b.queries = append(b.queries, m.space.Vector(w)...)
	}
	b.keys = resize(b.keys, len(words)*b.stride)
	m.panels.SquaredDistances32(b.keys, m.norms, b.queries)
}

// fillRow overwrites the squared distances of the word.
func (m *distanceSplit) fillRow(b *headBuilder, row *headRow, i int, word WordID) {
	squares := b.keys[i*b.stride : (i+1)*b.stride]
	v := m.space.Vector(word)
	squaredNorm := 0.0
	for _, x := range v {
		squaredNorm += float64(float64(x) * float64(x))
	}
	uncertain := kernel.SquaredDistanceError(m.space.Dimension, math.Sqrt(squaredNorm), m.longest)
	outputs := m.Costs.count()
	most := min(outputs, headWords+1)
	if b.few == 0 {
		b.few = most
	}
	m.nearest(b, v, squares, min(b.few, most), squaredNorm)
	head := b.headWeights(m.Decay)
	if head == len(b.candidates) && head < most {
		m.nearest(b, v, squares, most, squaredNorm)
		head = b.headWeights(m.Decay)
	}
	b.few = 2*head + 16

	row.last = b.candidates[head-1].cost
	row.lastID = b.candidates[head-1].id
	total := 0.0
	for _, w := range b.weights[:head] {
		total += w
	}
	row.head = b.alias.build(b.candidates[:head], b.weights[:head], total)
	if head == outputs {
		row.least = math.Inf(1)
		row.exact.Store(&tailShare{0, math.Inf(-1)})
		return // low and high are 0
	}
	row.least = b.candidates[head].cost
	first := min(b.candidates[0].cost, m.Most)
	least := min(row.least, m.Most)
	row.logHead = math.Log(total) + float64(m.Rate*(least-first))
	for _, c := range b.candidates[:head] {
		squares[c.id] = float32(math.Inf(1))
	}
	weights := kernel.Law{
		Offset: float32(squaredNorm),
		Most:   float32(m.Most),
		Least:  float32(least),
		Rate:   float32(m.Rate),
	}
	sum := kernel.WeightSum(squares, weights)
	// |√s − √s'| ≤ |s − s'|/√s for the s that is exact, at least d_τ².
	eta := 1.01*(m.Rate*uncertain/row.least+kernel.WeightError(weights)) + 0x1p-30
	if !(eta < 0.1) || !(sum > 0) || math.IsInf(sum, 1) {
		row.high = math.MaxUint64
		return
	}
	row.low = newTailShare(logShare(row.logHead, sum*math.Exp(-eta))).whole
	row.high = newTailShare(logShare(row.logHead, sum*math.Exp(eta))).whole
}

// nearest fills candidates with the count nearest outputs, ascending by distance and
// id. Squares lack the squared norm of v.
func (m *distanceSplit) nearest(b *headBuilder, v, squares []float32, count int, squaredNorm float64) {
	// All squares are between low and high, and have an error of at most uncertain.
	length := math.Sqrt(squaredNorm)
	uncertain := kernel.SquaredDistanceError(m.space.Dimension, length, m.longest)
	room := float32(2 * uncertain)
	within := keyRange{
		low:  float32(-squaredNorm) - room,
		high: float32(m.longest*(m.longest+2*length)) + room,
		room: room,
	}
	if !b.within(squares, count, within) {
		for y := range m.space.Len() {
			if m.Costs.isOutput(WordID(y)) {
				b.ids = append(b.ids, uint32(y))
			}
		}
	}
	b.costs = resize(b.costs, len(b.ids))
	kernel.DistancesTo(b.costs, v, m.space.Vectors, b.ids)
	b.order(count)
}
