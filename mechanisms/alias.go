package mechanisms

import (
	"math"
	"math/bits"
)

// pairing is the scratch space for building alias tables, which draw from a fixed
// distribution with one random number (Walker 1977; Vose 1991).
type pairing struct{ small, large []int32 }

// pair fills each column whose share is below full from one whose share is above.
// Shares sum to full times their number, up to rounding. It leaves in shares the
// part of a column that is its own and writes to aliases whose the rest is.
func pair[N float64 | uint64](p *pairing, shares []N, full N, aliases []int32) {
	small := resize(p.small, len(shares))[:0]
	large := resize(p.large, len(shares))[:0]
	for i, s := range shares {
		if s < full {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s := small[len(small)-1]
		l := large[len(large)-1]
		small = small[:len(small)-1]
		aliases[s] = l
		shares[l] -= full - shares[s]
		if shares[l] < full {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// The remaining columns are full, up to rounding.
	for _, i := range small {
		shares[i] = full
		aliases[i] = i
	}
	for _, i := range large {
		shares[i] = full
		aliases[i] = i
	}
	p.small = small
	p.large = large
}

// aliasTable is the alias table of a row.
//
// A column is kept with probability threshold/2⁶⁴ and otherwise replaced by its
// alias, so the table holds the distribution it was built from to float64
// accuracy; columns and fractions come from one 64-bit number, with a bias below
// columns/2⁶⁴.
type aliasTable struct {
	thresholds []uint64
	aliases    []int32
	words      []WordID // word of a column; nil where column i is word i
}

// aliasBuilder is the scratch space for building tables.
type aliasBuilder struct {
	pairing
	shares []float64
}

// build fills t from probabilities p, which sum to 1 up to rounding and
// leastProbability per entry.
func (b *aliasBuilder) build(t *aliasTable, p []float64) {
	n := len(p)
	t.thresholds = resize(t.thresholds, n)
	t.aliases = resize(t.aliases, n)
	b.shares = resize(b.shares, n)
	for i, x := range p {
		b.shares[i] = x * float64(n)
	}
	pair(&b.pairing, b.shares, 1, t.aliases)
	for i, own := range b.shares {
		t.thresholds[i] = threshold(own)
	}
}

// threshold maps the part of a column that is its own, at most 1, to 64 bits.
func threshold(own float64) uint64 {
	if own >= 1 {
		return math.MaxUint64
	}
	return uint64(max(own, 0) * 0x1p64) // own < 1: the product fits
}

// draw maps a uniform 64-bit number to a word.
func (t *aliasTable) draw(r uint64) WordID {
	column, fraction := bits.Mul64(r, uint64(len(t.thresholds)))
	if fraction >= t.thresholds[column] {
		column = uint64(t.aliases[column])
	}
	if t.words != nil {
		return t.words[column]
	}
	return WordID(column)
}

// bytes returns the memory size of the table.
func (t *aliasTable) bytes() int {
	return 8*cap(t.thresholds) + 4*cap(t.aliases) + 4*cap(t.words)
}

// resize returns a slice of n numbers of any value, s where it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
