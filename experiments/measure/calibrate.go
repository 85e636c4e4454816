package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Target is a measured privacy that several mechanisms shall share.
type Target struct {
	Quantity string  // "nw" (share of runs that return the word), "sw" (distinct outputs), "em" (MAP adversary's error)
	Value    float64 // nw and em in (0, 1), sw in (1, runs)
}

// ParseTarget reads "nw=0.5".
func ParseTarget(s string) (Target, error) {
	name, text, ok := strings.Cut(s, "=")
	if !ok {
		return Target{}, fmt.Errorf("target = %q: must look like nw=0.5", s)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Target{}, fmt.Errorf("target = %q: %q is not a number", s, text)
	}
	return Target{name, v}, check.OneOf("target", name, "nw", "sw", "em")
}

// CalibrationOptions say over what the target is averaged.
type CalibrationOptions struct {
	Target Target
	Words  []embeddings.WordID
	Runs   int
	Seed   stream.Seed
}

// Calibration is the ε found.
type Calibration struct {
	Epsilon  float64
	Achieved float64
	Exact    bool // from the closed form; else from runs
	Trace    []CalibrationStep
}

// CalibrationStep is one evaluation of the search.
type CalibrationStep struct{ Epsilon, Value float64 }

// The search spans every ε in use and stops at one percent.
const (
	calibrationLow       = 1e-3
	calibrationHigh      = 1e5
	calibrationTolerance = 1.01
)

// Calibrate finds the ε at which a mechanism reaches the target, by bisection
// on log ε. N_w grows with ε, S_w and E_M fall. Every ε is evaluated with the
// same random numbers, so that the search does not chase noise; the sampling
// error of the answer is that of Words × Runs outputs.
//
// A mechanism whose quantity does not cross the target (because ε has no
// effect on it, or because it never returns the word) is an error that states
// the range reached.
func Calibrate(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings,
	o CalibrationOptions) (Calibration, error) {
	var c Calibration
	highest := 1.0
	if o.Target.Quantity == "sw" {
		highest = float64(o.Runs)
	}
	for _, err := range []error{
		check.Inside("target "+o.Target.Quantity, o.Target.Value, 0, highest),
		check.AtLeast("words", len(o.Words), 1), check.AtLeast("runs", o.Runs, 2),
	} {
		if err != nil {
			return c, err
		}
	}
	evaluate := func(epsilon float64) (float64, error) {
		s.Epsilon = epsilon
		m, err := mechanisms.New(env, s)
		if err != nil {
			return 0, err
		}
		v, exact, err := o.evaluate(ctx, m)
		if err == nil {
			err = ctx.Err()
		}
		c.Exact = exact
		c.Trace = append(c.Trace, CalibrationStep{epsilon, v})
		return v, err
	}
	low, high := calibrationLow, calibrationHigh
	for _, end := range []*float64{&low, &high} {
		s.Epsilon = *end
		_, err := mechanisms.New(env, s)
		var undefined *mechanisms.UndefinedError
		switch {
		case errors.As(err, &undefined) && undefined.SmallestEpsilon > low && undefined.SmallestEpsilon < high:
			low = undefined.SmallestEpsilon * (1 + 1e-9) // the condition is strict
		case errors.As(err, &undefined) && undefined.LargestEpsilon > low:
			high = undefined.LargestEpsilon * (1 - 1e-9)
		case err != nil:
			return c, err
		}
	}
	// bisect also says whether it stopped at an end of the range.
	bisect := func(rising bool) (atEnd bool, err error) {
		l, h := low, high
		for h/l > calibrationTolerance {
			middle := math.Sqrt(l * h)
			v, err := evaluate(middle)
			if err != nil {
				return false, err
			}
			c.Epsilon, c.Achieved = middle, v
			if (v < o.Target.Value) == rising {
				l = middle
			} else {
				h = middle
			}
		}
		return l == low || h == high, nil
	}
	rising := o.Target.Quantity == "nw"
	atEnd, err := bisect(rising)
	if err != nil || !atEnd {
		return c, err
	}
	// Only now are the ends measured: far from the answer, ε costs most.
	first, err := evaluate(low)
	if err != nil {
		return c, err
	}
	last, err := evaluate(high)
	if err != nil {
		return c, err
	}
	if o.Target.Value < min(first, last) || o.Target.Value > max(first, last) {
		return c, &OutOfReach{fmt.Sprintf("%s does not reach %s = %v: it is %.3g at epsilon = %g and %.3g "+
			"at epsilon = %g",
			s.Mechanism, o.Target.Quantity, o.Target.Value, first, low, last, high)}
	}
	if last > first != rising { // a mechanism that does the opposite of all others
		_, err = bisect(!rising)
	}
	return c, err
}

// OutOfReach is the error of a target that a mechanism does not reach at any ε.
type OutOfReach struct{ Reason string }

func (e *OutOfReach) Error() string { return e.Reason }

// evaluate measures the target's quantity.
func (o CalibrationOptions) evaluate(ctx context.Context, m mechanisms.Mechanism) (value float64, exact bool,
	err error) {
	rng := o.Seed.Rand() // the same draws at every ε
	distributor, closed := m.(mechanisms.Distributor)
	switch o.Target.Quantity {
	case "nw":
		sum := 0.0
		for i := 0; closed && i < len(o.Words); i++ {
			d, err := distributor.Distribution(o.Words[i])
			if err != nil {
				return 0, false, err
			}
			closed = d.AbsoluteError == 0 // drawing costs less than integrating
			sum += d.Probabilities[o.Words[i]]
		}
		if closed {
			return sum / float64(len(o.Words)), true, nil
		}
		fallthrough
	case "sw":
		outcomes, err := metrics.MeasureDeniability(o.Words, o.Runs, Draw(ctx, m, rng))
		if err != nil {
			return 0, false, err
		}
		t := metrics.TotalDeniability(outcomes)
		if o.Target.Quantity == "sw" {
			return t.Sw(), false, nil
		}
		return t.Nw() / 100, false, nil
	default:
		a := Adversary{Candidates: o.Words, Runs: o.Runs + o.Runs%2}
		a.Fallback = a.Itself()
		e, err := a.Infer(m, Draw(ctx, m, rng))
		return e.MAP, e.Runs == 0, err
	}
}
