package measure

import (
	"context"
	"fmt"
	"math"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// TuneOptions set up Algorithm 2 of Xu et al. 2021b on a word-level data set,
// where the utility loss is the share of words whose polarity flips.
type TuneOptions struct {
	Space      *embeddings.Space
	Adversary  Adversary // its Polarity measures the loss
	Seed       stream.Seed
	MaxLoss    float64   // C: the loss budget, a share in (0, 1)
	T          []float64 // Vickrey thresholds to choose among
	MaxEpsilon float64   // the largest ε considered (the paper caps it at 100)
	// Each is called with every step when it is measured; it may be nil.
	Each func(TuneStep) error
}

// Check validates the options, except the adversary.
func (o TuneOptions) Check() error {
	errs := []error{
		check.Inside("max loss", o.MaxLoss, 0, 1), check.Positive("max epsilon", o.MaxEpsilon),
		check.AtLeast("number of t", len(o.T), 1),
	}
	for _, t := range o.T {
		errs = append(errs, check.Within("t", t, 0, 1))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TuneStep is one evaluation.
type TuneStep struct {
	T              results.Float `csv:"t"`
	Epsilon        results.Float `csv:"epsilon"`
	Loss           results.Float `csv:"loss"`            // share of words whose polarity flips
	InferenceError results.Float `csv:"inference_error"` // of the MAP adversary
	Feasible       bool          `csv:"feasible"`        // Loss <= MaxLoss
	Choice         bool          `csv:"choice"`          // the chosen step
}

// Tune returns the trace of the search; the step with Choice holds the ε and t
// of the highest inference error among those within the loss budget. Loss and
// inference error both fall as ε grows, so for each t the smallest feasible ε
// is the best: it is found by bisection on log ε, to one percent, with the same
// random numbers at every ε. Where no ε up to MaxEpsilon is feasible for a t,
// its last step is not feasible; where that holds for all t, Tune returns the
// trace with an error that states the smallest loss reached.
func Tune(ctx context.Context, o TuneOptions) ([]TuneStep, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var trace []TuneStep
	evaluate := func(t, epsilon float64) (TuneStep, error) {
		m, err := mechanisms.New(mechanisms.Environment{Space: o.Space, Seed: o.Seed}, mechanisms.Settings{
			Mechanism: "vickrey", Epsilon: epsilon, Parameters: mechanisms.Parameters{"t": t},
		})
		if err != nil {
			return TuneStep{}, err
		}
		e, err := o.Adversary.Infer(m, Draw(ctx, m, o.Seed.Derive("adversary").Rand()))
		if err != nil {
			return TuneStep{}, err
		}
		if err := ctx.Err(); err != nil {
			return TuneStep{}, err
		}
		step := TuneStep{T: results.Float(t), Epsilon: results.Float(epsilon), Loss: results.Float(e.LM),
			InferenceError: results.Float(e.MAP), Feasible: e.LM <= o.MaxLoss}
		trace = append(trace, step)
		if o.Each != nil {
			err = o.Each(step)
		}
		return step, err
	}
	best, least := -1, math.Inf(1)
	for _, t := range o.T {
		top, err := evaluate(t, o.MaxEpsilon)
		if err != nil {
			return trace, err
		}
		least = min(least, float64(top.Loss))
		if !top.Feasible {
			continue
		}
		low, high := min(calibrationLow, o.MaxEpsilon), o.MaxEpsilon
		chosen := len(trace) - 1
		for high/low > calibrationTolerance {
			middle := math.Sqrt(low * high)
			step, err := evaluate(t, middle)
			if err != nil {
				return trace, err
			}
			if step.Feasible {
				high, chosen = middle, len(trace)-1
			} else {
				low = middle
			}
		}
		if best < 0 || trace[chosen].InferenceError > trace[best].InferenceError {
			best = chosen
		}
	}
	if best < 0 {
		return trace, fmt.Errorf("max loss = %v: no t in %v keeps the loss below it up to epsilon = %v; the "+
			"smallest loss is %.4g", o.MaxLoss, o.T, o.MaxEpsilon, least)
	}
	trace[best].Choice = true
	return trace, nil
}
