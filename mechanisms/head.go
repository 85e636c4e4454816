package mechanisms

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"mldpbench/internal/kernel"
)

// headCandidate is a word that may be in the head and its cost.
type headCandidate struct {
	cost float64
	id   WordID
}

// keyRange is where keys lie, between low and high; two keys in the wrong order are
// less than room apart.
type keyRange struct{ low, high, room float32 }

// folds is the number of minima in which limit searches: where 225 of 2048 are
// within a limit, about 240 of all words are.
const folds = 2048

// within fills ids with the words of keys, which grow with the cost, that may be
// among the count nearest. A key is in the range r, or +Inf for no output. It
// reports false, with no ids, where there is no limit.
func (b *headBuilder) within(keys []float32, count int, r keyRange) bool {
	b.ids = b.ids[:0]
	limit := b.limit(keys, count, r)
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
func (b *headBuilder) limit(keys []float32, count int, r keyRange) float32 {
	low := r.low
	high := r.high
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
	return high + r.room + (max(high, -high)+r.room)*0x1p-22
}

// order fills candidates with the first count of ids and costs, ascending by cost and
// id.
func (b *headBuilder) order(count int) {
	b.candidates = resize(b.candidates, len(b.ids))
	c := b.classes()
	if c.scale == 0 {
		for i, cost := range b.costs {
			b.candidates[i] = headCandidate{cost, WordID(b.ids[i])}
		}
		slices.SortStableFunc(b.candidates, func(a, c headCandidate) int {
			return cmp.Compare(a.cost, c.cost)
		})
	} else {
		b.sortByClass(c)
	}
	b.candidates = b.candidates[:count] // later ones are not complete
}

// costClasses divides costs from least on into classes of equal width.
type costClasses struct{ least, scale float64 }

const classes = 256

func (c costClasses) of(cost float64) int { return int(uint8(max(0, int((cost-c.least)*c.scale)))) }

// classes are those of the costs. The word itself, which costs nothing, would widen
// them. The scale is 0 where candidates are too many, or no class separates them.
func (b *headBuilder) classes() costClasses {
	least := math.Inf(1)
	largest := 0.0
	for _, cost := range b.costs {
		if cost > 0 {
			least = min(least, cost)
			largest = max(largest, cost)
		}
	}
	scale := (classes - 1) / (largest - least)
	if len(b.ids) > 4*headWords || !(scale > 0) || math.IsInf(scale, 1) {
		return costClasses{}
	}
	return costClasses{least, scale}
}

// sortByClass puts candidates into classes first, so an insertion sort moves few.
func (b *headBuilder) sortByClass(c costClasses) {
	var next [classes + 1]int32
	for _, cost := range b.costs {
		next[c.of(cost)+1]++
	}
	for k := range classes {
		next[k+1] += next[k]
	}
	for i, cost := range b.costs { // equal ones keep the order of ids
		at := &next[c.of(cost)]
		b.candidates[*at] = headCandidate{cost, WordID(b.ids[i])}
		*at++
	}
	for i, c := range b.candidates {
		for ; i > 0 && b.candidates[i-1].cost > c.cost; i-- {
			b.candidates[i] = b.candidates[i-1]
		}
		b.candidates[i] = c
	}
}

// headWeights fills weights, 1 for the nearest candidate, and returns the size
// of the head. It is chosen such that at most one word in 16 needs a proposal
// for the tail, as far as headWords allow. The last word of the head has a
// probability of at least 1/(32n).
func (b *headBuilder) headWeights(d *Decay) int {
	n := d.Costs.count()
	first := min(b.candidates[0].cost, d.Most)
	b.weights = b.weights[:0]
	total := 0.0
	for i, c := range b.candidates {
		if i == n || i == headWords {
			return i
		}
		w := expNegative(float64(-d.Rate * (min(c.cost, d.Most) - first)))
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
	pairing
	columns []headColumn
	shares  []uint64
	aliases []int32
}

// headBits is the capacity of a column: headWords columns fit 63 bits.
const headBits = 55

// build makes the table of words with weights, which sum to total, in its scratch
// space.
func (b *headAlias) build(words []headCandidate, weights []float64, total float64) headTable {
	n := len(words)
	b.columns = resize(b.columns, n)
	b.shares = resize(b.shares, n)
	b.aliases = resize(b.aliases, n)
	left := uint64(n) << headBits
	for i, w := range weights {
		b.shares[i] = min(uint64(w/total*float64(uint64(n)<<headBits)), left)
		left -= b.shares[i]
	}
	b.shares[0] += left // the likeliest gets the remainder of the rounding
	pair(&b.pairing, b.shares, 1<<headBits, b.aliases)
	for i, own := range b.shares {
		column := headColumn{own << (64 - headBits), words[i].id, words[b.aliases[i]].id}
		if own == 1<<headBits {
			column.threshold = math.MaxUint64
		}
		b.columns[i] = column
	}
	return b.columns
}
