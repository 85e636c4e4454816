package channel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
)

// Inference is what attackers learn from one output if they know the channel but
// not the context: the inference problem of [X21] §3.1 with the MAP attacker and
// all inputs as candidates. Few candidates are a prior with zeros, and an easier
// problem, but a wrong one where a mechanism reveals a group of words: with 200
// random candidates the secret is mostly alone in its group, and E_M is near 0
// for a mechanism that hides it among twenty words.
type Inference struct {
	Errors []Error // under the uniform prior, then under those given
	// Capacity is log₂ Σ_y max_x P(y|x) in bits: the logarithm of the largest
	// factor by which one output multiplies an attacker's chance of guessing
	// the input, whatever the prior (Braun, Chatzikokolakis & Palamidessi 2009:
	// the multiplicative min-capacity). It is 0 for outputs without
	// information, log₂ n for outputs that equal the input.
	Capacity stats.Interval
	Learned  int   // draws per input used to learn the channel; 0 where it is known
	Fresh    Draws // on which the learned decoders were measured
}

// exactly computes E_M for each prior, one probability per input, and the capacity,
// exactly and in one pass over the rows. Time O(inputs × outputs), memory
// O(outputs × priors): no row is kept. The result does not depend on the number
// of workers.
func exactly(ctx context.Context, c Channel, priors [][]float64, workers int) (Inference, error) {
	p := NewPass(c, priors)
	if err := c.EachRow(ctx, workers, p.Take); err != nil {
		return Inference{}, fmt.Errorf("inference: %w", err)
	}
	return p.Result(), nil
}

// Pass is that of Estimate for callers who need the rows for other purposes too:
// computing rows costs more than processing them.
type Pass struct {
	inputs, outputs int
	priors          [][]float64
	blocks          [][]guesses // per block and prior
}

// guesses are, for each output, the largest joint probability and its input.
type guesses struct {
	joint []float64
	input []int32
}

// take is of an input that is more probable, or as probable and first.
func (g guesses) take(y int32, joint float64, x int32) {
	if joint > g.joint[y] || joint == g.joint[y] && x < g.input[y] {
		g.joint[y] = joint
		g.input[y] = x
	}
}

func newGuesses(outputs int) guesses {
	return guesses{make([]float64, outputs), slices.Repeat([]int32{-1}, outputs)}
}

// NewPass is a pass over a channel; see Estimate.
func NewPass(c Channel, priors [][]float64) *Pass {
	return &Pass{
		inputs:  c.Inputs,
		outputs: c.Outputs,
		priors:  withUniform(c.Inputs, priors),
		blocks:  make([][]guesses, Blocks),
	}
}

// withUniform are the uniform prior over so many inputs and those given.
func withUniform(inputs int, priors [][]float64) [][]float64 {
	return append([][]float64{Uniform(inputs)}, priors...)
}

// Take processes one row. Pass it to EachRow.
func (v *Pass) Take(b, x int, row []float64) {
	if v.blocks[b] == nil {
		for range v.priors {
			v.blocks[b] = append(v.blocks[b], newGuesses(len(row)))
		}
	}
	for i, prior := range v.priors {
		weight := prior[x]
		if weight == 0 {
			continue
		}
		best := v.blocks[b][i]
		joint := best.joint
		input := best.input
		for y, f := range row {
			if j := weight * f; j > joint[y] {
				joint[y] = j
				input[y] = int32(x)
			}
		}
	}
}

// Result returns the result. Call it once, after all rows.
func (v *Pass) Result() Inference {
	var out Inference
	for i := range v.priors {
		merged := v.merged(i)
		right := 0.0
		for _, j := range merged.joint {
			right += j
		}
		if i == 0 { // right is at least 1/inputs, up to rounding
			out.Capacity = stats.Exactly(max(0, math.Log2(right*float64(v.inputs))))
		}
		wrong := stats.Exactly(max(0, 1-right))
		out.Errors = append(out.Errors, Error{MAP: wrong, Decoder: Decoder{merged.input}})
	}
	return out
}

// merged are the guesses of all blocks under a prior. Blocks are merged in order: sums and
// ties are the same for any number of workers.
func (v *Pass) merged(prior int) guesses {
	merged := newGuesses(v.outputs)
	for _, block := range v.blocks {
		if block == nil {
			continue
		}
		best := block[prior]
		for y, j := range best.joint {
			if j > merged.joint[y] {
				merged.joint[y] = j
				merged.input[y] = best.input[y]
			}
		}
	}
	return merged
}
