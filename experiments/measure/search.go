package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/channel"
	"mldpbench/metrics"
	"mldpbench/results/search"
	"mldpbench/stream"
)

// Point is a quantity at an ε.
type Point struct {
	Epsilon, Value float64
	Interval       stats.Interval // of E_M: 95% where it was sampled, of no width where exact; else without bounds
	Exact          bool           // from the closed form; else from runs
	Adversary      string         // of the game: who said which text it was
}

// Calibrator finds ε of one mechanism. Searches for several levels share what was
// evaluated.
type Calibrator struct {
	Env      mechanisms.Environment
	Settings mechanisms.Settings
	Words    []embeddings.WordID // over which nw is averaged; E_M is over all words
	// Counts, if not nil, is how often a text has each word of the space: E_M is then over
	// its words, and the adversary knows how often each occurs.
	Counts []int
	// Texts are those between which the game is played, by their words.
	Texts     [][]embeddings.WordID
	Runs      int // of each word, where there is no closed form
	Seed      stream.Seed
	Tolerance float64 // how far above a level a value may be that ends the search
	Threads   int     // at least 1

	points map[string][]Point // by quantity
}

// OutOfReach is the error of a level that a mechanism does not reach at any ε.
type OutOfReach struct{ Reason string }

func (e *OutOfReach) Error() string { return e.Reason }

// startOfSearch is the first ε of a search, textFindsMore how much more an adversary who knows how often words occur
// finds than the output itself, on the scale of logit: a start, seen on news items.
const (
	startOfSearch = 10
	textFindsMore = 0.6
)

// Find searches for the ε at which a quantity is at a level of 0–1: "nw", the share
// of runs that return the word, "game", how often an adversary says which of two of
// Texts was released, or "em", the error of the MAP adversary whose
// candidates are all words, uniform prior, or those of a text. Every ε, of three digits, is evaluated
// with the same random numbers, so that the search does not chase noise. It ends
// within the tolerance, or at the point above the level where no ε of three digits
// is left between two that enclose it. As E_M is expensive (see channel.Estimate), it is first looked
// for where an adversary who guesses the output itself meets the level, then where he is off
// by as much as the best guess was. A mechanism that does not reach it is an OutOfReach that
// states what was reached.
func (c *Calibrator) Find(ctx context.Context, quantity string, level float64) (Point, error) {
	low, high, err := c.defined()
	if err != nil {
		return Point{}, err
	}
	question := search.Question{Level: level, Falls: quantity == "em", Above: c.Tolerance, Low: low, High: high,
		Step: search.Squared, Scale: logit}
	if quantity == Game { // less is more private, so that the level is the most
		question.Level = level - c.Tolerance
	}
	target := logit(level + c.Tolerance/2)
	aim := logit(level) // of E_M, for who guesses the output itself
	if c.Counts != nil {
		aim += textFindsMore
	}
	next := min(max(startOfSearch, low), high)
	enclosed := false
	for round := 0; ; round++ {
		if quantity == "em" && !enclosed {
			next, err = c.outputError(ctx, aim, next)
			if err != nil {
				return Point{}, err
			}
		}
		p, err := c.at(ctx, quantity, next)
		if err != nil {
			return p, err
		}
		aim += target - logit(p.Value)
		answer := question.Next(list.Map(c.points[quantity], func(p Point) search.Point {
			return search.Point{Epsilon: p.Epsilon, Value: p.Value}
		}), round)
		switch answer.Done {
		case search.Going:
			next = answer.Next
			enclosed = answer.Enclosed
		case search.Reached, search.Cliff:
			if quantity == Game && answer.Done == search.Cliff { // the more private side
				return c.at(ctx, quantity, min(answer.Around[0].Epsilon, answer.Around[1].Epsilon))
			}
			return c.at(ctx, quantity, answer.Best.Epsilon)
		case search.End, search.Plateau:
			least := answer.Around[0]
			most := answer.Around[1]
			return Point{}, &OutOfReach{fmt.Sprintf(
				"%s does not reach %s = %v: it is %.3g at epsilon = %g and %.3g at epsilon = %g", c.Settings.Mechanism,
				quantity, level, least.Value, least.Epsilon, most.Value, most.Epsilon)}
		default:
			return Point{}, fmt.Errorf("search for %s = %v: %s", quantity, level, answer.Done)
		}
	}
}

// logit is a scale on which a share is nearly straight in log ε.
func logit(p float64) float64 { return math.Log(max(p, 1e-3) / max(1-p, 1e-3)) }

// outputError is the ε at which an adversary who guesses the output itself errs by aim, a
// logit; next where that is out of reach, or E_M was evaluated there.
func (c *Calibrator) outputError(ctx context.Context, aim, next float64) (float64, error) {
	p, err := c.Find(ctx, "nw", 1/(1+math.Exp(aim))-c.Tolerance)
	var unreachable *OutOfReach
	if errors.As(err, &unreachable) {
		return next, nil
	}
	if err != nil || slices.ContainsFunc(c.points["em"], p.isAt) {
		return next, err
	}
	return p.Epsilon, nil
}

// at is a quantity at an ε, which is evaluated once.
func (c *Calibrator) at(ctx context.Context, quantity string, epsilon float64) (Point, error) {
	known := slices.IndexFunc(c.points[quantity], Point{Epsilon: epsilon}.isAt)
	if known >= 0 {
		return c.points[quantity][known], nil
	}
	p, err := c.evaluate(ctx, quantity, epsilon)
	if err != nil {
		return p, err
	}
	if c.points == nil {
		c.points = map[string][]Point{}
	}
	c.points[quantity] = append(c.points[quantity], p)
	return p, nil
}

func (p Point) isAt(other Point) bool { return p.Epsilon == other.Epsilon }

// defined is the part of the search's range in which the mechanism exists.
func (c *Calibrator) defined() (low, high float64, err error) {
	low, err = c.definedFrom(search.LeastEpsilon)
	if err != nil {
		return 0, 0, err
	}
	_, err = c.definedFrom(search.MostEpsilon)
	return low, search.MostEpsilon, err
}

// definedFrom is an ε, or the least one above it at which the mechanism exists.
func (c *Calibrator) definedFrom(epsilon float64) (float64, error) {
	s := c.Settings
	s.Epsilon = epsilon
	_, err := mechanisms.New(c.Env, s)
	var undefined *mechanisms.UndefinedError
	if !errors.As(err, &undefined) {
		return epsilon, err
	}
	if undefined.SmallestEpsilon <= epsilon || undefined.SmallestEpsilon >= search.MostEpsilon {
		return 0, err
	}
	return undefined.SmallestEpsilon * (1 + 1e-9), nil // the condition is strict
}

// evaluate measures a quantity at an ε, with an interval where it has one.
func (c *Calibrator) evaluate(ctx context.Context, quantity string, epsilon float64) (Point, error) {
	s := c.Settings
	s.Epsilon = epsilon
	m, err := mechanisms.New(c.Env, s)
	if err != nil {
		return Point{}, err
	}
	if quantity == Game {
		return c.playGame(ctx, m)
	}
	if quantity == "em" {
		p, err := c.mapError(ctx, m)
		p.Epsilon = epsilon
		p.Value = p.Interval.Estimate
		return p, err
	}
	p := Point{Epsilon: epsilon, Exact: m.Closed()}
	if p.Exact {
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
		outcomes, err := metrics.MeasureDeniability(c.Words, runs, drawing(ctx, m, c.Seed.Rand()))
		if err != nil {
			return p, err
		}
		p.Value = metrics.TotalDeniability(outcomes).Nw() / 100
	}
	p.Interval = stats.Interval{Estimate: p.Value, Low: math.NaN(), High: math.NaN()}
	return p, ctx.Err()
}

// playGame is how often an adversary says which of two texts a mechanism released.
func (c *Calibrator) playGame(ctx context.Context, m *mechanisms.Mechanism) (Point, error) {
	g := &game{mechanism: m, space: c.Env.Space, seed: c.Seed.Derive(Game), threads: max(1, c.Threads)}
	public, secret, err := g.ofTexts(c.Texts)
	if err != nil {
		return Point{}, err
	}
	var documents [][]string
	for _, p := range slices.Concat(public, secret) {
		documents = append(documents, p.originals[:]...)
	}
	g.encoder, err = sentence.NewSIF(c.Env.Space, documents)
	if err != nil {
		return Point{}, err
	}
	outcome, err := g.play(ctx, public, secret)
	share := outcome.interval()
	return Point{Epsilon: m.Settings().Epsilon, Value: share.Estimate, Interval: share, Adversary: outcome.best}, err
}

// drawnOfText are the words of a text on which E_M is measured where it is not exact.
const drawnOfText = 20_000

// mapError is E_M of a mechanism at its ε, over a text or all words of the space.
func (c *Calibrator) mapError(ctx context.Context, m *mechanisms.Mechanism) (p Point, err error) {
	o := channel.Options{Samples: c.Runs, Seed: c.Seed, Threads: c.Threads}
	if c.Counts != nil {
		sample := SampleText(c.Counts, drawnOfText, c.Seed.Derive("words"))
		p.Interval, p.Exact, err = channel.OfText(ctx, m, c.Counts, sample, o)
		return p, err
	}
	inferred, err := channel.Estimate(ctx, m, channel.Uniform(c.Env.Space.Len()), o)
	if err != nil {
		return p, err
	}
	p.Interval = inferred.Errors[0].MAP
	p.Exact = inferred.Learned == 0
	return p, nil
}
