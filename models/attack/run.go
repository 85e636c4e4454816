package attack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
)

// RunAll is Run for registered attackers, by their names.
func RunAll(ctx context.Context, names []string, t *Target) ([]Outcome, error) {
	var all []Definition
	for _, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return Run(ctx, all, t)
}

// Run attacks the target by several attackers, one after the other. The
// outcomes come in the order of the attackers and of their columns and depend on the
// target's seeds alone: not on the number of workers, nor on the other
// attackers. An attacker that cannot read the release, because words lost their
// places, has outcomes without a value, whose note is the reason; the others go
// on, as they do where one lacks what it needs, returns an error or panics: the
// outcomes are then those of the others, and the error is Failures.
func Run(ctx context.Context, all []Definition, t *Target) ([]Outcome, error) {
	attacks := list.Map(all, func(d Definition) *attack { return &attack{Definition: d} })
	var readers []*attack
	for _, a := range attacks {
		a.err = check.Panics(func() error { return a.start(ctx, t) })
		if a.err == nil && a.Take != nil {
			readers = append(readers, a)
		}
	}
	if len(readers) > 0 {
		if err := t.pass(ctx, readers); err != nil {
			return nil, err
		}
	}
	var outcomes []Outcome
	failures := Failures{}
	for _, a := range attacks {
		found, err := a.finish()
		if err != nil {
			failures[a.Name] = fmt.Errorf("attacker %s: %w", a.Name, err)
			continue
		}
		outcomes = append(outcomes, found...)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(failures) > 0 {
		return outcomes, failures
	}
	return outcomes, nil
}

// attack is an attacker at work.
type attack struct {
	Definition
	Attack
	err    error                 // of its start
	broken atomic.Pointer[error] // a panic at a row of the channel
	draws  int                   // of every word, of the channel that was read; 0 for an exact one
}

// start begins the attack, where the target has what the attacker needs.
func (a *attack) start(ctx context.Context, t *Target) error {
	for _, need := range a.Needs {
		if !t.Has(need) {
			return fmt.Errorf("no %s", need)
		}
	}
	attacked := *t
	attacked.Seed = t.Releases.Noise.Derive("attack", a.Name)
	if t.Releases.Single {
		attacked.Options.OwnReleases = 1
		attacked.Options.TestReleases = 1
	}
	started, err := a.Start(ctx, &attacked)
	a.Attack = started
	return err
}

// pass passes the rows of the channel to all attacks who read them.
func (t *Target) pass(ctx context.Context, readers []*attack) error {
	channel, draws, err := t.channel(ctx)
	if err != nil {
		return err
	}
	for _, a := range readers {
		a.draws = draws
	}
	return channel.EachRow(ctx, max(1, t.Workers), func(block, x int, row []float64) {
		for _, a := range readers {
			a.take(block, x, row)
		}
	})
}

// take passes on a row. After a panic the attack takes no more of them; the others do.
func (a *attack) take(block, x int, row []float64) {
	if a.broken.Load() != nil {
		return
	}
	err := check.Panics(func() error {
		a.Take(block, x, row)
		return nil
	})
	if err != nil {
		a.broken.CompareAndSwap(nil, &err)
	}
}

// finish returns the outcomes, each with the draws of the channel that was read.
func (a *attack) finish() ([]Outcome, error) {
	var outcomes []Outcome
	err := a.err
	if broken := a.broken.Load(); err == nil && broken != nil {
		err = *broken
	}
	if err == nil {
		err = check.Panics(func() (err error) {
			outcomes, err = a.Finish()
			return err
		})
	}
	if errors.Is(err, errPlaces) {
		return a.unreadable(err), nil
	}
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		if !slices.ContainsFunc(a.Columns, func(c Column) bool { return c.Name == o.Column }) {
			return nil, fmt.Errorf("outcome %q is no column of it", o.Column)
		}
		outcomes[i].Draws = max(o.Draws, a.draws)
	}
	return outcomes, nil
}

// unreadable are the outcomes of an attacker who cannot read the release.
func (a *attack) unreadable(why error) []Outcome {
	return list.Map(a.Columns, func(c Column) Outcome {
		return Outcome{
			Column:  c.Name,
			Value:   stats.Unknown(),
			Floor:   math.NaN(),
			Ceiling: math.NaN(),
			Note:    why.Error(),
		}
	})
}

// ErrNoPlace is the error of an attacker on single words where a mechanism rewrites whole
// texts: there is nothing to find.
var ErrNoPlace = errors.New("no word of the mechanism in the test split kept its place")

// Failures are the errors of attackers who failed, by name.
type Failures map[string]error

// Error is that of all of them, in the order of their names.
func (f Failures) Error() string {
	return errors.Join(list.Map(slices.Sorted(maps.Keys(f)), func(n string) error {
		return f[n]
	})...).Error()
}
