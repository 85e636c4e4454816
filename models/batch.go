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

// newBatch is a batch of at most size sequences of ids below tokens; of each the last ones are read, as many as longest
// if that is not 0.
func newBatch(size, tokens, longest int) *batch {
	return &batch{
		longest: longest,
		labels:  make([]int32, size),
		lengths: make([]int32, size),
		number:  slices.Repeat([]int32{-1}, tokens),
	}
}

// fill lays out the examples with these indices, at most as many as there are
// rows, and returns which of them each row holds. Remaining rows are empty.
func (b *batch) fill(x Examples, indices []int) []int {
	b.order = append(b.order[:0], consecutive(len(indices))...)
	slices.SortStableFunc(b.order, func(i, j int) int {
		return cmp.Compare(len(b.read(x.Sequences[indices[j]])), len(b.read(x.Sequences[indices[i]])))
	})
	clear(b.lengths)
	for row := range b.labels {
		b.labels[row] = noLabel
	}
	b.rows = b.rows[:0]
	for row, k := range b.order {
		s := b.read(x.Sequences[indices[k]])
		b.rows = append(b.rows, s)
		b.lengths[row] = int32(len(s))
		if x.Labels != nil {
			b.labels[row] = int32(x.Labels[indices[k]])
		}
	}
	b.layOut()
	return b.order
}

// read is the part of a sequence that is read.
func (b *batch) read(s []int32) []int32 {
	if b.longest > 0 {
		return s[max(0, len(s)-b.longest):]
	}
	return s
}

// layOut makes steps of the rows.
func (b *batch) layOut() {
	b.active = b.active[:0]
	b.offset = b.offset[:0]
	b.words = b.words[:0]
	b.local = b.local[:0]
	n := len(b.rows)
	for t := 0; ; t++ {
		for n > 0 && len(b.rows[n-1]) <= t {
			n--
		}
		b.active = append(b.active, n)
		b.offset = append(b.offset, len(b.local))
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
}

// steps is the number of steps, that of the tokens of the longest sequence.
func (b *batch) steps() int { return len(b.active) - 1 }

// appendReversed appends local in the order of reading each sequence from its end.
func (b *batch) appendReversed(local []int32) []int32 {
	for t := range b.steps() {
		for i := range b.active[t] {
			position := int(b.lengths[i]) - 1 - t
			local = append(local, b.local[b.offset[position]+i])
		}
	}
	return local
}

// capacity returns the largest number of tokens that a batch of the given size
// can hold, 1 at least: tensors are never empty.
func capacity(size int, x Examples) int {
	lengths := list.Map(x.Sequences, func(s []int32) int { return -len(s) })
	slices.Sort(lengths)
	return 1 - list.Sum(lengths[:min(size, len(lengths))], func(l int) int { return l })
}
