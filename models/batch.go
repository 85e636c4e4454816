package models

import (
	"cmp"
	"slices"

	"mldpbench/internal/list"
)

// noLabel marks a row of a batch that is not an example.
const noLabel = -1

// batch is a batch of token sequences of different lengths, laid out by time so
// sequences that have ended take no part in later steps: masking is exact and
// padding costs nothing.
//
// Sequences are ordered by length, longest first. Step t holds the tokens at
// position t of the first active[t] sequences, in local[offset[t]:]. Words
// repeat: fewer than half of the tokens of 64 reviews are distinct.
type batch struct {
	longest int     // tokens read of a sequence, its last ones; 0 is no limit
	order   []int   // the index in each row
	labels  []int32 // of each row, noLabel of those without an example
	lengths []int32 // of each row
	active  []int   // per step, ending with a 0
	offset  []int   // per step, ending with the number of tokens
	words   []int32 // the distinct tokens in the order of their occurrence
	local   []int32 // for each token its index in words

	rows   [][]int32
	number []int32 // of each token of the table its index in words, −1 outside fill
}

func newBatch(size, tokens, longest int) *batch {
	return &batch{longest: longest, labels: make([]int32, size), lengths: make([]int32, size),
		number: slices.Repeat([]int32{-1}, tokens)}
}

// fill lays out the examples with these indices, at most as many as there are
// rows, and returns which of them each row holds. Remaining rows are empty.
func (b *batch) fill(x Examples, indices []int) []int {
	read := func(k int) []int32 {
		s := x.Sequences[indices[k]]
		if b.longest > 0 {
			s = s[max(0, len(s)-b.longest):]
		}
		return s
	}
	b.order = append(b.order[:0], consecutive(len(indices))...)
	slices.SortStableFunc(b.order, func(i, j int) int { return cmp.Compare(len(read(j)), len(read(i))) })
	for row := range b.lengths {
		b.lengths[row], b.labels[row] = 0, noLabel
	}
	b.rows, b.active, b.offset, b.words, b.local = b.rows[:0], b.active[:0], b.offset[:0], b.words[:0], b.local[:0]
	for row, k := range b.order {
		b.rows = append(b.rows, read(k))
		b.lengths[row] = int32(len(read(k)))
		if x.Labels != nil {
			b.labels[row] = int32(x.Labels[indices[k]])
		}
	}
	for t, n := 0, len(b.rows); ; t++ {
		for n > 0 && len(b.rows[n-1]) <= t {
			n--
		}
		b.active, b.offset = append(b.active, n), append(b.offset, len(b.local))
		if n == 0 {
			break
		}
		for _, s := range b.rows[:n] {
			if b.number[s[t]] < 0 {
				b.number[s[t]] = int32(len(b.words))
				b.words = append(b.words, s[t])
			}
			b.local = append(b.local, b.number[s[t]])
		}
	}
	for _, w := range b.words {
		b.number[w] = -1
	}
	return b.order
}

func (b *batch) steps() int { return len(b.active) - 1 }

// capacity returns the largest number of tokens that a batch of the given size
// can hold, 1 at least: tensors are never empty.
func capacity(size int, x Examples) int {
	lengths := list.Map(x.Sequences, func(s []int32) int { return -len(s) })
	slices.Sort(lengths)
	return 1 - list.Sum(lengths[:min(size, len(lengths))], func(l int) int { return l })
}
