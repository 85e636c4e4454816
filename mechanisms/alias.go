package mechanisms

import (
	"math"
	"math/bits"
)

// aliasTable draws from a fixed distribution over len(thresholds) columns with
// one random number and at most two memory reads (Walker 1977; Vose 1991).
//
// A column is kept with probability threshold/2⁶⁴ and otherwise replaced by
// its alias, so the table holds the distribution it was built from to float64
// accuracy; columns and fractions come from one 64-bit number, with a bias
// below columns/2⁶⁴.
type aliasTable struct {
	thresholds []uint64
	aliases    []int32
	words      []WordID // word of a column; nil where column i is word i
}

// aliasBuilder is the scratch space for building tables.
type aliasBuilder struct {
	scaled       []float64
	small, large []int32
}

// build fills t from probabilities p, which sum to 1 up to rounding and
// leastProbability per entry.
func (b *aliasBuilder) build(t *aliasTable, p []float64) {
	n := len(p)
	t.thresholds = resize(t.thresholds, n)
	t.aliases = resize(t.aliases, n)
	b.scaled = resize(b.scaled, n)
	b.small = resize(b.small, n)[:0]
	b.large = resize(b.large, n)[:0]
	for i, x := range p {
		b.scaled[i] = x * float64(n)
		if b.scaled[i] < 1 {
			b.small = append(b.small, int32(i))
		} else {
			b.large = append(b.large, int32(i))
		}
	}
	for len(b.small) > 0 && len(b.large) > 0 {
		s, l := b.small[len(b.small)-1], b.large[len(b.large)-1]
		b.small = b.small[:len(b.small)-1]
		t.thresholds[s] = threshold(b.scaled[s])
		t.aliases[s] = l
		b.scaled[l] -= 1 - b.scaled[s]
		if b.scaled[l] < 1 {
			b.large = b.large[:len(b.large)-1]
			b.small = append(b.small, l)
		}
	}
	// The remaining columns hold 1 up to rounding.
	for _, rest := range [][]int32{b.small, b.large} {
		for _, i := range rest {
			t.thresholds[i] = math.MaxUint64
			t.aliases[i] = i
		}
	}
}

// threshold maps a probability in [0, 1) to 64 bits.
func threshold(p float64) uint64 {
	return uint64(max(p, 0) * 0x1p64) // p < 1: the product fits
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

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
