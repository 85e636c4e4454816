package attack

import (
	"cmp"
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
// outcomes are then those of the others, and the error is Failures. The rows of the
// channel, the most expensive part, are made once for all of them.
func RunAll(ctx context.Context, names []string, s Situation) ([]Outcome, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	outcomes, attacks := make([][]Outcome, len(names)), make([]Attack, len(names))
	columns := make([][]Column, len(names))
	failures := Failures{}
	// try calls a part of an attack; the attacker is out after a failure.
	try := func(i int, part func() error) {
		err := check.Panics(part)
		if places := (*placesError)(nil); errors.As(err, &places) {
			outcomes[i], err = unreadable(columns[i], places), nil
			attacks[i] = Attack{}
		}
		if err != nil {
			failures[names[i]] = fmt.Errorf("attacker %s: %w", names[i], err)
			outcomes[i], attacks[i] = nil, Attack{}
		}
	}
	reads := false
	for i, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		columns[i] = d.Columns
		attacked := s
		attacked.own = s.Noise.Derive("attack", name)
		try(i, func() (err error) {
			if missing := d.Missing(&s); len(missing) > 0 {
				return fmt.Errorf("no %s", missing[0])
			}
			attacks[i], err = d.Start(ctx, &attacked)
			reads = reads || attacks[i].Row != nil
			return err
		})
	}
	if reads {
		channel, _, err := s.channel(ctx)
		if err == nil {
			err = readRows(ctx, channel, s.Workers, attacks, try)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range attacks {
		if finish := attacks[i].Finish; finish != nil {
			try(i, func() (err error) {
				outcomes[i], err = finish(ctx)
				for _, o := range outcomes[i] {
					if !slices.ContainsFunc(columns[i], func(c Column) bool { return c.Name == o.Column }) {
						err = cmp.Or(err, fmt.Errorf("outcome %q is no column of it", o.Column))
					}
				}
				return err
			})
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(failures) > 0:
		return slices.Concat(outcomes...), failures
	}
	return slices.Concat(outcomes...), nil
}

// readRows passes the rows of the channel to all attacks that read them.
func readRows(ctx context.Context, c metrics.Channel, workers int, attacks []Attack,
	try func(int, func() error)) error {
	failed := make([]atomic.Pointer[error], len(attacks)) // the first failure of each
	err := c.EachRow(ctx, workers, func(block, x int, row []float64) {
		for i, a := range attacks {
			if a.Row == nil || failed[i].Load() != nil {
				continue
			}
			if err := check.Panics(func() error { a.Row(block, x, row); return nil }); err != nil {
				failed[i].CompareAndSwap(nil, &err)
			}
		}
	})
	for i := range failed {
		if e := failed[i].Load(); e != nil {
			try(i, func() error { return *e })
		}
	}
	return err
}

// Failures are the errors of attackers who failed, by name.
type Failures map[string]error

// Error is that of all of them, in the order of their names.
func (f Failures) Error() string {
	return errors.Join(list.Map(slices.Sorted(maps.Keys(f)), func(n string) error { return f[n] })...).Error()
}

// ready fills in what a caller may leave out.
func (s *Situation) ready() error {
	var err error
	s.Options, err = s.Options.Complete()
	s.Workers = max(1, s.Workers)
	if s.Made == nil {
		s.Made = &Made{}
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

// proportion returns the exact interval for k successes in n independent trials.
func proportion(k, n int, level float64) (stats.Interval, error) {
	if n == 0 {
		return stats.Unknown(), nil
	}
	return stats.ClopperPearson(k, n, level)
}
