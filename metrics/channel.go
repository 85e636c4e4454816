package metrics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
)

// Channel is a mechanism as an attacker knows it: the probabilities P(y|x) of
// outputs y given inputs x, both numbered from 0.
type Channel struct {
	Inputs, Outputs int
	// Row returns P(·|x), one number per output, summing to one. It may use
	// buffer, which is as long as a row or nil, and is called by many
	// goroutines at once.
	Row func(buffer []float64, x int) ([]float64, error)
	// Rows, if not nil, is used instead: it returns those of n inputs from x on,
	// at most rowsTogether, where making them together costs less.
	Rows func(x, n int) ([][]float64, error)
}

// rowsTogether is how many rows EachRow asks Rows for.
const rowsTogether = 4

func (c Channel) validate() error {
	return cmp.Or(check.AtLeast("inputs", c.Inputs, 1), check.AtLeast("outputs", c.Outputs, 1))
}

// Blocks is the number of parts into which the inputs are divided for
// EachRow. It is constant, so results merged by block do not depend on the
// number of workers.
const Blocks = 16

// EachRow calls take with every row of the channel, block by block: take(b, x,
// row) is called for the inputs of block b in ascending order and by one
// goroutine at a time, but blocks run concurrently. There are Blocks of them,
// whatever the number of workers. row is overwritten by the next call.
//
// This makes it possible to process a channel over a whole vocabulary: 27,000
// rows of 27,000 probabilities take 5.8 GB and are never stored.
func (c Channel) EachRow(ctx context.Context, workers int, take func(block, x int, row []float64)) error {
	if err := cmp.Or(c.validate(), check.AtLeast("workers", workers, 1)); err != nil {
		return err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(workers, Blocks) {
		g.Go(func() error {
			rows, together := c.Rows, rowsTogether
			if rows == nil {
				buffer := make([]float64, c.Outputs)
				rows, together = func(x, _ int) ([][]float64, error) {
					row, err := c.Row(buffer, x)
					return [][]float64{row}, err
				}, 1
			}
			for {
				block := int(next.Add(1)) - 1
				if block >= Blocks {
					return nil
				}
				last := (block + 1) * c.Inputs / Blocks
				for x := block * c.Inputs / Blocks; x < last; x += together {
					if err := ctx.Err(); err != nil {
						return err
					}
					made, err := rows(x, min(together, last-x))
					if err != nil {
						return fmt.Errorf("input %d: %w", x, err)
					}
					for i, row := range made {
						if len(row) != c.Outputs {
							return fmt.Errorf("input %d: %d outputs, not %d", x+i, len(row), c.Outputs)
						}
						take(block, x+i, row)
					}
				}
			}
		})
	}
	return g.Wait()
}

// Draws are outputs of a mechanism without a computable distribution: the same
// number of independent draws of every input, in the order of the inputs.
type Draws struct {
	PerInput int
	Outputs  []int32 // input x has [x·PerInput, (x+1)·PerInput)
	// Choices, if not nil, is used instead: it passes on every output of draw i,
	// numbered as Outputs are, with its probability given what was drawn, of so many
	// Inputs. A mean of such rows is nearer to the law than a mean of outcomes.
	Choices func(i int, take func(output int32, p float64))
	Inputs  int
}

// First returns the first n draws of every input, n at most PerInput.
func (d Draws) First(n int) Draws {
	if n >= d.PerInput {
		return d
	}
	return Draws{PerInput: n, Inputs: d.inputs(), Choices: func(i int, take func(int32, float64)) {
		d.each(i/n*d.PerInput+i%n, take)
	}}
}

func (d Draws) inputs() int {
	if d.Choices != nil {
		return d.Inputs
	}
	return len(d.Outputs) / max(1, d.PerInput)
}

// each passes on the outputs of a draw with their probabilities.
func (d Draws) each(i int, take func(output int32, p float64)) {
	if d.Choices != nil {
		d.Choices(i, take)
		return
	}
	take(d.Outputs[i], 1)
}

// of passes on those of all draws of an input.
func (d Draws) of(x int, take func(output int32, p float64)) {
	for i := x * d.PerInput; i < (x+1)*d.PerInput; i++ {
		d.each(i, take)
	}
}

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

// Learn returns the guesses of an attacker who estimates the channel from draws, under
// each prior: the share of each output among the draws of an input, reduced to leave a
// share of 1/(draws + 1) for outputs not seen. Half of that share goes to the input
// itself, which most mechanisms favour, and half is spread evenly over all outputs.
// Inputs must be outputs as well. lower are the errors of the best guessers on the draws
// themselves: 1 − Σ_y max_x π(x)·count(x, y)/draws.
func Learn(d Draws, priors [][]float64, outputs int) (decoders []Decoder, lower []float64) {
	n, unseen := float64(d.PerInput), 1/float64(d.PerInput+1)
	spread, best, all := unseen/2/float64(outputs), make([][]float64, len(priors)), make([]guesses, len(priors))
	for i, prior := range priors {
		likely := slices.Index(prior, slices.Max(prior)) // the guess for outputs that nobody gave
		best[i], all[i] = make([]float64, outputs), guesses{slices.Repeat([]float64{prior[likely] * spread}, outputs),
			slices.Repeat([]int32{int32(likely)}, outputs)}
	}
	row, counts, seen := make([]float64, outputs), make([]float64, outputs), []int32(nil)
	for x := range d.inputs() {
		seen, row[x] = append(seen[:0], int32(x)), spread+unseen/2
		d.of(x, func(y int32, p float64) {
			if row[y] == 0 {
				seen, row[y] = append(seen, y), spread
			}
			row[y] += float64((1 - unseen) / n * p)
			counts[y] += p
		})
		for i, prior := range priors {
			for _, y := range seen {
				best[i][y] = max(best[i][y], prior[x]*counts[y]/n)
				all[i].take(y, prior[x]*row[y], int32(x))
			}
		}
		for _, y := range seen {
			row[y], counts[y] = 0, 0
		}
	}
	for i := range priors {
		right := 0.0
		for _, p := range best[i] {
			right += p
		}
		decoders, lower = append(decoders, Decoder{all[i].input}), append(lower, min(1, max(0, 1-right)))
	}
	return decoders, lower
}
