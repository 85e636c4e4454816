package models

import (
	"cmp"
	"slices"

	"gorgonia.org/tensor"

	"mldpbench/internal/list"
)

// batcher lays out examples in the order the recurrence needs. Its slices back
// the graph inputs, so filling them sets the inputs.
type batcher struct {
	tokens  []int32
	lengths []int32
	labels  []int32
	order   []int // the index in each row, longest sequence first
	longest int   // tokens read of a sequence, its last ones; 0 is no limit
}

// of returns the tokens that are read of a sequence.
func (b *batcher) of(sequence []int32) []int32 {
	if b.longest > 0 && len(sequence) > b.longest {
		return sequence[len(sequence)-b.longest:]
	}
	return sequence
}

func newBatcher(size, capacity int) *batcher {
	return &batcher{tokens: make([]int32, capacity), lengths: make([]int32, size), labels: make([]int32, size)}
}

// fill lays out the examples with these indices, at most as many as there are
// rows. Remaining rows are empty and have no label.
func (b *batcher) fill(x Examples, indices []int) {
	b.order = b.order[:0]
	for k := range indices {
		b.order = append(b.order, k)
	}
	slices.SortStableFunc(b.order, func(i, j int) int {
		return cmp.Compare(len(b.of(x.Sequences[indices[j]])), len(b.of(x.Sequences[indices[i]])))
	})
	for row := range b.lengths {
		b.lengths[row], b.labels[row] = 0, noLabel
	}
	for row, k := range b.order {
		b.lengths[row] = int32(len(b.of(x.Sequences[indices[k]])))
		if x.Labels != nil {
			b.labels[row] = int32(x.Labels[indices[k]])
		}
	}
	at := 0
	for t, n := 0, len(b.order); ; t++ {
		for n > 0 && int(b.lengths[n-1]) <= t {
			n--
		}
		if n == 0 {
			return
		}
		for row := range n {
			b.tokens[at] = b.of(x.Sequences[indices[b.order[row]]])[t]
			at++
		}
	}
}

// capacity returns the largest number of tokens that a batch of the given size
// can hold.
func capacity(size int, x Examples) int {
	lengths := list.Map(x.Sequences, func(s []int32) int { return len(s) })
	slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
	total := 1 // tensors are never empty
	for _, l := range lengths[:min(size, len(lengths))] {
		total += l
	}
	return total
}

func vector(v []int32) *tensor.Dense { return newDense(tensor.Shape{len(v)}, v) }
