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
// and it lies on the line between them in log ε, but not nearer to either than a tenth
// of the step, as a curve is steep somewhere; after such a step in the middle. Else it is
// step times beyond the nearer end, or, of ends alike, beyond the one to which it lies if
// the quantity falls with ε or rises. It is 0 where that is outside every ε in use.
func NextEpsilon(points []Point, level, step float64, falls bool) (epsilon float64, between []Point) {
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
	for i := 1; i < len(points); i++ {
		low, high := points[i-1], points[i]
		if (low.Value-level)*(high.Value-level) > 0 || low.Value == high.Value {
			continue
		}
		x, width := max(0.1, min(0.9, (level-low.Value)/(high.Value-low.Value))), math.Log(high.Epsilon/low.Epsilon)
		near := func(a, b int) bool { return math.Log(points[b].Epsilon/points[a].Epsilon) < 0.12*width }
		if i > 1 && near(i-2, i-1) || i+1 < len(points) && near(i, i+1) {
			x = 0.5
		}
		return low.Epsilon * math.Exp(x*width), points[i-1 : i+1]
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
	Threads   int     // at least 1

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
// is left between two that enclose it. As E_M is expensive (see Infer), it is first looked
// for where an adversary who guesses the output itself meets the level, then where he is off
// by as much as the best guess was. A mechanism that does not reach it is an OutOfReach that
// states what was reached.
func (c *Calibrator) Find(ctx context.Context, quantity string, level float64) (Point, error) {
	low, high, err := c.defined()
	if err != nil {
		return Point{}, err
	}
	logit := func(p float64) float64 { return math.Log(max(p, 1e-3) / max(1-p, 1e-3)) }
	bounded := func(epsilon float64) float64 {
		epsilon = min(max(epsilon, low), high)
		if r := Rounded(epsilon); r > low && r < high {
			return r
		}
		return epsilon
	}
	next, falls, step, aim := min(max(10, low), high), quantity == "em", 4.0, logit(level)
	if c.Counts != nil {
		aim += 0.6 // who knows how often words occur finds more than the output itself: a start, seen on news items
	}
	if c.points == nil {
		c.points = map[string][]Point{}
	}
	for epsilon, between := 0.0, []Point(nil); ; {
		same := func(p Point) bool { return p.Epsilon == next }
		if falls && between == nil {
			p, err := c.Find(ctx, "nw", 1/(1+math.Exp(aim))-c.Tolerance)
			if far := (*OutOfReach)(nil); err != nil && !errors.As(err, &far) {
				return p, err
			}
			begin := next
			if next = bounded(p.Epsilon); err != nil || slices.ContainsFunc(c.points[quantity], same) {
				next = begin
			}
		}
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
		// A share is nearly straight on this scale.
		scaled := list.Map(known, func(p Point) Point { return Point{Epsilon: p.Epsilon, Value: logit(p.Value)} })
		aim += logit(level+c.Tolerance/2) - logit(known[slices.IndexFunc(known, same)].Value)
		epsilon, between = NextEpsilon(scaled, logit(level+c.Tolerance/2), step, falls)
		next = bounded(epsilon)
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
				return cmp.Or(-cmp.Compare(cmp.Compare(a.Value, level), cmp.Compare(b.Value, level)),
					cmp.Compare(math.Abs(a.Value-level), math.Abs(b.Value-level)))
			}), nil
		}
	}
}

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
		var i metrics.Inference
		if c.Counts != nil {
			p.Interval, p.Exact, err = inferText(ctx, m, c.Counts, c.Runs, c.Seed, c.Threads)
		} else if i, err = Infer(ctx, m, metrics.UniformPrior(c.Env.Space.Len()), InferenceOptions{Samples: c.Runs}, c.Seed,
			c.Threads); err == nil {
			p.Interval, p.Exact = i.Errors[1].MAP, i.Learned == 0
		}
		p.Value = p.Interval.Estimate
		return p, err
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
		runs := c.Runs
		if c.Counts != nil { // a start for em alone
			runs = max(2, min(runs, 20_000/len(c.Words)))
		}
		outcomes, err := metrics.MeasureDeniability(c.Words, runs, Draw(ctx, m, c.Seed.Rand()))
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
