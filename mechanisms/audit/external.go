package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// BlackBox is a mechanism in another program, of which only the outputs are
// known.
type BlackBox struct {
	Name    string
	Epsilon float64 // what it claims
	// Metric is the distance in which it claims ε, see mechanisms.DistanceOf;
	// "" means discrete.
	Metric string
	// Sample returns n independent outputs for one input word. An output is
	// any text, "" included. The seed differs from call to call, for programs
	// that take one; a program that does not must draw anew each time.
	Sample func(ctx context.Context, word string, n int, seed stream.Seed) ([]string, error)
}

// External audits a black box over the words and distances of a space. Sample
// is called for one word at a time: a quarter of Options.Samples to choose what
// to test, all of them to test.
func External(ctx context.Context, box BlackBox, space *embeddings.Space, o Options) (Report, error) {
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	if box.Metric == "" {
		box.Metric = "discrete"
	}
	distance, err := mechanisms.DistanceOf(space, box.Metric)
	if err := errors.Join(err, check.Positive("epsilon", box.Epsilon)); err != nil {
		return Report{}, fmt.Errorf("%s: %w", box.Name, err)
	}
	r := Report{
		Settings: mechanisms.Settings{Mechanism: box.Name, Epsilon: box.Epsilon},
		Guarantee: mechanisms.Guarantee{
			Metric: box.Metric, Epsilon: box.Epsilon, Distance: distance, Reason: "as " + box.Name + " claims",
		},
	}
	// Outputs are numbered in order of appearance, after the words of the
	// space.
	names := space.Vocabulary.Words()
	names = names[:len(names):len(names)]
	numbers := map[string]int{}
	number := func(output string) int {
		if id := space.Vocabulary.ID(output); id != embeddings.Unknown {
			return int(id)
		}
		i, known := numbers[output]
		if !known {
			i = len(names)
			numbers[output] = i
			names = append(names, output)
		}
		return i
	}
	a := &audit{space: space, options: o, output: func(id embeddings.WordID) string { return names[id] }}
	a.count = func(ctx context.Context, w embeddings.WordID, samples int, purpose string) ([]int, error) {
		word := space.Vocabulary.Word(w)
		seed := o.Seed.Derive("audit", "external", box.Name, purpose, strconv.Itoa(int(w)))
		outputs, err := box.Sample(ctx, word, samples, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: word %q: %w", box.Name, word, err)
		}
		if len(outputs) != samples {
			return nil, fmt.Errorf("%s: word %q: %d outputs for %d asked for", box.Name, word, len(outputs), samples)
		}
		counts := make([]int, space.Len())
		for _, output := range outputs {
			y := number(output)
			for y >= len(counts) {
				counts = append(counts, 0)
			}
			counts[y]++
		}
		return counts, nil
	}
	err = a.run(ctx, &r)
	return r, err
}
