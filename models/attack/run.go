package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
)

// RunAll attacks the situation by several attackers, one after the other. The
// outcomes come in the order of the names and of their columns and depend on the
// situation's seed alone: not on the number of workers, nor on the other
// attackers. An attacker that cannot read the release, because words lost their
// places, has outcomes without a value, whose note is the reason; the others go
// on, as they do where one lacks what it needs, returns an error or panics: the
// outcomes are then those of the others, and the error is Failures. The rows of the
// channel, the most expensive part, are made once for all of them.
func RunAll(ctx context.Context, names []string, s Situation) ([]Outcome, error) {
	var all []Definition
	for _, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return s.attackedBy(ctx, all)
}

// attacker is one of those who attack together.
type attacker struct {
	Definition
	next     func() (taker, bool) // goes on until rows are asked for
	take     taker                // of who waits for rows
	learned  int                  // draws of every word, of the channel that was read
	outcomes []Outcome
	err      error
}

// attackedBy lets each attacker go on until it asks for the rows of the channel or is
// done, then passes the rows to all who asked.
func (s Situation) attackedBy(ctx context.Context, all []Definition) (outcomes []Outcome, err error) {
	if s.Single {
		s.Options.OwnReleases, s.Options.TestReleases = 1, 1
	}
	s.Workers, s.Made, s.Plain = max(1, s.Workers), cmp.Or(s.Made, &Made{}), cmp.Or(s.Plain, &Memo{})
	attackers := make([]*attacker, len(all))
	for i, d := range all {
		a, attacked := &attacker{Definition: d}, s
		attacked.own = s.Noise.Derive("attack", d.Name)
		next, stop := iter.Pull(func(yield func(taker) bool) {
			attacked.rows = func(take taker) error { return apart(take, yield) }
			a.outcomes, a.err = d.attack(ctx, &attacked)
		})
		defer stop()
		a.next, attackers[i] = next, a
	}
	for waiting := attackers; len(waiting) > 0; {
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(a *attacker) bool {
			a.take = nil
			panicked := check.Panics(func() error { a.take, _ = a.next(); return nil })
			a.err = cmp.Or(panicked, a.err)
			return a.take == nil
		})
		if len(waiting) == 0 {
			break
		}
		channel, draws, err := s.channel(ctx)
		for _, a := range waiting {
			a.learned = draws
		}
		if err == nil {
			err = channel.EachRow(ctx, s.Workers, func(block, x int, row []float64) {
				for _, a := range waiting {
					a.take(block, x, row)
				}
			})
		}
		if err != nil {
			return nil, err
		}
	}
	failures := Failures{}
	for _, a := range attackers {
		if a.err != nil {
			failures[a.Name] = fmt.Errorf("attacker %s: %w", a.Name, a.err)
			continue
		}
		for _, o := range a.outcomes {
			o.Draws = max(o.Draws, a.learned)
			outcomes = append(outcomes, o)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(failures) > 0 {
		return outcomes, failures
	}
	return outcomes, nil
}

// apart waits for the rows of the channel. After a panic the attacker takes no more of
// them; the others do.
func apart(take taker, wait func(taker) bool) error {
	var failed atomic.Pointer[error]
	all := wait(func(block, x int, row []float64) {
		if failed.Load() == nil {
			if err := check.Panics(func() error { take(block, x, row); return nil }); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	})
	switch err := failed.Load(); {
	case err != nil:
		return *err
	case !all:
		return errors.New("the rows of the channel are not read to their end")
	}
	return nil
}

// attack runs one attacker.
func (d Definition) attack(ctx context.Context, s *Situation) ([]Outcome, error) {
	for _, need := range d.Needs {
		if !met[need](s) {
			return nil, fmt.Errorf("no %s", need)
		}
	}
	outcomes, err := d.Run(ctx, s)
	if errors.Is(err, errPlaces) {
		return list.Map(d.Columns, func(c Column) Outcome {
			return Outcome{Column: c.Name, Value: stats.Unknown(), Floor: math.NaN(), Ceiling: math.NaN(),
				Note: err.Error()}
		}), nil
	}
	for _, o := range outcomes {
		if !slices.ContainsFunc(d.Columns, func(c Column) bool { return c.Name == o.Column }) {
			err = cmp.Or(err, fmt.Errorf("outcome %q is no column of it", o.Column))
		}
	}
	return outcomes, err
}

// Failures are the errors of attackers who failed, by name.
type Failures map[string]error

// Error is that of all of them, in the order of their names.
func (f Failures) Error() string {
	return errors.Join(list.Map(slices.Sorted(maps.Keys(f)), func(n string) error { return f[n] })...).Error()
}

// parallel calls f for 0 … n−1, as many at a time as there are workers.
func (s *Situation) parallel(ctx context.Context, n int, f func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Workers)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return check.Panics(func() error { return f(i) })
		})
	}
	return g.Wait()
}
