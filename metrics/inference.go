package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
)

// UniformPrior gives each of m candidates 1/m.
func UniformPrior(m int) []float64 { return slices.Repeat([]float64{1 / float64(m)}, m) }

// EmpiricalPrior returns a prior proportional to the counts of the candidates in
// a corpus, with one added to each, so that none is ruled out (Laplace's rule).
func EmpiricalPrior(counts []int) []float64 {
	total := len(counts) + list.Sum(counts, func(n int) int { return n })
	return list.Map(counts, func(n int) float64 { return float64(n+1) / float64(total) })
}

// Decoder holds an attacker's guess for every output: g(y) = argmax_x
// π(x)·P(y|x) over all inputs, the MAP decision, which is optimal under 0/1
// loss. Ties go to the smallest input. Guess is −1 for an output that no input
// of positive prior can produce.
type Decoder struct{ Guess []int32 }

// Inference is what attackers learn from one output if they know the channel but
// not the context: the inference problem of [X21] §3.1 with the MAP attacker and
// all inputs as candidates. Few candidates are a prior with zeros, and an easier
// problem, but a wrong one where a mechanism reveals a group of words: with 200
// random candidates the secret is mostly alone in its group, and E_M is near 0
// for a mechanism that hides it among twenty words.
type Inference struct {
	Errors []InferenceError // under the uniform prior, then under those given
	// Capacity is log₂ Σ_y max_x P(y|x) in bits: the logarithm of the largest
	// factor by which one output multiplies an attacker's chance of guessing
	// the input, whatever the prior (Braun, Chatzikokolakis & Palamidessi 2009:
	// the multiplicative min-capacity). It is 0 for outputs without
	// information, log₂ n for outputs that equal the input.
	Capacity stats.Interval
	Learned  int   // draws per input used to learn the channel; 0 where it is known
	Fresh    Draws // on which the learned decoders were measured
}

// InferenceError is E_M, 0/1 loss, under one prior.
type InferenceError struct {
	// MAP is exact where the channel is known. Else it is the smallest error of three
	// attackers: who learned the channel from one set of draws, measured on another, who
	// guesses the output itself, measured on the same draws, and who guesses the most
	// probable input whatever he sees. All are real attackers, so each error is an upper
	// bound in expectation on that of the ideal one. Of two errors that were measured the
	// smaller is below the smaller truth in expectation, by less than their sampling
	// errors: against the mechanism. The interval holds for the smaller truth, too. More
	// draws to learn from bring it closer to the ideal one.
	MAP     stats.Interval
	Decoder Decoder
	By      Guesser // whose error it is
	// Of draws:
	Lower     float64 // judged on the draws learned from: a lower bound in expectation on the ideal error
	Moved     float64 // by how much the last doubling of the draws lowered the error
	Remaining float64 // estimate of how much further doublings would lower it
	Settled   bool    // the last two doublings moved it within the tolerance
}

// Guesser is a kind of attacker.
type Guesser int

// Guessers: MAP of the channel, exact or learned; of the output itself, and of the most
// probable input where it is no input; of the most probable input, whatever the output.
const (
	ByChannel Guesser = iota
	ByOutput
	ByPrior
)

// Says says what an attacker does, where one learned the channel from so many draws of
// each word: "an attacker who …".
func (g Guesser) Says(draws int) string {
	learned := fmt.Sprintf("learned from %d draws a word", draws)
	switch g {
	case ByOutput:
		return "guesses the output itself, as one errs more who " + learned
	case ByPrior:
		return "guesses the most frequent word, as one errs more who " + learned
	}
	return learned
}

// Infer computes E_M for each prior, one probability per input, and the capacity,
// exactly and in one pass over the rows. Time O(inputs × outputs), memory
// O(outputs × priors): no row is kept. The result does not depend on the number
// of workers.
func Infer(ctx context.Context, c Channel, priors [][]float64, workers int) (Inference, error) {
	p := NewInferencePass(c, priors)
	if err := c.EachRow(ctx, workers, p.Take); err != nil {
		return Inference{}, fmt.Errorf("inference: %w", err)
	}
	return p.Result(), nil
}

// InferencePass is Infer for callers who need the rows for other purposes too:
// computing rows costs more than processing them.
type InferencePass struct {
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
		g.joint[y], g.input[y] = joint, x
	}
}

func newGuesses(outputs int) guesses {
	return guesses{make([]float64, outputs), slices.Repeat([]int32{-1}, outputs)}
}

// NewInferencePass is a pass over a channel; see Infer.
func NewInferencePass(c Channel, priors [][]float64) *InferencePass {
	all := append([][]float64{UniformPrior(c.Inputs)}, priors...)
	return &InferencePass{c.Inputs, c.Outputs, all, make([][]guesses, Blocks)}
}

// Take processes one row. Pass it to EachRow.
func (v *InferencePass) Take(b, x int, row []float64) {
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
		joint, input := v.blocks[b][i].joint, v.blocks[b][i].input
		for y, f := range row {
			if j := weight * f; j > joint[y] {
				joint[y], input[y] = j, int32(x)
			}
		}
	}
}

// Result returns the result. Call it once, after all rows.
func (v *InferencePass) Result() (out Inference) {
	// Blocks are merged in order: sums and ties are the same for any number of
	// workers.
	for i := range v.priors {
		merged := newGuesses(v.outputs)
		for _, block := range v.blocks {
			if block == nil {
				continue
			}
			for y, j := range block[i].joint {
				if j > merged.joint[y] {
					merged.joint[y], merged.input[y] = j, block[i].input[y]
				}
			}
		}
		right := 0.0
		for _, j := range merged.joint {
			right += j
		}
		if i == 0 { // right is at least 1/inputs, up to rounding
			out.Capacity = stats.Exactly(max(0, math.Log2(right*float64(v.inputs))))
		}
		out.Errors = append(out.Errors, InferenceError{MAP: stats.Exactly(max(0, 1-right)),
			Decoder: Decoder{merged.input}})
	}
	return out
}

// Remaining is by how much all further doublings of the draws would lower an error
// that the last lowered so much: a geometric series. A bias that falls with the inverse of
// the draws has a ratio of 1/2, with their square root 0.71; it is more than either here,
// as gains may grow before they fall.
func Remaining(moved float64) float64 {
	const ratio = 0.8
	return max(0, moved) * ratio / (1 - ratio)
}

// Growth says from how many draws a channel is learned.
type Growth struct {
	First, Most int     // of every input: from First on they are doubled up to Most
	Tolerance   float64 // until two doublings in a row lower the error of no prior by more
	Level       float64 // confidence of the intervals
}

// InferSampled estimates what Infer computes from two independent sets of draws:
// the attacker learns from one and is measured on the other. The estimate is never
// above the error of guessing the output itself, see InferenceError. An attacker who
// learned from few draws is too kind to mechanisms of noise, by more than the
// sampling error shows. Where draws may grow, the Low of MAP is therefore that of
// the ideal attacker: lower than the measured error by the sampling error and by
// Remaining, but not below what Lower allows.
//
// draw returns n draws of every input to learn from, or draws to measure on, as
// many as it likes. Those to measure on must be independent of those to learn
// from; those to learn from may hold the earlier ones. Both attackers of a step
// are measured on the same draws, so that the difference is known better than
// either.
//
// The capacity's Low holds with confidence (1+level)/2: no guesser is right
// more often than the ideal one, so 2^C >= n·(measured share of right guesses,
// less Hoeffding's half-width). Its High holds likewise: the largest observed
// shares overestimate Σ_y max_x P(y|x) in expectation, and McDiarmid's
// inequality bounds how far they may fall below it. Estimate is the plug-in
// value of the lower bound. The interval narrows with the number of draws and
// is wide for strong noise.
func InferSampled(draw func(n, step int, learn bool) (Draws, error), outputs int, priors [][]float64,
	g Growth) (out Inference, err error) {
	if err := cmp.Or(check.AtLeast("first", g.First, 1), check.AtLeast("most", g.Most, g.First),
		check.Positive("tolerance", g.Tolerance), check.Inside("level", g.Level, 0, 1)); err != nil {
		return out, fmt.Errorf("inference: %w", err)
	}
	var all [][]float64
	for n, step := g.First, 0; n <= g.Most; n, step = 2*n, step+1 {
		before := out.Errors
		learn, err := draw(n, step, true)
		if err != nil {
			return out, err
		}
		fresh, err := draw(n, step, false)
		if err != nil {
			return out, err
		}
		all = append([][]float64{UniformPrior(fresh.inputs())}, priors...)
		if out, err = inferFrom(learn, fresh, outputs, all, g.Level); err != nil {
			return out, err
		}
		if g.Most == g.First {
			break
		}
		settled := before != nil
		for i := range out.Errors {
			now := &out.Errors[i]
			half := now.MAP.Estimate - now.MAP.Low
			if before == nil { // nothing is known of the bias but its bound
				now.MAP.Low = max(0, min(now.MAP.Low, now.Lower-half))
				continue
			}
			fewer := MeasureDecoder(before[i].Decoder, all[i], fresh, LevelOfEach(g.Level))
			now.Moved = fewer.Estimate - now.MAP.Estimate
			now.Remaining = Remaining(max(now.Moved, before[i].Moved))
			now.Settled = step > 1 && now.Moved <= g.Tolerance && before[i].Moved <= g.Tolerance
			settled = settled && now.Settled
			now.MAP.Low = max(0, min(now.MAP.Low, max(now.Lower-half, now.MAP.Low-now.Remaining)))
		}
		if settled {
			break
		}
	}
	for i, prior := range all {
		out.Errors[i] = out.Errors[i].Bounded(prior, outputs, func(d Decoder) stats.Interval {
			return MeasureDecoder(d, prior, out.Fresh, LevelOfEach(g.Level))
		})
	}
	out.Capacity = sampledCapacity(out, g.Level)
	return out, nil
}

// LevelOfEach is the confidence of each of two intervals for that of the smaller of two
// errors to hold with the given one. Its High fails only if one of two does, its Low only
// if that of the smaller truth does: three tails, not two.
func LevelOfEach(level float64) float64 { return 1 - 2*(1-level)/3 }

// Bounded is the error of who learned the channel, or that of who guesses the output itself
// or the most probable input, if it is smaller. Both are measured on the same draws. What
// more draws would still lower is counted from there.
func (e InferenceError) Bounded(prior []float64, outputs int, measure func(Decoder) stats.Interval) InferenceError {
	learned := e.MAP
	output := OutputDecoder(prior, outputs)
	read := measure(output)
	if read.Estimate < e.MAP.Estimate {
		e.MAP, e.Decoder, e.By = read, output, ByOutput
	}
	blind := 1 - slices.Max(prior) // exact
	if blind < e.MAP.Estimate {
		e.MAP, e.Decoder, e.By = stats.Exactly(blind), PriorDecoder(prior, outputs), ByPrior
	}
	e.MAP.High = min(e.MAP.High, blind)
	e.MAP.Low = min(e.MAP.Low, learned.Low)
	e.Remaining = max(0, e.Remaining-(learned.Estimate-e.MAP.Estimate))
	return e
}

// OutputDecoder guesses the output itself, and for an output that is no input the most
// probable input.
func OutputDecoder(prior []float64, outputs int) Decoder {
	d := PriorDecoder(prior, outputs)
	for y := range min(len(prior), outputs) {
		d.Guess[y] = int32(y)
	}
	return d
}

// PriorDecoder guesses the most probable input, whatever the output.
func PriorDecoder(prior []float64, outputs int) Decoder {
	likely := slices.Index(prior, slices.Max(prior))
	return Decoder{slices.Repeat([]int32{int32(likely)}, outputs)}
}

// inferFrom is InferSampled from one number of draws.
func inferFrom(learn, fresh Draws, outputs int, priors [][]float64, level float64) (Inference, error) {
	n := learn.inputs()
	if err := cmp.Or(learn.validate(n, outputs), fresh.validate(n, outputs)); err != nil {
		return Inference{}, fmt.Errorf("inference: %w", err)
	}
	out := Inference{Learned: learn.PerInput, Fresh: fresh}
	decoders, lower := Learn(learn, priors, outputs)
	for i, d := range decoders {
		out.Errors = append(out.Errors, InferenceError{MAP: MeasureDecoder(d, priors[i], fresh, LevelOfEach(level)),
			Decoder: d, Lower: lower[i]})
	}
	return out, nil
}

// sampledCapacity is that of InferSampled, from the error under the uniform prior.
func sampledCapacity(i Inference, level float64) stats.Interval {
	n := float64(i.Fresh.inputs())
	uniform := i.Errors[0]
	bits := func(right float64) float64 { return math.Log2(min(n, max(1, n*right))) }
	short := math.Sqrt(math.Log(2/(1-level)) / (2 * float64(i.Learned) * n))
	return stats.Interval{Estimate: bits(1 - uniform.MAP.Estimate), Low: bits(1 - uniform.MAP.High),
		High: bits(1 - uniform.Lower + short)}
}

// MeasureDecoder returns the error of a decoder on draws it has not seen, under a
// prior. The interval is Hoeffding's, which holds for every sample size and
// prior: with weights w = π(x)/draws, the half-width is √(Σw²·ln(2/(1−level))/2).
func MeasureDecoder(d Decoder, prior []float64, fresh Draws, level float64) stats.Interval {
	var right, squares float64
	for x, p := range prior {
		hits := 0.0
		fresh.of(x, func(y int32, p float64) {
			if int(d.Guess[y]) == x {
				hits += p
			}
		})
		right += p * hits / float64(fresh.PerInput)
		squares += float64(p*p) / float64(fresh.PerInput)
	}
	half := math.Sqrt(squares * math.Log(2/(1-level)) / 2)
	wrong := min(1, max(0, 1-right))
	return stats.Interval{Estimate: wrong, Low: max(0, wrong-half), High: min(1, wrong+half)}
}
