package plan

import (
	"context"
	"errors"
	"fmt"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/mechanisms"
	"mldpbench/results"
)

// work is what the units of a job share: the releases of its repetitions.
type work struct {
	releases map[int]*measure.Release
	left     map[int]int // units
}

// run measures a unit. The first of a job opens the releases of all of them; a
// release is forgotten after its last unit.
func (p *planner) run(ctx context.Context, u *unit, job *engine.Job) (out engine.Output, err error) {
	w, ok := job.Shared.(*work)
	if !ok {
		specs, left, pending := p.specs(job)
		releases, err := measure.Open(ctx, p.lab, specs, u.splits, job.Threads)
		if err != nil {
			return out, err
		}
		for repetition, r := range releases {
			r.Pending = pending[repetition]
		}
		w = &work{releases, left}
		job.Shared = w
	}
	repetition := u.spec.Repetition
	r := w.releases[repetition]
	if w.left[repetition]--; w.left[repetition] == 0 {
		delete(w.releases, repetition)
	}
	query := u.query
	query.Threads = max(1, job.Threads)
	out.Rows, err = u.measurement.Measure(ctx, r, &query)
	var undefined *mechanisms.UndefinedError
	var unreachable *measure.OutOfReach
	switch {
	case errors.As(err, &undefined) || errors.As(err, &unreachable):
		row := r.Row(&query)
		row.Status, row.Reason, row.Promise = results.StatusUndefined, err.Error(), results.NoPromise("")
		out.Rows = []results.Row{row}
	case err != nil:
		return out, fmt.Errorf("measuring %s: %w", u.measurement.Name, err)
	case u.measurement.Name == examplesOf && repetition == 1:
		out.Examples = r.Examples()
	}
	for i := range out.Rows {
		out.Rows[i].Measurement = u.measurement.String()
	}
	return out, r.DescribeRedrawn(ctx, out.Rows)
}

// examplesOf is the measurement whose units hold examples of a text.
const examplesOf = "text"
