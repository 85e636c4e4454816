// Package channel has mechanisms as an attacker knows them: the probabilities of the outputs
// of each input, exactly where there is a closed form (Of), else learned from draws (Sampled,
// Smoothed). On it stands E_M, the error of the best guess of an input from one output:
// Estimate over all words of a mechanism, OfText over those of a text. Pass and Sampled do the
// same for who has rows or draws already. All of it is written here once, for measurements and
// for attackers.
//
// Inputs and outputs are numbered from 0; inputs are the first outputs. Errors and
// probabilities are shares in 0–1, capacities are in bits. Sources, as cited in the comments:
// [X21] Xu et al. 2021b.
package channel

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

// Channel holds the probabilities P(y|x) of outputs y given inputs x.
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

// Of is the exact channel of a mechanism for the first words of its
// vocabulary; nil where it has no closed form.
func Of(m *mechanisms.Mechanism, inputs int) *Channel {
	if !m.Closed() {
		return nil
	}
	rows := func(x, n int) ([][]float64, error) { return m.Rows(mechanisms.WordID(x), n) }
	return &Channel{
		Inputs:  inputs,
		Outputs: m.Vocabulary().Len(),
		Rows:    rows,
	}
}

// ofWords is the exact channel of a mechanism for some words, whose numbers are their places
// in the list; nil where it has no closed form.
func ofWords(m *mechanisms.Mechanism, words []mechanisms.WordID) *Channel {
	if !m.Closed() {
		return nil
	}
	number := numbering(m, words)
	row := func(buffer []float64, x int) ([]float64, error) {
		of, err := m.Row(words[x])
		for y, p := range of {
			buffer[number[y]] = p
		}
		return buffer, err
	}
	return &Channel{
		Inputs:  len(words),
		Outputs: m.Vocabulary().Len(),
		Row:     row,
	}
}

// numbering gives each word of a mechanism's vocabulary a number: those of some words
// are their places among them, and the others follow.
func numbering(m *mechanisms.Mechanism, words []mechanisms.WordID) []int32 {
	const none = -1
	number := make([]int32, m.Vocabulary().Len())
	for y := range number {
		number[y] = none
	}
	for i, w := range words {
		number[w] = int32(i)
	}
	next := int32(len(words))
	for y, n := range number {
		if n == none {
			number[y] = next
			next++
		}
	}
	return number
}

func (c Channel) validate() error {
	if err := check.AtLeast("inputs", c.Inputs, 1); err != nil {
		return err
	}
	return check.AtLeast("outputs", c.Outputs, 1)
}

// Blocks is the number of parts into which the inputs are divided for
// EachRow. It is constant, so results merged by block do not depend on the
// number of workers.
const Blocks = 16

// TakeRow gets a row: those of one block come in order, those of several blocks at once. The
// row is overwritten by the next one of the block.
type TakeRow = func(block, x int, row []float64)

// EachRow calls take with every row of the channel, block by block: take(b, x,
// row) is called for the inputs of block b in ascending order and by one
// goroutine at a time, but blocks run concurrently. There are Blocks of them,
// whatever the number of workers.
//
// This makes it possible to process a channel over a whole vocabulary: 27,000
// rows of 27,000 probabilities take 5.8 GB and are never stored.
func (c Channel) EachRow(ctx context.Context, workers int, take TakeRow) error {
	if err := c.validate(); err != nil {
		return err
	}
	if err := check.AtLeast("workers", workers, 1); err != nil {
		return err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(workers, Blocks) {
		g.Go(func() error {
			rows, together := c.batches()
			for {
				block := int(next.Add(1)) - 1
				if block >= Blocks {
					return nil
				}
				if err := c.block(ctx, block, rows, together, take); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// batches returns Rows and how many it makes together; where it is nil, Row in its place
// with a buffer of its own.
func (c Channel) batches() (rows func(x, n int) ([][]float64, error), together int) {
	if c.Rows != nil {
		return c.Rows, rowsTogether
	}
	buffer := make([]float64, c.Outputs)
	one := func(x, _ int) ([][]float64, error) {
		row, err := c.Row(buffer, x)
		return [][]float64{row}, err
	}
	return one, 1
}

// block passes on the rows of a block, made so many together.
func (c Channel) block(ctx context.Context, block int, rows func(x, n int) ([][]float64, error), together int,
	take TakeRow) error {
	first := block * c.Inputs / Blocks
	last := (block + 1) * c.Inputs / Blocks
	for x := first; x < last; x += together {
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
	return nil
}
