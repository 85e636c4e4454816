package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/list"
	"mldpbench/metrics"
)

// RunAll attacks the situation by several attackers, one after the other. The
// outcomes come in the order of the names and of their columns and depend on the
// situation's seed alone: not on the number of workers, nor on the other
// attackers. An attacker that cannot read the release, because words lost their
// places, has outcomes without a value, whose note is the reason; the others go
// on. The rows of an exact channel, the most expensive part, are computed once for
// all of them.
func RunAll(ctx context.Context, names []string, s Situation) ([]Outcome, error) {
	outcomes := make([][]Outcome, len(names))
	prepared := make([]channelAttack, len(names))
	columns := make([][]Column, len(names))
	failed := func(i int, err error) error {
		if places := (*placesError)(nil); errors.As(err, &places) {
			outcomes[i], err = unreadable(columns[i], places), nil
		}
		if err != nil {
			return fmt.Errorf("attacker %s: %w", names[i], err)
		}
		return nil
	}
	wrong := s.ready()
	shared := false
	for i, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		if missing := d.Missing(&s); len(missing) > 0 {
			return nil, fmt.Errorf("attacker %s: no %s", name, missing[0])
		}
		if wrong != nil {
			return nil, failed(i, wrong)
		}
		columns[i] = d.Columns
		attacked := s
		attacked.own = s.Seed.Derive("attack", name)
		switch {
		case d.prepare != nil && s.Channel != nil:
			shared = true
			prepared[i], err = d.prepare(ctx, &attacked, *s.Channel, 0)
		case d.Run != nil:
			outcomes[i], err = d.Run(ctx, &attacked)
		default:
			outcomes[i], err = attacked.learnAndAttack(ctx, d)
		}
		if err := failed(i, err); err != nil {
			return nil, err
		}
	}
	if shared {
		err := s.Channel.EachRow(ctx, s.Workers, func(block, x int, row []float64) {
			for _, p := range prepared {
				if p.take != nil {
					p.take(block, x, row)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var all []Outcome
	for i, p := range prepared {
		if p.finish != nil {
			var err error
			outcomes[i], err = p.finish(ctx)
			if err := failed(i, err); err != nil {
				return nil, err
			}
		}
		for _, o := range outcomes[i] {
			if !slices.ContainsFunc(columns[i], func(c Column) bool { return c.Name == o.Column }) {
				return nil, fmt.Errorf("attacker %s: outcome %q is no column of it", names[i], o.Column)
			}
		}
		all = append(all, outcomes[i]...)
	}
	return all, nil
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
		return Outcome{Column: c.Name, Value: metrics.Unknown(), Floor: math.NaN(), Ceiling: math.NaN(),
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
			return f(i)
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
