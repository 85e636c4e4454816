package attack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
)

// RunAll attacks the situation by several attackers, one after the other. The
// outcomes come in the order of the names and of their columns and depend on the
// situation's seed alone: not on the number of workers, nor on the other
// attackers. An attacker that cannot read the release, because words lost their
// places, has outcomes without a value, whose note is the reason; the others go
// on, as they do where one lacks what it needs, returns an error or panics: the
// outcomes are then those of the others, and the error is Failures. The rows of an exact channel, the most
// expensive part, are computed once for all of them.
func RunAll(ctx context.Context, names []string, s Situation) ([]Outcome, error) {
	outcomes := make([][]Outcome, len(names))
	prepared := make([]channelAttack, len(names))
	columns := make([][]Column, len(names))
	failures := Failures{}
	// try calls a part of an attack; the attacker is out after a failure.
	try := func(i int, part func() error) {
		err := check.Panics(part)
		if places := (*placesError)(nil); errors.As(err, &places) {
			outcomes[i], err = unreadable(columns[i], places), nil
		}
		if err != nil {
			failures[names[i]] = fmt.Errorf("attacker %s: %w", names[i], err)
			outcomes[i], prepared[i] = nil, channelAttack{}
		}
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	shared := false
	for i, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		columns[i] = d.Columns
		attacked := s
		attacked.own = s.Seed.Derive("attack", name)
		try(i, func() (err error) {
			switch missing := d.Missing(&s); {
			case len(missing) > 0:
				err = fmt.Errorf("no %s", missing[0])
			case d.prepare != nil && s.Channel != nil:
				shared = true
				prepared[i], err = d.prepare(ctx, &attacked, *s.Channel, 0)
			case d.Guess != nil:
				outcomes[i], err = attacked.guessed(ctx, d)
			case d.Run != nil:
				outcomes[i], err = d.Run(ctx, &attacked)
			default:
				outcomes[i], err = attacked.learnAndAttack(ctx, d)
			}
			return err
		})
	}
	if shared {
		taken := make([]atomic.Pointer[error], len(names)) // the first failure of each
		err := s.Channel.EachRow(ctx, s.Workers, func(block, x int, row []float64) {
			for i, p := range prepared {
				if p.take == nil || taken[i].Load() != nil {
					continue
				}
				if err := check.Panics(func() error { p.take(block, x, row); return nil }); err != nil {
					taken[i].CompareAndSwap(nil, &err)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		for i := range taken {
			if err := taken[i].Load(); err != nil {
				try(i, func() error { return *err })
			}
		}
	}
	var all []Outcome
	for i, p := range prepared {
		if p.finish != nil {
			try(i, func() (err error) {
				outcomes[i], err = p.finish(ctx)
				return err
			})
		}
		for _, o := range outcomes[i] {
			if !slices.ContainsFunc(columns[i], func(c Column) bool { return c.Name == o.Column }) {
				try(i, func() error { return fmt.Errorf("outcome %q is no column of it", o.Column) })
				break
			}
		}
		all = append(all, outcomes[i]...)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(failures) > 0:
		return all, failures
	}
	return all, nil
}

// Failures are the errors of attackers who failed, by name.
type Failures map[string]error

// Error is that of all of them, in the order of their names.
func (f Failures) Error() string {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(f)) {
		all = append(all, f[name])
	}
	return errors.Join(all...).Error()
}

// ready fills in what a caller may leave out.
func (s *Situation) ready() error {
	var err error
	s.Options, err = s.Options.Complete()
	s.Workers = max(1, s.Workers)
	if s.Releases == nil {
		s.Releases = &Memo{}
	}
	return err
}

// unreadable are the outcomes of an attacker that cannot read a release.
func unreadable(columns []Column, reason error) []Outcome {
	return list.Map(columns, func(c Column) Outcome {
		return Outcome{Column: c.Name, Value: stats.Unknown(), Floor: math.NaN(), Ceiling: math.NaN(),
			Note: reason.Error()}
	})
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

// learnAndAttack learns the channel from draws and attacks it.
func (s *Situation) learnAndAttack(ctx context.Context, d Definition) ([]Outcome, error) {
	learned, err := s.learn(ctx)
	if err != nil {
		return nil, err
	}
	channel, err := metrics.LearnChannel(learned, s.Words, s.Words)
	if err != nil {
		return nil, err
	}
	p, err := d.prepare(ctx, s, channel, s.Options.LearnDraws)
	if err != nil {
		return nil, err
	}
	if err := channel.EachRow(ctx, s.Workers, p.take); err != nil {
		return nil, err
	}
	return p.finish(ctx)
}
