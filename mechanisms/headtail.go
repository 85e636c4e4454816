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
)

// fullWords is the largest vocabulary for which every word has a column in
// every table: all tables then fit in rowMemory.
const fullWords = 4096

// headTail draws from a Decay over a large vocabulary without a table of all words.
// A row holds an alias table of the head, the likeliest outputs of a word, which
// are those of least cost; the tail is drawn by rejection from proposals, uniform
// among all outputs. A split says what head and tail are, which is chosen, and
// which proposals are taken.
//
// Everything is specified in float64, in a fixed order. Where float32 is faster it
// decides as far as a bound on its error allows. Words drawn are therefore the same
// on every SIMD path, and have the accuracy of float64.
//
// Nothing underflows: a share below 2⁻⁶⁴ is compared in logarithms, with more
// random bits, and so is every acceptance. The head ends before its
// probabilities become too small for 64 bits.
type headTail struct {
	Decay
	split
	made     *rowCache[headRow]
	builders sync.Pool // of *headBuilder
}

// split divides the outputs of a word into head and tail.
type split interface {
	// numbers is how many random numbers a word draws.
	numbers() int
	// fixed is the row of every word, where there is no other; else nil.
	fixed() *headRow
	rowsAtOnce() int
	// measure makes what the rows of some words start from.
	measure(b *headBuilder, words []WordID)
	// fillRow computes the row of the i-th word measured. The head is stored in the
	// builder's scratch space.
	fillRow(b *headBuilder, row *headRow, i int, word WordID)
	choose(row *headRow, word WordID, random wordRandom) WordID
}

// headRow is the row of a word.
type headRow struct {
	head  headTable
	least float64 // cost from which on the tail decays; +Inf without a tail
	share tailShare
	bounds
}

// bounds is what a distanceSplit knows of the share of the tail.
type bounds struct {
	// A 64-bit random number below low selects the tail, one above high the
	// head; between the two, exact decides.
	low, high uint64
	exact     atomic.Pointer[tailShare]
	logHead   float64 // ln of the head's weights over that at the least cost of the tail
	last      float64 // cost and id of the last word of the head
	lastID    WordID
}

func newHeadTail(d Decay) *headTail {
	n := d.Costs.space.Len()
	m := &headTail{Decay: d, made: newRowCache[headRow](n, rowLimit(n))}
	if d.Costs.norms != nil {
		m.split = newCosineSplit(d)
	} else {
		m.split = newDistanceSplit(d)
	}
	m.builders.New = func() any { return &headBuilder{m: m} }
	return m
}

func (m *headTail) whole() bool { return true }

func (m *headTail) draw(ctx context.Context, documents []document, workers int) error {
	return drawRows(ctx, m, documents, workers)
}

func (m *headTail) random(rng *rand.Rand) wordRandom { return drawRandom(rng, m.numbers()) }
func (m *headTail) builder() rowBuilder[headRow]     { return m.builders.Get().(*headBuilder) }
func (m *headTail) release(b rowBuilder[headRow])    { m.builders.Put(b) }

func (m *headTail) kept(w WordID) *headRow {
	if row := m.fixed(); row != nil {
		return row
	}
	return m.made.get(w)
}

// propose draws an output, all alike, and the largest cost at which it is taken:
// Pr[cost ≤ limit] = e^{−Rate·(cost − least)}.
func (d *Decay) propose(least float64, rng *rand.PCG) (y WordID, limit float64) {
	i, _ := bits.Mul64(rng.Uint64(), uint64(d.Costs.count()))
	return d.Costs.output(i), least + exponential(rng)/d.Rate
}

// headBuilder is the scratch space of one goroutine for building rows.
type headBuilder struct {
	m        *headTail
	queries  []float32 // vectors
	keys     []float32 // that grow with the cost; see within
	stride   int       // of keys or products
	products []float64
	few      int // number of candidates expected for the next row, from the last one

	folded     []float32 // least of the keys: see limit
	masks      []uint32  // a bit per word
	ids        []uint32  // candidates for the head, ascending
	costs      []float64 // of ids
	candidates []headCandidate
	weights    []float64
	alias      headAlias
}

func (b *headBuilder) build(words []WordID, use func(i int, row *headRow)) {
	m := b.m
	m.measure(b, words)
	for i, w := range words {
		row := new(headRow)
		m.fillRow(b, row, i, w)
		if m.made.hasRoom() {
			row.head = slices.Clone(row.head)
			m.made.keep(w, row, int(unsafe.Sizeof(*row))+row.head.size())
		}
		use(i, row)
	}
}

// headWords is the largest number of outputs in the head of a row.
const headWords = 224

// headColumn is a column of an alias table: word where the fraction is below
// threshold, alias otherwise.
type headColumn struct {
	threshold   uint64
	word, alias WordID
}

// headTable is the alias table of a head.
type headTable []headColumn

// size is its memory in bytes, with some for the allocator.
func (t headTable) size() int { return cap(t)*int(unsafe.Sizeof(headColumn{})) + 32 }

// choose draws from the head.
func (t headTable) choose(random uint64) WordID {
	column, fraction := bits.Mul64(random, uint64(len(t)))
	c := &t[column]
	if fraction < c.threshold {
		return c.word
	}
	return c.alias
}

// tailShare is the probability t of the tail: whole + rest = t·2⁶⁴.
type tailShare struct {
	whole   uint64
	logRest float64
}

func newTailShare(logShare float64) tailShare {
	const log64 = 64 * math.Ln2
	x := math.Exp(logShare + log64)
	if x < 1 {
		return tailShare{0, logShare + log64}
	}
	if x >= 0x1p64 {
		return tailShare{math.MaxUint64, 0}
	}
	whole := math.Floor(x)
	return tailShare{uint64(whole), math.Log(x - whole)}
}

// chosen draws whether the tail is chosen.
func (s *tailShare) chosen(rng *rand.PCG) bool {
	r := rng.Uint64()
	return r < s.whole || r == s.whole && exponential(rng) > -s.logRest // equal once in 2⁶⁴
}

// logShare is ln of T/(H+T) from ln(H) and T, both relative to one weight.
func logShare(logHead, tail float64) float64 {
	if !(tail > 0) {
		return math.Inf(-1)
	}
	// −ln(1 + H/T)
	x := logHead - math.Log(tail)
	if x > 0 {
		return -x - math.Log1p(math.Exp(-x))
	}
	return -math.Log1p(math.Exp(x))
}
