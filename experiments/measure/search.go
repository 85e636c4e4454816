package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Point is a quantity at an ε.
type Point struct {
	Epsilon, Value float64
	Interval       stats.Interval // of E_M: 95% where it was sampled, of no width where exact; else without bounds
	Exact          bool           // from the closed form; else from runs
}

// The ends of a search, which span every ε in use.
const leastEpsilon, mostEpsilon = 1e-3, 1e5

// NextEpsilon is the ε that tells most of where a quantity that is monotone in ε has
// a level, given measured points. Where two of them enclose it they are returned,
// and it lies on the line between them in log ε, but not nearer to either than a share
// of the step, as a curve is steep somewhere. Else it is step times beyond the nearer
// end, or, of ends alike, beyond the one to which it lies if the quantity falls with
// ε or rises. It is 0 where that is outside every ε in use.
func NextEpsilon(points []Point, level, step, nearest float64, falls bool) (epsilon float64, between []Point) {
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
	for i := 1; i < len(points); i++ {
		low, high := points[i-1], points[i]
		if (low.Value-level)*(high.Value-level) > 0 || low.Value == high.Value {
			continue
		}
		x := max(nearest, min(1-nearest, (level-low.Value)/(high.Value-low.Value)))
		return math.Exp((1-x)*math.Log(low.Epsilon) + x*math.Log(high.Epsilon)), points[i-1 : i+1]
	}
	first, last := points[0], points[len(points)-1]
	down := math.Abs(first.Value-level) < math.Abs(last.Value-level)
	if first.Value == last.Value {
		down = (level > first.Value) == falls
	}
	if epsilon = last.Epsilon * step; down {
		epsilon = first.Epsilon / step
	}
	if (epsilon < leastEpsilon || epsilon > mostEpsilon) && !(last.Epsilon < mostEpsilon && first.Epsilon > leastEpsilon) {
		return 0, nil
	}
	return max(leastEpsilon, min(mostEpsilon, epsilon)), nil
}

// Rounded is an ε of three digits.
func Rounded(epsilon float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(epsilon, 'g', 3, 64), 64) // never fails
	return r
}

// Calibrator finds ε of one mechanism. Searches for several levels share what was
// evaluated.
type Calibrator struct {
	Env      mechanisms.Environment
	Settings mechanisms.Settings
	Words    []embeddings.WordID // over which nw is averaged; E_M is over all words
	// Counts, if not nil, is how often a text has each word of the space: E_M is then over
	// its words, and the adversary knows how often each occurs.
	Counts    []int
	Runs      int // of each word, where there is no closed form
	Seed      stream.Seed
	Tolerance float64 // how far above a level a value may be that ends the search
	Threads   int     // 0 is 1
	Start     float64 // an ε near which E_M has the level, if known

	points map[string][]Point // by quantity
}

// OutOfReach is the error of a level that a mechanism does not reach at any ε.
type OutOfReach struct{ Reason string }

func (e *OutOfReach) Error() string { return e.Reason }

// Find searches for the ε at which a quantity is at a level of 0–1: "nw", the share
// of runs that return the word, or "em", the error of the MAP adversary whose
// candidates are all words, uniform prior, or those of a text. Every ε, of three digits, is evaluated
// with the same random numbers, so that the search does not chase noise. It ends
// within the tolerance, or at the point above the level where no ε of three digits
// is left between two that enclose it. As E_M is expensive (see Infer), its search
// begins where an adversary who guesses the output itself would meet the level. A
// mechanism that does not reach it is an OutOfReach that states what was reached.
func (c *Calibrator) Find(ctx context.Context, quantity string, level float64) (Point, error) {
	low, high, err := c.defined()
	if err != nil {
		return Point{}, err
	}
	next := min(max(10, low), high)
	falls, step := quantity == "em", 4.0
	if falls && c.Start > 0 {
		next, step = c.Start, 1.08
	} else if falls {
		if c.Counts != nil {
			step = 1.4 // every ε tried costs seconds, and the guess is near
		}
		guess, err := c.Find(ctx, "nw", 1-level)
		if far := (*OutOfReach)(nil); err == nil {
			next = guess.Epsilon
		} else if !errors.As(err, &far) {
			return guess, err
		}
	}
	if c.points == nil {
		c.points = map[string][]Point{}
	}
	logit := func(p float64) float64 { return math.Log(max(p, 1e-3) / max(1-p, 1e-3)) }
	for {
		same := func(p Point) bool { return p.Epsilon == next }
		if !slices.ContainsFunc(c.points[quantity], same) {
			p, err := c.evaluate(ctx, quantity, next)
			if err != nil {
				return p, err
			}
			c.points[quantity] = append(c.points[quantity], p)
		}
		known := c.points[quantity]
		for _, p := range known {
			if p.Value >= level && p.Value <= level+c.Tolerance {
				return p, nil
			}
		}
		scaled := make([]Point, len(known)) // a share is nearly straight on this scale
		for i, p := range known {
			scaled[i] = Point{Epsilon: p.Epsilon, Value: logit(p.Value)}
		}
		epsilon, between := NextEpsilon(scaled, logit(level+c.Tolerance/2), step, 0.1, falls)
		next = min(max(epsilon, low), high)
		if r := Rounded(next); r > low && r < high {
			next = r
		}
		switch again := slices.ContainsFunc(known, same); {
		case between == nil && (again || epsilon == 0):
			slices.SortFunc(known, func(a, b Point) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
			a, b := known[0], known[len(known)-1]
			return a, &OutOfReach{fmt.Sprintf("%s does not reach %s = %v: it is %.3g at epsilon = %g and %.3g at epsilon = %g",
				c.Settings.Mechanism, quantity, level, a.Value, a.Epsilon, b.Value, b.Epsilon)}
		case between == nil:
			step *= step
		case again:
			return slices.MinFunc(known, func(a, b Point) int {
				return cmp.Or(-cmp.Compare(sign(a.Value-level), sign(b.Value-level)),
					cmp.Compare(math.Abs(a.Value-level), math.Abs(b.Value-level)))
			}), nil
		}
	}
}

func sign(v float64) int { return cmp.Compare(v, 0) }

// defined is the part of the search's range in which the mechanism exists.
func (c *Calibrator) defined() (low, high float64, err error) {
	s := c.Settings
	low, high = leastEpsilon, mostEpsilon
	for _, end := range []*float64{&low, &high} {
		s.Epsilon = *end
		_, err := mechanisms.New(c.Env, s)
		var undefined *mechanisms.UndefinedError
		switch {
		case errors.As(err, &undefined) && undefined.SmallestEpsilon > low && undefined.SmallestEpsilon < high:
			low = undefined.SmallestEpsilon * (1 + 1e-9) // the condition is strict
		case err != nil:
			return low, high, err
		}
	}
	return low, high, nil
}

// evaluate measures a quantity at an ε, with an interval where it has one.
func (c *Calibrator) evaluate(ctx context.Context, quantity string, epsilon float64) (Point, error) {
	p := Point{Epsilon: epsilon}
	s := c.Settings
	s.Epsilon = epsilon
	m, err := mechanisms.New(c.Env, s)
	if err != nil {
		return p, err
	}
	if quantity == "em" {
		words, prior, o := []mechanisms.WordID(nil), metrics.UniformPrior(c.Env.Space.Len()), InferenceOptions{Samples: c.Runs}
		if c.Counts != nil {
			words, prior = ofText(c.Counts)
			if o.Samples *= 2; m.Choices() == nil { // what more draws would show is in the interval
				o.Most = 2 * o.Samples
			}
		}
		i, err := Infer(ctx, m, words, prior, o, c.Seed, c.Threads)
		if err != nil {
			return p, err
		}
		p.Interval, p.Exact = i.Errors[1].MAP, i.Learned == 0
		if words != nil && !p.Exact {
			if p.Interval, err = onText(ctx, m, words, c.Counts, i.Errors[1].Decoder, c.Seed.Derive("text"), c.Threads); err != nil {
				return p, err
			}
			p.Interval.Low = max(0, p.Interval.Low-i.Errors[1].Remaining)
		}
		p.Value = p.Interval.Estimate
		return p, nil
	}
	if p.Exact = m.Closed(); p.Exact {
		for _, w := range c.Words {
			row, err := m.Row(w)
			if err != nil {
				return p, err
			}
			p.Value += row[w] / float64(len(c.Words))
		}
	} else {
		outcomes, err := metrics.MeasureDeniability(c.Words, c.Runs, Draw(ctx, m, c.Seed.Rand()))
		if err != nil {
			return p, err
		}
		p.Value = metrics.TotalDeniability(outcomes).Nw() / 100
	}
	p.Interval = stats.Interval{Estimate: p.Value, Low: math.NaN(), High: math.NaN()}
	return p, ctx.Err()
}

// ofText are the words that a text has, with their shares of it.
func ofText(counts []int) (words []mechanisms.WordID, prior []float64) {
	total := float64(list.Sum(counts, func(n int) int { return n }))
	for w, n := range counts {
		if n > 0 {
			words, prior = append(words, mechanisms.WordID(w)), append(prior, float64(n)/total)
		}
	}
	return words, prior
}
