package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"mldpbench/datasets/fetch"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/cores"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
)

// Run runs the unfinished units over a data folder ("" finds it as every command
// does). Options.Out defaults to runs/NAME.
func (p *Plan) Run(ctx context.Context, root string, o engine.Options) (_ *engine.Summary, runErr error) {
	o.Out = cmp.Or(o.Out, filepath.Join("runs", p.Name))
	l := lab.New(root)
	l.Log = o.Log
	defer func() { runErr = errors.Join(runErr, l.Close()) }()
	e, err := p.Engine(l)
	if err == nil {
		err = l.Models(ctx, p.wants().Resources)
	}
	if err != nil {
		return nil, err
	}
	return engine.Run(ctx, e, o)
}

// Missing lists the entries of the fetch catalogue that the study wants and the
// data folder does not have.
func (p *Plan) Missing(root string) ([]fetch.Entry, error) { return lab.Missing(p.wants(), root) }

// work is what the units of a job share: the releases of its repetitions.
type work struct {
	releases map[int]*measure.Release
	left     map[int]int // units
}

// run measures a unit. The first of a job opens the releases of all of them; a
// release is forgotten after its last unit.
func (p *Plan) run(ctx context.Context, u *unit, job *engine.Job) (rows []results.Row, err error) {
	w, ok := job.Shared.(*work)
	if !ok {
		var specs []measure.Spec
		left := map[int]int{}         // units by repetition
		pending := map[int][]string{} // their measurements
		for _, id := range job.IDs {
			o := &p.units[p.byID[id]]
			r := o.spec.Repetition
			left[r]++
			pending[r] = append(pending[r], o.measurement.Name)
			specs = append(specs, o.spec) // those of a repetition are the same
		}
		releases, err := measure.Open(ctx, p.lab, specs, u.splits, cores.Free(ctx))
		if err != nil {
			return nil, err
		}
		for repetition, r := range releases {
			r.Pending = pending[repetition]
		}
		w = &work{releases, left}
		job.Shared = w
	}
	repetition := u.spec.Repetition
	r := w.releases[repetition]
	w.left[repetition]--
	if w.left[repetition] == 0 {
		delete(w.releases, repetition)
	}
	query := u.query
	query.Threads = cores.Free(ctx)
	rows, err = u.measurement.Measure(ctx, r, &query)
	var undefined *mechanisms.UndefinedError
	var unreachable *measure.OutOfReach
	switch {
	case errors.As(err, &undefined) || errors.As(err, &unreachable):
		row := r.Row(&query)
		row.Status = results.StatusUndefined
		row.Reason = err.Error()
		row.Promise = results.Promise{}
		rows = []results.Row{row}
	case err != nil:
		return nil, fmt.Errorf("measuring %s: %w", u.measurement.Name, err)
	}
	for i := range rows {
		rows[i].Measurement = u.measurement.At(&u.spec, &u.query)
	}
	return rows, r.DescribeRedrawn(ctx, rows)
}

// Audit audits each mechanism of the study at each of its ε as the first of its
// releases runs it: on the words of that data set and embedding. Each verdict is
// passed on with its report; version is that of mldp. Mechanisms from outside are left
// out: nobody can look into them.
func (p *Plan) Audit(ctx context.Context, root, version string, o audit.Options,
	each func(results.AuditRow, audit.Report) error) (err error) {
	l := lab.New(root)
	defer func() { err = errors.Join(err, l.Close()) }()
	seen := map[string]bool{}
	for _, u := range p.units {
		spec := u.spec
		name := engine.MakeID(study.Labels(spec.Mechanism), spec.Parameters())
		if spec.IsBaseline() ||
			spec.Mechanism.Mechanism == "" ||
			spec.Mechanism.Epsilon == 0 ||
			spec.AsText() && !spec.Definition().Documents ||
			seen[name] {
			continue
		}
		seen[name] = true
		spec.Repetition = max(1, spec.Repetition)
		o.Seed = spec.Root().Derive("audit")
		releases, err := measure.Open(ctx, l, []measure.Spec{spec}, [3]bool{}, 1)
		if err != nil {
			return err
		}
		r := releases[spec.Repetition]
		report, err := auditOne(ctx, r, o)
		if err != nil {
			return fmt.Errorf("audit of %s: %w", &u, err)
		}
		row := AuditRow(report, spec.Parameters())
		row.EmbeddingFingerprint = r.Space.Fingerprint()
		row.Version = version
		row.Seed = spec.Seed
		if err := each(row, report); err != nil {
			return err
		}
	}
	return nil
}

func auditOne(ctx context.Context, r *measure.Release, o audit.Options) (audit.Report, error) {
	env, err := r.Environment(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	if kept := r.Kept(); len(kept) > 0 {
		if m, err := mechanisms.New(env, r.Mechanism); err == nil {
			return audit.Mechanism(ctx, mechanisms.KeepWords(m, kept), env.Space, o)
		} // an error occurs again below, where it can be reported as a result
	}
	return audit.Run(ctx, env, r.Mechanism, o)
}

// AuditRow is the verdict of a report; parameters are those by which rows
// identify the instance.
func AuditRow(r audit.Report, parameters string) results.AuditRow {
	row := results.AuditRow{
		Mechanism:  r.Settings.Mechanism,
		Variant:    string(r.Settings.Variant),
		Parameters: parameters,
		Epsilon:    results.Float(r.Settings.Epsilon),
		Promises:   r.Guarantee.Holds(),
		Lower:      results.Float(r.EpsilonLowerBound),
		Violated:   r.Violated,
		Exact:      r.Method == audit.Exact,
	}
	if r.Method == audit.NoAudit {
		row.Lower = results.Missing
	}
	if r.Settings.Variant != mechanisms.External { // of a command nothing is known
		if r.Detects > 0 {
			row.Detects = results.Float(r.Detects)
		}
		if r.DetectsOne > 0 {
			row.DetectsOne = results.Float(r.DetectsOne)
		}
	}
	return row
}
