package mechanisms

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"

	"mldpbench/internal/kernel"
)

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

// choose draws from the head.
func (t headTable) choose(random uint64) WordID {
	column, fraction := bits.Mul64(random, uint64(len(t)))
	if c := &t[column]; fraction < c.threshold {
		return c.word
	} else {
		return c.alias
	}
}

// headBuilder is the part of the scratch space that finds the head of a row.
type headBuilder struct {
	folded     []float32 // least of the keys: see limit
	masks      []uint32  // a bit per word
	ids        []uint32  // candidates for the head, ascending
	distances  []float64 // of ids
	candidates []headCandidate
	weights    []float64
	alias      headAlias
}

// headCandidate is a word that may be in the head and its distance.
type headCandidate struct {
	distance float64
	id       WordID
}

// folds is the number of minima in which limit searches: where 225 of 2048 are
// within a limit, about 240 of all words are.
const folds = 2048

// within fills ids with the words of keys, which are squared distances or grow
// with the distance, that may be among the count nearest. All keys are between
// low and high, or +Inf for no output; two keys in the wrong order are less
// than room apart. It reports false, with no ids, where there is no limit.
func (b *headBuilder) within(keys []float32, count int, low, high, room float32) bool {
	b.ids = b.ids[:0]
	limit := b.limit(keys, count, low, high, room)
	if !(limit < float32(math.Inf(1))) {
		return false
	}
	b.masks = resize(b.masks, len(keys)/32)
	kernel.AtMost(b.masks, keys, limit)
	for i, mask := range b.masks {
		for ; mask != 0; mask &= mask - 1 {
			b.ids = append(b.ids, uint32(32*i+bits.TrailingZeros32(mask)))
		}
	}
	return true
}

// limit returns an upper bound on the keys of the count nearest words that few
// other words are within; +Inf where float32 or the minima allow none.
func (b *headBuilder) limit(keys []float32, count int, low, high, room float32) float32 {
	if !(high <= math.MaxFloat32/4) {
		return float32(math.Inf(1)) // keys may have overflowed
	}
	b.folded = resize(b.folded, folds)
	kernel.Fold(b.folded, keys)
	var masks [folds / 32]uint32
	below := func(limit float32) (n int) {
		kernel.AtMost(masks[:], b.folded, limit)
		for _, mask := range masks {
			n += bits.OnesCount32(mask)
		}
		return n
	}
	if below(high) < count {
		return float32(math.Inf(1))
	}
	// At least count words are within high.
	for {
		middle := low + (high-low)/2
		if !(low < middle && middle < high) {
			break
		}
		n := below(middle)
		if n < count {
			low = middle
			continue
		}
		high = middle
		if n <= count+count/16 {
			break
		}
	}
	// Allowing for the error, no word beyond it can be among the nearest.
	return high + room + (max(high, -high)+room)*0x1p-22
}

// order fills candidates with ids and distances, ascending by distance and id. A
// usual number is put into classes of distance first, so an insertion sort moves
// few; the word itself, at distance 0, would widen the classes.
func (b *headBuilder) order() {
	const classes = 256
	n, low, high := len(b.ids), math.Inf(1), 0.0
	b.candidates = resize(b.candidates, n)
	for _, d := range b.distances {
		if d > 0 {
			low, high = min(low, d), max(high, d)
		}
	}
	scale := (classes - 1) / (high - low)
	if n > 4*headWords || !(scale > 0) || math.IsInf(scale, 1) {
		low, scale = 0, 0
	}
	var next [classes + 1]int32
	class := func(d float64) int { return int(uint8(max(0, int((d-low)*scale)))) }
	for _, d := range b.distances {
		next[class(d)+1]++
	}
	for k := range classes {
		next[k+1] += next[k]
	}
	for i, d := range b.distances { // equal ones keep the order of ids
		at := &next[class(d)]
		b.candidates[*at] = headCandidate{d, WordID(b.ids[i])}
		*at++
	}
	if scale == 0 {
		slices.SortStableFunc(b.candidates, func(a, c headCandidate) int { return cmp.Compare(a.distance, c.distance) })
		return
	}
	for i, c := range b.candidates {
		for ; i > 0 && b.candidates[i-1].distance > c.distance; i-- {
			b.candidates[i] = b.candidates[i-1]
		}
		b.candidates[i] = c
	}
}

// headWeights fills weights, 1 for the nearest candidate, and returns the size
// of the head. It is chosen such that at most one word in 16 needs a proposal
// for the tail, as far as headWords allow. The last word of the head has a
// probability of at least 1/(32n).
func (b *headBuilder) headWeights(law distanceLaw, n int) int {
	first := min(b.candidates[0].distance, law.most)
	b.weights = b.weights[:0]
	total := 0.0
	for i, c := range b.candidates {
		if i == n || i == headWords {
			return i
		}
		w := expNegative(float64(-law.rate * (min(c.distance, law.most) - first)))
		if i > 0 && float64(n)*w <= total/16 {
			return i
		}
		b.weights = append(b.weights, w)
		total += w
	}
	return len(b.weights)
}

// headAlias builds the alias table of a head in integers, so the only error of
// a column is the rounding of its weight.
type headAlias struct {
	columns      []headColumn
	shares       []uint64
	small, large []int32
}

// headBits is the capacity of a column: headWords columns fit 63 bits.
const headBits = 55

func (b *headAlias) build(words []headCandidate, weights []float64, total float64) headTable {
	n := len(words)
	b.columns, b.shares = resize(b.columns, n), resize(b.shares, n)
	b.small, b.large = b.small[:0], b.large[:0]
	left := uint64(n) << headBits
	for i, w := range weights {
		b.shares[i] = min(uint64(w/total*float64(uint64(n)<<headBits)), left)
		left -= b.shares[i]
	}
	b.shares[0] += left // the likeliest gets the remainder of the rounding
	for i, s := range b.shares {
		if s < 1<<headBits {
			b.small = append(b.small, int32(i))
		} else {
			b.large = append(b.large, int32(i))
		}
	}
	for len(b.small) > 0 {
		s, l := b.small[len(b.small)-1], b.large[len(b.large)-1]
		b.small = b.small[:len(b.small)-1]
		b.columns[s] = headColumn{b.shares[s] << (64 - headBits), words[s].id, words[l].id}
		b.shares[l] -= 1<<headBits - b.shares[s]
		if b.shares[l] < 1<<headBits {
			b.large = b.large[:len(b.large)-1]
			b.small = append(b.small, l)
		}
	}
	for _, l := range b.large { // exactly full
		b.columns[l] = headColumn{math.MaxUint64, words[l].id, words[l].id}
	}
	return b.columns
}
