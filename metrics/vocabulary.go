package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/stats"
)

// Decoder holds an attacker's guess for every output: g(y) = argmax_x
// π(x)·P(y|x) over all inputs, the MAP decision, which is optimal under 0/1
// loss. Ties go to the smallest input. Guess is −1 for an output that no input
// of positive prior can produce.
type Decoder struct{ Guess []int32 }

// FullInference is what attackers learn from one output if they know the
// channel but not the context.
type FullInference struct {
	// MAP is E_M for each prior given, 0/1 loss, over all inputs as candidates.
	MAP []float64
	// Decoders are the MAP attackers, one per prior.
	Decoders []Decoder
	// Capacity is log₂ Σ_y max_x P(y|x) in bits: the logarithm of the largest
	// factor by which one output multiplies an attacker's chance of guessing
	// the input, whatever the prior (Braun, Chatzikokolakis & Palamidessi 2009:
	// the multiplicative min-capacity). It is 0 for outputs without
	// information, log₂ n for outputs that equal the input. For the uniform
	// prior on n inputs, MAP E_M = 1 − 2^Capacity/n.
	Capacity float64
}

// FullVocabulary computes E_M against attackers for whom every input is a
// candidate, and the capacity, exactly and in one pass over the rows. priors
// have one entry per input and sum to one; see UniformPrior and EmpiricalPrior.
//
// Time O(inputs × outputs), memory O(outputs × priors): no row is kept. The
// result does not depend on the number of workers.
//
// Fewer candidates make an easier problem, and a wrong one where a mechanism
// reveals a group of words: with 200 random candidates the secret is mostly
// alone in its group, and E_M is near 0 for a mechanism that hides it among
// twenty words.
func FullVocabulary(ctx context.Context, c Channel, priors [][]float64, workers int) (FullInference, error) {
	p, err := NewVocabularyPass(c, priors)
	if err != nil {
		return FullInference{}, err
	}
	if err := c.EachRow(ctx, workers, p.Take); err != nil {
		return FullInference{}, fmt.Errorf("inference: %w", err)
	}
	return p.Result(), nil
}

// VocabularyPass is FullVocabulary for callers who need the rows for other
// purposes too: computing rows costs more than processing them.
type VocabularyPass struct {
	outputs int
	priors  [][]float64
	blocks  [][]vocabularyPart // per block and prior
	largest [][]float64        // per block: the largest P(y|x)
}

// vocabularyPart is the result of one block of inputs: for each output the
// largest joint probability and its input.
type vocabularyPart struct {
	joint []float64
	guess []int32
}

func newVocabularyPart(outputs int) vocabularyPart {
	return vocabularyPart{make([]float64, outputs), slices.Repeat([]int32{-1}, outputs)}
}

// NewVocabularyPass checks channel and priors; see FullVocabulary.
func NewVocabularyPass(c Channel, priors [][]float64) (*VocabularyPass, error) {
	for _, prior := range priors {
		if len(prior) != c.Inputs {
			return nil, fmt.Errorf("inference: prior of %d inputs for a channel of %d", len(prior), c.Inputs)
		}
		if err := (Adversary{Prior: prior}).validate(); err != nil {
			return nil, fmt.Errorf("inference: %w", err)
		}
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("inference: %w", err)
	}
	return &VocabularyPass{c.Outputs, priors, make([][]vocabularyPart, channelBlocks),
		make([][]float64, channelBlocks)}, nil
}

// Take processes one row. Pass it to EachRow.
func (v *VocabularyPass) Take(b, x int, row []float64) {
	if v.blocks[b] == nil {
		for range v.priors {
			v.blocks[b] = append(v.blocks[b], newVocabularyPart(len(row)))
		}
		v.largest[b] = make([]float64, len(row))
	}
	top := v.largest[b]
	for y, f := range row {
		top[y] = max(top[y], f)
	}
	for i, prior := range v.priors {
		weight := prior[x]
		if weight == 0 {
			continue
		}
		p := &v.blocks[b][i]
		joint, guess := p.joint, p.guess
		for y, f := range row {
			if j := weight * f; j > joint[y] {
				joint[y], guess[y] = j, int32(x)
			}
		}
	}
}

// Result returns the result. Call it once, after all rows.
func (v *VocabularyPass) Result() FullInference {
	// Blocks are merged in order: sums and ties are the same for any number of
	// workers.
	var out FullInference
	for i := range v.priors {
		merged := newVocabularyPart(v.outputs)
		for _, block := range v.blocks {
			if i >= len(block) {
				continue
			}
			p := block[i]
			for y := range p.joint {
				if p.joint[y] > merged.joint[y] {
					merged.joint[y], merged.guess[y] = p.joint[y], p.guess[y]
				}
			}
		}
		right := 0.0
		for _, j := range merged.joint {
			right += j
		}
		out.MAP, out.Decoders = append(out.MAP, max(0, 1-right)), append(out.Decoders, Decoder{merged.guess})
	}
	sum := 0.0
	for y := range v.outputs {
		top := 0.0
		for _, l := range v.largest {
			if l != nil {
				top = max(top, l[y])
			}
		}
		sum += top
	}
	out.Capacity = max(0, math.Log2(sum)) // the sum is at least 1 up to rounding
	return out
}

// SampledInference is E_M of a mechanism that can only be sampled.
type SampledInference struct {
	// MAP is the error of an attacker who learned the channel from one set of
	// draws, measured on another, with its interval: a real attacker, so an
	// upper bound in expectation on the error of the ideal one. More draws to
	// learn from bring it closer.
	MAP stats.Interval
	// Lower is the resubstitution error, judged on the draws learned from: a
	// lower bound in expectation on the error of the ideal attacker.
	Lower    float64
	Learned  int // draws per input used to learn
	Measured int // draws per input used to measure
	// Of GrowInference:
	Moved     float64 // by how much the last doubling of the draws lowered the error
	Remaining float64 // estimate of how much further doublings would lower it
	Settled   bool    // the last two doublings moved it within the tolerance
}

// SampledFull is FullInference of a mechanism that can only be sampled.
type SampledFull struct {
	Inference []SampledInference // one per prior
	Decoders  []Decoder          // one per prior, learned from draws
	Capacity  stats.Interval     // in bits
}

// MeasureDecoder returns the error of a decoder on draws it has not seen, under a
// prior. The interval is Hoeffding's, which holds for every sample size and
// prior: with weights w = π(x)/draws, the half-width is √(Σw²·ln(2/(1−level))/2).
func MeasureDecoder(d Decoder, prior []float64, fresh Draws, level float64) (stats.Interval, error) {
	if err := fresh.validate(len(prior), len(d.Guess)); err != nil {
		return stats.Interval{}, fmt.Errorf("inference: %w", err)
	}
	if err := check.Inside("level", level, 0, 1); err != nil {
		return stats.Interval{}, err
	}
	var right, squares float64
	for x, p := range prior {
		hits := 0
		for _, y := range fresh.of(x) {
			if int(d.Guess[y]) == x {
				hits++
			}
		}
		right += p * float64(hits) / float64(fresh.PerInput)
		squares += float64(p*p) / float64(fresh.PerInput)
	}
	half := math.Sqrt(squares * math.Log(2/(1-level)) / 2)
	wrong := min(1, max(0, 1-right))
	return stats.Interval{Estimate: wrong, Low: max(0, wrong-half), High: min(1, wrong+half)}, nil
}

// SampledVocabulary estimates E_M over the full vocabulary for each prior, and
// the capacity, from two independent sets of draws: the attacker learns from
// one and is measured on the other.
//
// The capacity's Low holds with confidence (1+level)/2: no guesser is right
// more often than the ideal one, so 2^C >= n·(measured share of right guesses,
// less Hoeffding's half-width). Its High holds likewise: the largest observed
// shares overestimate Σ_y max_x P(y|x) in expectation, and McDiarmid's
// inequality bounds how far they may fall below it. Estimate is the plug-in
// value of the lower bound. The interval narrows with the number of draws and
// is wide for strong noise.
func SampledVocabulary(ctx context.Context, learn, fresh Draws, outputs int, priors [][]float64, level float64,
	workers int) (SampledFull, error) {
	var out SampledFull
	n := learn.inputs()
	if err := check.Inside("level", level, 0, 1); err != nil {
		return out, err
	}
	channel, err := LearnChannel(learn, n, outputs)
	if err != nil {
		return out, err
	}
	all := append([][]float64{UniformPrior(n)}, priors...)
	full, err := FullVocabulary(ctx, channel, all, workers)
	if err != nil {
		return out, err
	}
	for i, prior := range all {
		measured, err := MeasureDecoder(full.Decoders[i], prior, fresh, level)
		if err != nil {
			return out, err
		}
		resubstituted := resubstitution(learn, prior, outputs)
		if i > 0 {
			out.Inference = append(out.Inference, SampledInference{MAP: measured, Lower: resubstituted,
				Learned: learn.PerInput, Measured: fresh.PerInput})
			continue
		}
		// The uniform prior, for the capacity.
		bits := func(right float64) float64 { return math.Log2(min(float64(n), max(1, float64(n)*right))) }
		draws := float64(learn.PerInput)
		short := math.Sqrt(math.Log(2/(1-level)) / (2 * draws * float64(n)))
		out.Capacity = stats.Interval{Estimate: bits(1 - measured.Estimate), Low: bits(1 - measured.High),
			High: bits(1 - resubstituted + short)}
	}
	out.Decoders = full.Decoders[1:]
	return out, nil
}

// resubstitution returns the error of the best guesser on the draws it has
// learned from: 1 − Σ_y max_x π(x)·count(x, y)/draws.
func resubstitution(d Draws, prior []float64, outputs int) float64 {
	best := make([]float64, outputs)
	counts := make([]int, outputs)
	for x, p := range prior {
		own := d.of(x)
		for _, y := range own {
			counts[y]++
		}
		for _, y := range own {
			best[y] = max(best[y], p*float64(counts[y])/float64(d.PerInput))
		}
		for _, y := range own {
			counts[y] = 0
		}
	}
	right := 0.0
	for _, b := range best {
		right += b
	}
	return min(1, max(0, 1-right))
}
