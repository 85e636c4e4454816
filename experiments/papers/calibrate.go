package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
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
func Calibrate(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings, o CalibrationOptions) (Calibration, error) {
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
	first, err := evaluate(low)
	var undefined *mechanisms.UndefinedError
	if errors.As(err, &undefined) && undefined.SmallestEpsilon > 0 && undefined.SmallestEpsilon < high {
		low = undefined.SmallestEpsilon * (1 + 1e-9) // the condition is strict
		first, err = evaluate(low)
	}
	if err != nil {
		return c, err
	}
	last, err := evaluate(high)
	if err != nil {
		return c, err
	}
	rising := last > first
	if o.Target.Value < min(first, last) || o.Target.Value > max(first, last) {
		return c, fmt.Errorf("%s does not reach %s = %v: it is %.3g at epsilon = %g and %.3g at epsilon = %g",
			s.Mechanism, o.Target.Quantity, o.Target.Value, first, low, last, high)
	}
	for high/low > calibrationTolerance {
		middle := math.Sqrt(low * high)
		v, err := evaluate(middle)
		if err != nil {
			return c, err
		}
		c.Epsilon, c.Achieved = middle, v
		if (v < o.Target.Value) == rising {
			low = middle
		} else {
			high = middle
		}
	}
	return c, nil
}

// evaluate measures the target's quantity.
func (o CalibrationOptions) evaluate(ctx context.Context, m mechanisms.Mechanism) (value float64, exact bool, err error) {
	rng := o.Seed.Rand() // the same draws at every ε
	distributor, exact := m.(mechanisms.Distributor)
	switch o.Target.Quantity {
	case "nw":
		if exact {
			sum := 0.0
			for _, w := range o.Words {
				d, err := distributor.Distribution(w)
				if err != nil {
					return 0, false, err
				}
				sum += d.Probabilities[w]
			}
			return sum / float64(len(o.Words)), true, nil
		}
		fallthrough
	case "sw":
		outcomes, err := metrics.MeasureDeniability(o.Words, o.Runs, draw(ctx, m, rng))
		if err != nil {
			return 0, false, err
		}
		t := metrics.TotalDeniability(outcomes)
		if o.Target.Quantity == "sw" {
			return t.Sw(), false, nil
		}
		return t.Nw() / 100, false, nil
	default:
		adversary := metrics.Adversary{Prior: metrics.UniformPrior(len(o.Words))}
		if exact {
			e, err := adversary.ExactInference(func(i int) ([]float64, error) {
				d, err := distributor.Distribution(o.Words[i])
				return d.Probabilities, err
			})
			return e.MAP, true, err
		}
		number := make(map[int]int, len(o.Words))
		for i, w := range o.Words {
			number[int(w)] = i
		}
		e, err := adversary.EstimateInference(metrics.SampleOutputs(o.Words, o.Runs+o.Runs%2, draw(ctx, m, rng)),
			func(output int) int { return number[output] }) // a word that is no candidate: any guess is as good, the first is taken
		return e.MAP, false, err
	}
}

// CalibrateRequest names what CalibrateAll calibrates.
type CalibrateRequest struct {
	Data       string
	Embedding  EmbeddingSpec
	Mechanisms []string // nil: all that return words
	Target     Target
	Words      int // drawn from the vocabulary
	Runs       int
	Seed       uint64
}

// CalibratedMechanism is the answer for one mechanism; where the target is out
// of reach, Epsilon is missing and Reason says why.
type CalibratedMechanism struct {
	Mechanism  string        `csv:"mechanism"`
	Variant    string        `csv:"variant"`
	Parameters string        `csv:"parameters"`
	Target     string        `csv:"target"`
	Epsilon    results.Float `csv:"epsilon"`
	Achieved   results.Float `csv:"achieved"`
	Exact      bool          `csv:"exact"`
	Guarantee  string        `csv:"guarantee_metric"`
	Reason     string        `csv:"reason"`
}

// CalibrateAll calibrates mechanisms, in their default variants, to one target.
func CalibrateAll(ctx context.Context, q CalibrateRequest) ([]CalibratedMechanism, error) {
	if q.Mechanisms == nil {
		for _, d := range mechanisms.Definitions() {
			if d.New != nil {
				q.Mechanisms = append(q.Mechanisms, d.Name)
			}
		}
	}
	if err := q.Embedding.check(); err != nil {
		return nil, err
	}
	seed := Header{Protocol: "calibrate", Seed: q.Seed}.seed()
	space, err := q.Embedding.open(ctx, &Lab{Data: q.Data}, nil)
	if err != nil {
		return nil, err
	}
	env := mechanisms.Environment{Space: space, Seed: seed}
	if slices.Contains(q.Mechanisms, "syntf") {
		if env.Thesaurus, err = experiments.OpenThesaurus(space.Generated, q.Data); err != nil {
			return nil, err
		}
	}
	words := sampleWords(space, q.Words, seed)
	var rows []CalibratedMechanism
	for _, name := range q.Mechanisms {
		settings, err := mechanisms.Complete(mechanisms.Settings{Mechanism: name, Epsilon: 1})
		if err != nil {
			return nil, err
		}
		row := CalibratedMechanism{
			Mechanism: name, Variant: string(settings.Variant), Parameters: settings.Parameters.String(),
			Target: fmt.Sprintf("%s=%v", q.Target.Quantity, q.Target.Value), Epsilon: results.Missing, Achieved: results.Missing,
		}
		c, err := Calibrate(ctx, env, settings, CalibrationOptions{Target: q.Target, Words: words, Runs: q.Runs, Seed: seed.Derive(name)})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			row.Reason = err.Error()
		} else {
			settings.Epsilon = c.Epsilon
			m, err := mechanisms.New(env, settings)
			if err != nil {
				return nil, err
			}
			row.Epsilon, row.Achieved, row.Exact = results.Float(c.Epsilon), results.Float(c.Achieved), c.Exact
			row.Guarantee, row.Reason = m.Guarantee().Metric, m.Guarantee().Reason
		}
		rows = append(rows, row)
	}
	return rows, nil
}
