package metrics

import (
	"cmp"
	"context"
	"fmt"

	"mldpbench/internal/check"
)

// tail is the ratio of the gains of successive doublings from which the rest is
// extrapolated as a geometric series. A bias that falls with the inverse of the
// draws has a ratio of 1/2, with their square root 0.71; more than either, as
// gains may grow before they fall.
const tail = 0.8

// GrowInference estimates E_M over the full vocabulary for each prior, as
// SampledVocabulary does, from more and more draws: it starts with first draws of
// every input to learn from, and as many to measure on, and doubles them until
// two doublings in a row lower the error of no prior by more than tolerance, or
// most is reached. An attacker who learned from few draws is too kind to
// mechanisms of noise, by more than the interval of SampledVocabulary shows: the
// Low of MAP is therefore that of the ideal attacker, lower than the measured
// error by the sampling error and by Remaining, but not below what Lower allows.
//
// draw returns n draws of every input to learn from, or draws to measure on, as
// many as it likes. Those to measure on must be independent of those to learn
// from; those to learn from may hold the earlier ones. Both attackers of a step
// are measured on the same draws, so that the difference is known better than
// either.
func GrowInference(ctx context.Context, draw func(n, step int, learn bool) (Draws, error), outputs int,
	priors [][]float64, first, most int, tolerance, level float64, workers int) (SampledFull, error) {
	out := SampledFull{Inference: make([]SampledInference, len(priors))}
	if err := cmp.Or(check.AtLeast("first", first, 1), check.AtLeast("most", most, first),
		check.Positive("tolerance", tolerance)); err != nil {
		return out, fmt.Errorf("inference: %w", err)
	}
	var before []Decoder
	for n, step := first, 0; n <= most; n, step = 2*n, step+1 {
		learn, err := draw(n, step, true)
		if err != nil {
			return out, err
		}
		fresh, err := draw(n, step, false)
		if err != nil {
			return out, err
		}
		sampled, err := SampledVocabulary(ctx, learn, fresh, outputs, priors, level, workers)
		if err != nil {
			return out, err
		}
		settled := before != nil
		for i, now := range sampled.Inference {
			o := now
			if before != nil {
				fewer, err := MeasureDecoder(before[i], priors[i], fresh, level)
				if err != nil {
					return out, err
				}
				o.Moved = fewer.Estimate - now.MAP.Estimate
				o.Remaining = max(0, o.Moved, out.Inference[i].Moved) * tail / (1 - tail)
				o.Settled = step > 1 && o.Moved <= tolerance && out.Inference[i].Moved <= tolerance
			}
			settled = settled && o.Settled
			half := now.MAP.Estimate - now.MAP.Low
			o.MAP.Low = max(0, min(now.MAP.Low, max(now.Lower-half, now.MAP.Low-o.Remaining)))
			if before == nil { // nothing is known of the bias but its bound
				o.MAP.Low = max(0, min(now.MAP.Low, now.Lower-half))
			}
			out.Inference[i] = o
		}
		before, out.Decoders, out.Capacity = sampled.Decoders, sampled.Decoders, sampled.Capacity
		if settled {
			break
		}
	}
	return out, nil
}
