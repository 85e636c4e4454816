// Package experiments runs studies: it reads a study file, has it divided into
// units and passes these to the engine.
//
//	s, err := experiments.Builtin.Open("mini")
//	summary, err := experiments.Run(ctx, s, "", engine.Options{Out: "runs/mini"})
package experiments

import (
	"context"
	"embed"
	"errors"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin holds the studies of this program.
var Builtin = study.Library{Files: studies}

// Run plans a study and runs its unfinished units; see plan.Plan.Run.
func Run(ctx context.Context, s *study.Study, root string, o engine.Options) (*engine.Summary, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, root, o)
}

// Audit audits the mechanisms of a study, except those from outside, on its
// data, and passes on each verdict and its report. Version is that of mldp.
func Audit(ctx context.Context, s *study.Study, root, version string, o audit.Options,
	each func(results.AuditRow, audit.Report) error) (err error) {
	p, err := plan.New(s)
	if err != nil {
		return err
	}
	l := lab.New(root)
	defer func() { err = errors.Join(err, l.Close()) }()
	return p.Audit(ctx, l, o, func(spec measure.Spec, fingerprint string, r audit.Report) error {
		row := AuditRow(r, spec.Parameters())
		row.EmbeddingFingerprint, row.Version, row.Seed = fingerprint, version, spec.Seed
		return each(row, r)
	})
}

// AuditRow is the verdict of a report; parameters are those by which rows
// identify the instance.
func AuditRow(r audit.Report, parameters string) results.AuditRow {
	row := results.AuditRow{
		Mechanism: r.Settings.Mechanism, Variant: string(r.Settings.Variant), Parameters: parameters,
		Epsilon: results.Float(r.Settings.Epsilon), Promises: r.Guarantee.Holds(), Lower: results.Float(r.EpsilonLowerBound),
		Violated: r.Violated, Exact: r.Method == audit.Exact,
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
