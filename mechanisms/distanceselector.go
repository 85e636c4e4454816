package mechanisms

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// distanceLaw is Pr[y] ∝ e^{−rate·min(d(w,y), most)}, d Euclidean.
type distanceLaw struct{ rate, most float64 }

// fullWords is the largest vocabulary for which every word has a column in
// every table: all tables then fit in rowMemory.
const fullWords = 4096

// newDistanceSelector is newSelector for weights given by a distanceLaw. Above
// fullWords words it draws by a distanceSelector.
func newDistanceSelector(s Settings, g Guarantee, space *embeddings.Space,
	law func(epsilon float64) distanceLaw) *Mechanism {
	full := newFullSelector(s, g, space, law)
	if space.Len() > fullWords {
		full.sampler = newHeadTail(full.sampler.(*selector), space, law, nil)
	}
	return full
}

// newFullSelector has a column for every word.
func newFullSelector(s Settings, g Guarantee, space *embeddings.Space, law func(epsilon float64) distanceLaw) *Mechanism {
	scores := func(_ WordID, epsilon float64, row []float64) ([]float64, []WordID) {
		row = row[:space.Len()]
		l := law(epsilon)
		for i, d := range row {
			row[i] = -l.rate * min(d, l.most)
		}
		return row, nil
	}
	return newSelector(s, g, space.Vocabulary, distanceBasis(space), scores)
}

// distanceSelector draws from a distanceLaw over a large vocabulary without a
// table of all words. A row holds an alias table of the head, the likeliest
// outputs of a word, which are the nearest words, and the probability of the
// tail, all other words. A word of the tail is drawn by rejection: a uniform
// word y beyond the head is taken with probability
//
//	e^{−rate·(min(d(w,y), most) − min(d_τ, most))},  d_τ the least distance in the tail,
//
// so at most n·Pr[word at d_τ] proposals per word drawn are expected.
//
// Everything is specified in float64, in a fixed order. Making a row computes
// the tail's share in float32, with a bound on the error; only where a random
// number falls between the bounds is it computed in float64. Words drawn are
// therefore the same on every SIMD path, and have the accuracy of float64.
//
// Nothing underflows: a share below 2⁻⁶⁴ is compared in logarithms, with more
// random bits, and so is every acceptance. The head ends before its
// probabilities become too small for 64 bits.
type distanceSelector struct {
	*selector // for rows of distances; its tables are not used
	space     *embeddings.Space
	law       func(epsilon float64) distanceLaw
	own       distanceLaw
	panels    *kernel.Panels
	norms     []float32  // squared; +Inf where a word is no output
	outputs   *outputSet // nil: all words, for every word
	longest   float64    // vector
	rowsKept  *rowCache[headTail]
	builders  sync.Pool // of *headTailBuilder
}

// outputSet is a part of the vocabulary from which outputs are drawn. A word
// beyond it is replaced with a probability, and kept otherwise.
type outputSet struct {
	words    []WordID // ascending
	contains []bool   // by WordID
	replaced float64  // probability
}

// keeps reports whether a word stays unchanged, given 64 random bits.
func (s *outputSet) keeps(word WordID, random uint64) bool {
	return s != nil && !s.contains[word] && float64(random>>11)*0x1p-53 >= s.replaced
}

type normsKey struct{}

func newHeadTail(full *selector, space *embeddings.Space, law func(epsilon float64) distanceLaw,
	outputs *outputSet) *distanceSelector {
	panels := panelsOf(space)
	norms := embeddings.Once(space, normsKey{}, panels.SquaredNorms)
	if outputs != nil {
		norms = slices.Clone(norms)
		for y, yes := range outputs.contains {
			if !yes {
				norms[y] = float32(math.Inf(1))
			}
		}
	}
	m := &distanceSelector{
		selector: full, space: space, law: law, own: law(full.epsilon), panels: panels,
		norms: norms, outputs: outputs, longest: longestVector(space),
		rowsKept: newRowCache[headTail](space.Len(), rowLimit(space.Len())),
	}
	m.builders.New = func() any { return &headTailBuilder{m: m} }
	return m
}

// headTail is the row of a word.
type headTail struct {
	head headTable
	// A 64-bit random number below low selects the tail, one above high the
	// head; between the two, exact decides.
	low, high uint64
	exact     atomic.Pointer[tailShare]
	logHead   float64 // ln of the head's weights over that at d_τ
	least     float64 // d_τ; +Inf without a tail
	last      float64 // distance and id of the last word of the head
	lastID    WordID
}

func (m *distanceSelector) draw(ctx context.Context, documents []Document, workers int) error {
	return drawRows(ctx, m, documents, workers)
}

func (m *distanceSelector) kept(w WordID) *headTail        { return m.rowsKept.get(w) }
func (m *distanceSelector) rowsAtOnce() int                { return kernel.ProductRows }
func (m *distanceSelector) builder() rowBuilder[headTail]  { return m.builders.Get().(*headTailBuilder) }
func (m *distanceSelector) release(b rowBuilder[headTail]) { m.builders.Put(b) }

// random draws a number to decide between head and tail, two to choose within
// (for the tail they seed a separate generator) and, where words may be kept, one
// to decide that.
func (m *distanceSelector) random(rng *rand.Rand) wordRandom {
	if m.outputs != nil {
		return drawRandom(rng, 4)
	}
	return drawRandom(rng, 3)
}

// count returns the number of words that can be drawn.
func (m *distanceSelector) count() int {
	if m.outputs != nil {
		return len(m.outputs.words)
	}
	return m.space.Len()
}

func (m *distanceSelector) lawOf(epsilon float64) distanceLaw {
	if epsilon == m.epsilon {
		return m.own
	}
	return m.law(epsilon)
}

func (m *distanceSelector) choose(row *headTail, key rowKey, random wordRandom) WordID {
	switch {
	case m.outputs.keeps(key.word, random[3]):
		return key.word
	case random[0] > row.high:
		return row.head.choose(random[1])
	case random[0] < row.low:
		var rng rand.PCG
		rng.Seed(random[1], random[2])
		return m.drawTail(row, key, &rng)
	}
	share := row.exact.Load()
	if share == nil {
		share = m.exactShare(row, key)
		row.exact.Store(share)
	}
	var rng rand.PCG
	rng.Seed(random[1], random[2])
	switch {
	case random[0] > share.whole:
		return row.head.choose(random[1])
	case random[0] < share.whole:
		return m.drawTail(row, key, &rng)
	case exponential(&rng) > -share.logRest: // once in 2⁶⁴
		return m.drawTail(row, key, &rng)
	}
	return row.head.choose(rng.Uint64())
}

// drawTail draws a word beyond the head. y is taken where an exponential
// number E is at least rate·(min(d, most) − min(d_τ, most)).
func (m *distanceSelector) drawTail(row *headTail, key rowKey, rng *rand.PCG) WordID {
	law, v, n := m.lawOf(key.epsilon), m.space.Vector(key.word), uint64(m.count())
	least := min(row.least, law.most)
	// Two float64 sums of the same squares differ by less.
	slack := float64(4*len(v)+64) * 0x1p-53
	for {
		p, _ := bits.Mul64(rng.Uint64(), n)
		y := WordID(p)
		if m.outputs != nil {
			y = m.outputs.words[p]
		}
		limit := least + exponential(rng)/law.rate
		if limit >= law.most {
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
		if d <= limit && (d > row.last || d == row.last && y > row.lastID) {
			return y
		}
	}
}

// exactShare computes the tail's share in float64, word by word in order.
func (m *distanceSelector) exactShare(row *headTail, key rowKey) *tailShare {
	law := m.lawOf(key.epsilon)
	distances, _ := m.basisRows(nil, key.word)
	least, sum := min(row.least, law.most), 0.0
	for y, d := range distances[:m.space.Len()] {
		if m.outputs != nil && !m.outputs.contains[y] {
			continue
		}
		if d > row.last || d == row.last && WordID(y) > row.lastID {
			sum += expNegative(float64(-law.rate * (min(d, law.most) - least)))
		}
	}
	share := newTailShare(logShare(row.logHead, sum))
	return &share
}

// headTailBuilder is the scratch space of one goroutine for building rows.
type headTailBuilder struct {
	headBuilder
	m       *distanceSelector
	queries []float32
	rows    []float32 // squared distances without the query's own squared norm
	few     int       // number of candidates expected for the next row, from the last one
}

func (b *headTailBuilder) build(keys []rowKey, use func(i int, row *headTail)) {
	m := b.m
	stride := m.panels.Stride()
	b.queries = b.queries[:0]
	for _, k := range keys {
		b.queries = append(b.queries, m.space.Vector(k.word)...)
	}
	b.rows = resize(b.rows, len(keys)*stride)
	m.panels.SquaredDistances32(b.rows, m.norms, b.queries)
	for i, key := range keys {
		row := new(headTail)
		b.row(row, key, b.rows[i*stride:(i+1)*stride])
		if key.epsilon == m.epsilon && m.rowsKept.hasRoom() {
			row.head = slices.Clone(row.head)
			m.rowsKept.keep(key.word, row, int(unsafe.Sizeof(*row))+row.head.size())
		}
		use(i, row)
	}
}

// row computes the row of a word from its squared distances, which it
// overwrites. The head is stored in the builder's scratch space.
func (b *headTailBuilder) row(row *headTail, key rowKey, squares []float32) {
	m := b.m
	law, v := m.lawOf(key.epsilon), m.space.Vector(key.word)
	var norm float64
	for _, x := range v {
		norm += float64(float64(x) * float64(x))
	}
	uncertain := kernel.SquaredDistanceError(m.space.Dimension, math.Sqrt(norm), m.longest)
	outputs := m.count()
	most := min(outputs, headWords+1)
	if b.few == 0 {
		b.few = most
	}
	b.nearestOf(v, squares, min(b.few, most), norm, uncertain)
	head := b.headWeights(law, outputs)
	if head == len(b.candidates) && head < most {
		b.nearestOf(v, squares, most, norm, uncertain)
		head = b.headWeights(law, outputs)
	}
	b.few = 2*head + 16

	row.last, row.lastID = b.candidates[head-1].distance, b.candidates[head-1].id
	total := 0.0
	for _, w := range b.weights[:head] {
		total += w
	}
	row.head = b.alias.build(b.candidates[:head], b.weights[:head], total)
	if head == outputs {
		row.least = math.Inf(1)
		row.logHead = 0
		row.exact.Store(&tailShare{0, math.Inf(-1)})
		return // low and high are 0
	}
	row.least = b.candidates[head].distance
	first, least := min(b.candidates[0].distance, law.most), min(row.least, law.most)
	row.logHead = math.Log(total) + float64(law.rate*(least-first))
	for _, c := range b.candidates[:head] {
		squares[c.id] = float32(math.Inf(1))
	}
	weights := kernel.Law{Offset: float32(norm), Most: float32(law.most), Least: float32(least),
		Rate: float32(law.rate)}
	sum := kernel.WeightSum(squares, weights)
	// |√s − √s'| ≤ |s − s'|/√s for the s that is exact, at least d_τ².
	eta := 1.01*(law.rate*uncertain/row.least+kernel.WeightError(weights)) + 0x1p-30
	if !(eta < 0.1) || !(sum > 0) || math.IsInf(sum, 1) {
		row.high = math.MaxUint64
		return
	}
	row.low = newTailShare(logShare(row.logHead, sum*math.Exp(-eta))).whole
	row.high = newTailShare(logShare(row.logHead, sum*math.Exp(eta))).whole
}

// nearestOf fills candidates with the count nearest words, ascending
// by distance and id. Squares lack the query's squared norm and have an error
// of at most uncertain.
func (b *headTailBuilder) nearestOf(v []float32, squares []float32, count int, norm, uncertain float64) {
	// All squares are between low and high.
	room := float32(2 * uncertain)
	low, high := float32(-norm)-room, float32(b.m.longest*(b.m.longest+2*math.Sqrt(norm)))+room
	if !b.within(squares, count, low, high, room) {
		for y := range b.m.space.Len() {
			if b.m.outputs == nil || b.m.outputs.contains[y] {
				b.ids = append(b.ids, uint32(y))
			}
		}
	}
	b.distances = resize(b.distances, len(b.ids))
	kernel.DistancesTo(b.distances, v, b.m.space.Vectors, b.ids)
	b.order()
	b.candidates = b.candidates[:count] // later ones are not complete
}
