package models

import (
	"fmt"
	"slices"

	"mldpbench/stream"
)

// Len returns the number of examples.
func (x Examples) Len() int { return max(len(x.Sequences), len(x.Vectors)) }

// SplitVectors takes held examples of vectors, drawn from seed, for validation.
func (x Examples) SplitVectors(held int, seed stream.Seed) (train, validation Examples) {
	for k, i := range seed.Rand().Perm(x.Len()) {
		part := &train
		if k < held {
			part = &validation
		}
		part.Vectors = append(part.Vectors, x.Vectors[i])
		part.Labels = append(part.Labels, x.Labels[i])
	}
	return train, validation
}

// checkInputs verifies what a classifier relies on: exactly one kind of input,
// token ids in [0, tokens), vectors finite and of one length. It returns that
// length, 0 for sequences.
func (x Examples) checkInputs(tokens int) (width int, err error) {
	if x.Sequences != nil && x.Vectors != nil {
		return 0, fmt.Errorf("examples have both sequences and vectors: must have one of them")
	}
	for i, s := range x.Sequences {
		for _, id := range s {
			if id < 0 || int(id) >= tokens {
				return 0, fmt.Errorf("example %d: token %d: must be in [0, %d)", i, id, tokens)
			}
		}
	}
	for i, v := range x.Vectors {
		width = len(x.Vectors[0])
		switch {
		case len(v) == 0:
			return 0, fmt.Errorf("example %d: empty vector", i)
		case len(v) != width:
			return 0, fmt.Errorf("example %d: vector of length %d, the first has %d", i, len(v), width)
		case slices.ContainsFunc(v, func(f float32) bool { return f-f != 0 }):
			return 0, fmt.Errorf("example %d: vector has a component that is not finite", i)
		}
	}
	return width, nil
}

// checkLabels verifies that there are examples and one label in [0, classes)
// for each.
func (x Examples) checkLabels(classes int) error {
	if x.Len() == 0 {
		return fmt.Errorf("no examples")
	}
	if len(x.Labels) != x.Len() {
		return fmt.Errorf("%d labels for %d examples", len(x.Labels), x.Len())
	}
	for i, l := range x.Labels {
		if l < 0 || l >= classes {
			return fmt.Errorf("example %d: label %d: must be in [0, %d)", i, l, classes)
		}
	}
	return nil
}

// argmax returns the index of the largest score, the first among equals.
func argmax[T float32 | float64](scores []T) int {
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return best
}

// accuracy returns the share of examples whose best score is that of their label.
func accuracy(scores [][]float64, labels []int) float64 {
	right := 0
	for i, s := range scores {
		if argmax(s) == labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}
