package channel

import (
	"fmt"
	"math"

	"mldpbench/internal/check"
	"mldpbench/internal/stats"
)

// Growth says from how many draws a channel is learned.
type Growth struct {
	First, Most int     // of every input: from First on they are doubled up to Most
	Tolerance   float64 // until two doublings in a row lower the error of no prior by more
	Level       float64 // confidence of the intervals
}

func (g Growth) validate() error {
	if err := check.AtLeast("first", g.First, 1); err != nil {
		return err
	}
	if err := check.AtLeast("most", g.Most, g.First); err != nil {
		return err
	}
	if err := check.Positive("tolerance", g.Tolerance); err != nil {
		return err
	}
	return check.Inside("level", g.Level, 0, 1)
}

// remaining is by how much all further doublings of the draws would lower an error
// that the last lowered so much: a geometric series. A bias that falls with the inverse of
// the draws has a ratio of 1/2, with their square root 0.71; it is more than either here,
// as gains may grow before they fall.
func remaining(moved float64) float64 {
	const ratio = 0.8
	return max(0, moved) * ratio / (1 - ratio)
}

// Sample is two independent sets of draws.
type Sample struct {
	// Learn returns n draws of every input to learn from, in a step of the growth; they
	// may hold those of earlier steps.
	Learn   func(n, step int) (Draws, error)
	Fresh   Draws // to measure on, as many as one likes
	Outputs int
}

// Sampled estimates what Pass computes from two independent sets of draws:
// the attacker learns from one and is measured on the other. The estimate is never
// above the error of guessing the output itself, see Error. An attacker who
// learned from few draws is too kind to mechanisms of noise, by more than the
// sampling error shows. Where draws may grow, the Low of MAP is therefore that of
// the ideal attacker: lower than the measured error by the sampling error and by
// Remaining, but not below what Lower allows. Both attackers of a step
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
func Sampled(s Sample, priors [][]float64, g Growth) (Inference, error) {
	if err := g.validate(); err != nil {
		return Inference{}, fmt.Errorf("inference: %w", err)
	}
	all := withUniform(s.Fresh.inputs(), priors)
	out := Inference{Fresh: s.Fresh}
	step := 0
	for n := g.First; n <= g.Most; n *= 2 {
		before := out.Errors
		draws, err := s.Learn(n, step)
		if err != nil {
			return Inference{}, err
		}
		out.Errors, err = s.learned(draws, all, g.Level)
		if err != nil {
			return Inference{}, err
		}
		out.Learned = draws.PerInput
		if g.Most == g.First || s.grown(out.Errors, before, all, g, step) {
			break
		}
		step++
	}
	level := levelOfEach(g.Level)
	for i, prior := range all {
		measure := func(d Decoder) stats.Interval { return d.measured(prior, s.Fresh, level) }
		out.Errors[i] = out.Errors[i].bounded(prior, s.Outputs, measure)
	}
	out.Capacity = sampledCapacity(out, g.Level)
	return out, nil
}

// learned are the errors of who learned from draws, under each prior.
func (s Sample) learned(draws Draws, priors [][]float64, level float64) ([]Error, error) {
	n := draws.inputs()
	if err := draws.validate(n, s.Outputs); err != nil {
		return nil, fmt.Errorf("inference: %w", err)
	}
	if err := s.Fresh.validate(n, s.Outputs); err != nil {
		return nil, fmt.Errorf("inference: %w", err)
	}
	decoders, lower := learn(draws, priors, s.Outputs)
	errors := make([]Error, len(priors))
	for i, d := range decoders {
		wrong := d.measured(priors[i], s.Fresh, levelOfEach(level))
		errors[i] = Error{
			MAP:     wrong,
			Decoder: d,
			Lower:   lower[i],
		}
	}
	return errors, nil
}

// grown says of the errors how much the last doubling moved them from those before it, none at
// the first step, and what further ones would. It reports whether all have settled.
func (s Sample) grown(now, before []Error, priors [][]float64, g Growth, step int) bool {
	settled := before != nil
	for i := range now {
		e := &now[i]
		half := e.MAP.Estimate - e.MAP.Low
		if before == nil { // nothing is known of the bias but its bound
			e.MAP.Low = max(0, min(e.MAP.Low, e.Lower-half))
			continue
		}
		fewer := before[i].Decoder.measured(priors[i], s.Fresh, levelOfEach(g.Level))
		e.Moved = fewer.Estimate - e.MAP.Estimate
		e.Remaining = remaining(max(e.Moved, before[i].Moved))
		e.Settled = step > 1 && e.Moved <= g.Tolerance && before[i].Moved <= g.Tolerance
		settled = settled && e.Settled
		e.MAP.Low = max(0, min(e.MAP.Low, max(e.Lower-half, e.MAP.Low-e.Remaining)))
	}
	return settled
}

// sampledCapacity is that of Sampled, from the error under the uniform prior.
func sampledCapacity(i Inference, level float64) stats.Interval {
	n := float64(i.Fresh.inputs())
	uniform := i.Errors[0]
	bits := func(right float64) float64 { return math.Log2(min(n, max(1, n*right))) }
	short := math.Sqrt(math.Log(2/(1-level)) / (2 * float64(i.Learned) * n))
	return stats.Interval{
		Estimate: bits(1 - uniform.MAP.Estimate),
		Low:      bits(1 - uniform.MAP.High),
		High:     bits(1 - uniform.Lower + short),
	}
}
