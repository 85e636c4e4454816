package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Target is a measured level of privacy at which mechanisms are compared.
type Target struct {
	// "nw" (share of runs that return the word) or "em" (error of the MAP
	// adversary whose candidates are all words, uniform prior)
	Quantity string
	Value    float64 // in (0, 1)
}

func (t Target) String() string { return fmt.Sprintf("%s=%v", t.Quantity, t.Value) }

// ParseTargets reads "nw=0.5". A text without a name has that of the text before
// it: "em=0.1", "0.5".
func ParseTargets(texts []string) ([]Target, error) {
	var out []Target
	for _, s := range texts {
		name, text, ok := strings.Cut(s, "=")
		if !ok {
			if len(out) == 0 {
				return nil, fmt.Errorf("target = %q: must look like nw=0.5", s)
			}
			name, text = out[len(out)-1].Quantity, s
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("target = %q: %q is not a number", s, text)
		}
		if err := check.OneOf("target", name, "nw", "em"); err != nil {
			return nil, err
		}
		if err := check.Inside("target "+name, v, 0, 1); err != nil {
			return nil, err
		}
		out = append(out, Target{name, v})
	}
	return out, nil
}

// CalibrationOptions say over what the target is averaged.
type CalibrationOptions struct {
	Target Target
	Words  []embeddings.WordID // nw; the adversary's error is that over all words
	Runs   int                 // per word, where there is no closed form
	Seed   stream.Seed
	// Tolerance is how far beyond the target an error may be that ends the search:
	// above it, or with Below under it, so that measured points enclose the target.
	Tolerance float64
	Below     bool
	Threads   int // em; 0 is 1
	// Known are evaluations of an earlier search with the same options but for the
	// target; em only.
	Known []CalibrationStep
}

// Calibration is the ε found.
type Calibration struct {
	Epsilon  float64
	Achieved float64
	Interval stats.Interval // of E_M: 95% where it was sampled, of no width where exact; else without bounds
	Exact    bool           // from the closed form; else from runs
	Trace    []CalibrationStep
}

// CalibrationStep is one evaluation of the search.
type CalibrationStep struct {
	Epsilon, Value float64
	Interval       stats.Interval
	Exact          bool
}

// The search spans every ε in use and stops at one percent.
const (
	calibrationLow       = 1e-3
	calibrationHigh      = 1e5
	calibrationTolerance = 1.01
	calibrationMiddle    = 10.0 // start of a search without a better guess
)

// Calibrate finds the ε at which a mechanism reaches the target, by bisection
// on log ε. N_w grows with ε, E_M falls. Every ε is evaluated with the
// same random numbers, so that the search does not chase noise; the sampling
// error of the answer is that of Words × Runs outputs. An evaluation of E_M is
// expensive (see Infer), so searchFalling searches for it.
//
// A mechanism whose quantity does not cross the target (because ε has no
// effect on it, or because it never returns the word) is an error that states
// the range reached.
func Calibrate(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings,
	o CalibrationOptions) (Calibration, error) {
	var c Calibration
	if err := cmp.Or(check.Inside("target "+o.Target.Quantity, o.Target.Value, 0, 1),
		check.AtLeast("words", len(o.Words), 1), check.AtLeast("runs", o.Runs, 2)); err != nil {
		return c, err
	}
	evaluate := func(epsilon float64) (float64, error) {
		s.Epsilon = epsilon
		m, err := mechanisms.New(env, s)
		if err != nil {
			return 0, err
		}
		v, exact, err := o.evaluate(ctx, m, env.Space.Len())
		if err == nil {
			err = ctx.Err()
		}
		c.Exact = exact
		c.Trace = append(c.Trace, CalibrationStep{epsilon, v.Estimate, v, exact})
		return v.Estimate, err
	}
	low, high, err := definedRange(env, s)
	if err != nil {
		return c, err
	}
	if o.Target.Quantity == "em" {
		c.Trace = slices.Clone(o.Known)
		// An adversary who guesses the output itself errs as often as the word is not
		// returned. That costs much less to measure, so the search begins where it
		// meets the target.
		itself := o
		itself.Target = Target{"nw", 1 - o.Target.Value}
		start := calibrationMiddle
		if guess, err := Calibrate(ctx, env, s, itself); err == nil {
			start = guess.Epsilon
		} else if outside := (*OutOfReach)(nil); !errors.As(err, &outside) {
			return c, err
		}
		err := o.searchFalling(&c, s.Mechanism, min(max(start, low), high), low, high, evaluate)
		return c, err
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
			c.Epsilon, c.Achieved, c.Interval = middle, v, withoutInterval(v)
			if (v < o.Target.Value) == rising {
				l = middle
			} else {
				h = middle
			}
		}
		return l == low || h == high, nil
	}
	atEnd, err := bisect(true)
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
		return c, outOfReach(s.Mechanism, o.Target, CalibrationStep{Epsilon: low, Value: first},
			CalibrationStep{Epsilon: high, Value: last})
	}
	if last <= first { // a mechanism that does the opposite of all others
		_, err = bisect(false)
	}
	return c, err
}

// definedRange is the part of the search's range in which the mechanism exists.
func definedRange(env mechanisms.Environment, s mechanisms.Settings) (low, high float64, err error) {
	low, high = calibrationLow, calibrationHigh
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
			return low, high, err
		}
	}
	return low, high, nil
}

// searchFalling searches for a share that falls with ε. From the ε start it steps
// out, farther each time, until the target lies between two evaluations, and then
// interpolates the logit of the share in log ε. It tries ε of three digits. It
// ends within the tolerance on the right side, or with that of two ε that enclose
// the target with no ε of three digits between them.
func (o CalibrationOptions) searchFalling(c *Calibration, name string, start, low, high float64,
	evaluate func(float64) (float64, error)) error {
	half := o.Tolerance / 2
	target := o.Target.Value + half
	if o.Below {
		target = o.Target.Value - half
	}
	round := func(epsilon float64) float64 {
		if r := Rounded(epsilon); r >= low && r <= high {
			return r
		}
		return epsilon
	}
	logit := func(p float64) float64 { return math.Log(max(p, 1e-3) / max(1-p, 1e-3)) }
	take := func(s CalibrationStep) {
		c.Epsilon, c.Achieved, c.Interval, c.Exact = s.Epsilon, s.Value, s.Interval, s.Exact
	}
	tried := false // start
	for factor := 4.0; ; {
		slices.SortFunc(c.Trace, func(a, b CalibrationStep) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
		off := func(s CalibrationStep) float64 { return math.Abs(s.Value - target) }
		i := slices.IndexFunc(c.Trace, func(s CalibrationStep) bool { return s.Value <= target })
		next := round(start)
		if n := len(c.Trace); n > 0 {
			best := slices.MinFunc(c.Trace, func(a, b CalibrationStep) int { return cmp.Compare(off(a), off(b)) })
			if off(best) <= half {
				take(best)
				return nil
			}
			first, last := c.Trace[0], c.Trace[n-1]
			known := func(epsilon float64) bool {
				return slices.ContainsFunc(c.Trace, func(s CalibrationStep) bool { return s.Epsilon == epsilon })
			}
			switch {
			case !tried && !known(next):
			case i > 0:
				l, h := c.Trace[i-1], c.Trace[i]
				share := (logit(l.Value) - logit(target)) / (logit(l.Value) - logit(h.Value))
				next = round(l.Epsilon * math.Pow(h.Epsilon/l.Epsilon, min(max(share, 0.1), 0.9)))
				if h.Epsilon/l.Epsilon < calibrationTolerance || next <= l.Epsilon || next >= h.Epsilon {
					if take(l); o.Below {
						take(h)
					}
					return nil
				}
			case i < 0:
				next = round(min(last.Epsilon*factor, high))
				factor *= factor
			default:
				next = round(max(first.Epsilon/factor, low))
				factor *= factor
			}
			if known(next) {
				return outOfReach(name, o.Target, first, last)
			}
		}
		tried = true
		if _, err := evaluate(next); err != nil {
			return err
		}
	}
}

// Rounded is an ε of three digits.
func Rounded(epsilon float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(epsilon, 'g', 3, 64), 64) // never fails
	return r
}

func outOfReach(mechanism string, t Target, first, last CalibrationStep) error {
	return &OutOfReach{fmt.Sprintf("%s does not reach %s = %v: it is %.3g at epsilon = %g and %.3g at epsilon = %g",
		mechanism, t.Quantity, t.Value, first.Value, first.Epsilon, last.Value, last.Epsilon)}
}

// OutOfReach is the error of a target that a mechanism does not reach at any ε.
type OutOfReach struct{ Reason string }

func (e *OutOfReach) Error() string { return e.Reason }

func withoutInterval(v float64) stats.Interval {
	return stats.Interval{Estimate: v, Low: math.NaN(), High: math.NaN()}
}

// evaluate measures the target's quantity, with an interval where it has one.
func (o CalibrationOptions) evaluate(ctx context.Context, m *mechanisms.Mechanism, inputs int) (
	value stats.Interval, exact bool, err error) {
	rng := o.Seed.Rand() // the same draws at every ε
	if o.Target.Quantity == "em" {
		i, err := Infer(ctx, m, make([]int, inputs), InferenceOptions{Samples: o.Runs}, o.Seed, o.Threads)
		if err != nil {
			return value, false, err
		}
		return i.Errors[0].MAP, i.Learned == 0, nil
	}
	if m.Closed() {
		sum := 0.0
		for _, w := range o.Words {
			p, err := m.Row(w)
			if err != nil {
				return value, false, err
			}
			sum += p[w]
		}
		return withoutInterval(sum / float64(len(o.Words))), true, nil
	}
	outcomes, err := metrics.MeasureDeniability(o.Words, o.Runs, Draw(ctx, m, rng))
	if err != nil {
		return value, false, err
	}
	return withoutInterval(metrics.TotalDeniability(outcomes).Nw() / 100), false, nil
}
