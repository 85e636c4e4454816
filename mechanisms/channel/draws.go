package channel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Draws are outputs of a mechanism without a computable distribution: the same
// number of independent draws of every input, in the order of the inputs.
type Draws struct {
	PerInput int
	Outputs  []int32 // input x has [x·PerInput, (x+1)·PerInput)
	// Choices, if not nil, is used instead: it passes on every output of draw i,
	// numbered as Outputs are, with its probability given what was drawn, of so many
	// Inputs. A mean of such rows is nearer to the law than a mean of outcomes.
	Choices func(i int, take TakeOutput)
	Inputs  int
}

// TakeOutput gets an output of a draw and its probability given what was drawn.
type TakeOutput = func(output int32, p float64)

// First returns the first n draws of every input, n at most PerInput.
func (d Draws) First(n int) Draws {
	if n >= d.PerInput {
		return d
	}
	of := func(i int, take TakeOutput) { d.each(i/n*d.PerInput+i%n, take) }
	return Draws{
		PerInput: n,
		Inputs:   d.inputs(),
		Choices:  of,
	}
}

func (d Draws) inputs() int {
	if d.Choices != nil {
		return d.Inputs
	}
	return len(d.Outputs) / max(1, d.PerInput)
}

// each passes on the outputs of a draw with their probabilities.
func (d Draws) each(i int, take TakeOutput) {
	if d.Choices != nil {
		d.Choices(i, take)
		return
	}
	take(d.Outputs[i], 1)
}

// of passes on those of all draws of an input.
func (d Draws) of(x int, take TakeOutput) {
	for i := x * d.PerInput; i < (x+1)*d.PerInput; i++ {
		d.each(i, take)
	}
}

// validate returns an error for draws that are not as many of every input, or of outputs
// that there are not.
func (d Draws) validate(inputs, outputs int) error {
	if err := check.AtLeast("draws per input", d.PerInput, 1); err != nil {
		return err
	}
	if d.inputs() != inputs || d.Choices == nil && len(d.Outputs) != inputs*d.PerInput {
		return fmt.Errorf("%d draws: must be %d of each of %d inputs", len(d.Outputs), d.PerInput, inputs)
	}
	for i, y := range d.Outputs {
		if y < 0 || int(y) >= outputs {
			return fmt.Errorf("draw %d: output %d: must be in [0, %d)", i, y, outputs)
		}
	}
	return nil
}

// drawnTogether is the number of words that share a stream. It is constant, so
// the result does not depend on the number of threads.
const drawnTogether = 64

// draw draws so many outputs of each of some words of a mechanism; where a choice follows the
// noise, what it chooses from. The numbers of the words are their places in the list, those of
// the others follow.
func draw(ctx context.Context, m *mechanisms.Mechanism, words []mechanisms.WordID, samples int, seed stream.Seed,
	threads int) (Draws, error) {
	if err := check.Within("draws of all words", float64(len(words)*samples), 1, math.MaxInt32); err != nil {
		return Draws{}, err
	}
	d := drawing{
		m:       m,
		words:   words,
		number:  numbering(m, words),
		samples: samples,
	}
	out := d.prepare()
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(1, threads))
	for first := 0; first < len(words); first += drawnTogether {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			return d.part(running, first, seed.At(uint64(first/drawnTogether)))
		})
	}
	return out, g.Wait()
}

// drawing is draw at work.
type drawing struct {
	m       *mechanisms.Mechanism
	words   []mechanisms.WordID
	number  []int32 // of every word of the vocabulary
	samples int

	outputs []int32              // of words without choices
	choices []mechanisms.Choices // by part: of draws of drawnTogether words
}

// prepare makes room for the draws, which the parts fill in.
func (d *drawing) prepare() Draws {
	n := len(d.words)
	if d.m.Choices() == nil {
		d.outputs = make([]int32, n*d.samples)
		return Draws{PerInput: d.samples, Outputs: d.outputs}
	}
	d.choices = make([]mechanisms.Choices, n/drawnTogether+1)
	each := drawnTogether * d.samples
	choices := func(i int, take TakeOutput) {
		d.choices[i/each](i%each, func(y mechanisms.WordID, p float64) {
			take(d.number[y], p)
		})
	}
	return Draws{
		PerInput: d.samples,
		Choices:  choices,
		Inputs:   n,
	}
}

// part draws the words that share a stream, from the first of them on.
func (d *drawing) part(ctx context.Context, first int, seed stream.Seed) error {
	var ids []mechanisms.WordID
	for _, w := range d.words[first:min(first+drawnTogether, len(d.words))] {
		ids = append(ids, slices.Repeat([]mechanisms.WordID{w}, d.samples)...)
	}
	rng := seed.Rand()
	if d.choices != nil {
		d.choices[first/drawnTogether] = d.m.Choices()(ids, rng)
		return nil
	}
	if err := d.m.Privatize(ctx, ids, ids, rng); err != nil {
		return err
	}
	for i, y := range ids {
		d.outputs[first*d.samples+i] = d.number[y]
	}
	return nil
}
