package models

import (
	"fmt"
	"math"

	"mldpbench/internal/list"
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
		part.Vectors, part.Labels = append(part.Vectors, x.Vectors[i]), append(part.Labels, x.Labels[i])
	}
	return train, validation
}

// checkInputs verifies what a classifier relies on: exactly one kind of input,
// token ids in [0, tokens), vectors finite and of one length. tokens < 0 means
// that any id >= 0 is valid. It returns the length of the vectors, 0 for
// sequences.
func (x Examples) checkInputs(tokens int) (width int, err error) {
	switch {
	case x.Sequences != nil && x.Vectors != nil:
		return 0, fmt.Errorf("examples have both sequences and vectors: must have one of them")
	case x.Vectors != nil:
		width = len(x.Vectors[0])
		if width == 0 {
			return 0, fmt.Errorf("example 0: empty vector")
		}
		for i, v := range x.Vectors {
			if len(v) != width {
				return 0, fmt.Errorf("example %d: vector of length %d, the first has %d", i, len(v), width)
			}
			for _, f := range v {
				if f := float64(f); math.IsNaN(f) || math.IsInf(f, 0) {
					return 0, fmt.Errorf("example %d: vector has a component that is not finite", i)
				}
			}
		}
	default:
		for i, s := range x.Sequences {
			for _, id := range s {
				if id < 0 || tokens >= 0 && int(id) >= tokens {
					return 0, fmt.Errorf("example %d: token %d: must be in [0, %d)", i, id, tokens)
				}
			}
		}
	}
	return width, nil
}

// checkLabels verifies that there are examples and one label in [0, classes)
// for each.
func (x Examples) checkLabels(name string, classes int) error {
	if x.Len() == 0 {
		return fmt.Errorf("%s: no examples", name)
	}
	if len(x.Labels) != x.Len() {
		return fmt.Errorf("%s: %d labels for %d examples", name, len(x.Labels), x.Len())
	}
	for i, l := range x.Labels {
		if l < 0 || l >= classes {
			return fmt.Errorf("%s: example %d: label %d: must be in [0, %d)", name, i, l, classes)
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

// predictions returns the class with the best score for each example.
func predictions(scores [][]float64, err error) ([]int, error) {
	if err != nil {
		return nil, err
	}
	return list.Map(scores, func(s []float64) int { return argmax(s) }), nil
}

// accuracy returns the share of predictions that equal their label.
func accuracy(predicted, labels []int) float64 {
	right := 0
	for i, p := range predicted {
		if p == labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}
