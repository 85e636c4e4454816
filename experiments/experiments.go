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
	"fmt"
	"path/filepath"

	"mldpbench/datasets/fetch"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin holds the studies of this program.
var Builtin = study.Library{Files: studies, Folder: "studies", What: "study"}

// Plan divides a study into units. It opens nothing.
func Plan(s *study.Study, l *lab.Lab) (*engine.Plan, error) {
	units, err := plan.Units(s, l)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", s.Name, err)
	}
	definition, err := s.YAML()
	if err != nil {
		return nil, err
	}
	return &engine.Plan{Study: s.Name, Task: s.Task, Definition: string(definition), Schema: study.Schema, Units: units,
		Data: l.Descriptions}, nil
}

// Run runs the unfinished units of a study over a data folder ("" finds it as
// every command does). Options.Out defaults to runs/NAME.
func Run(ctx context.Context, s *study.Study, root string, o engine.Options) (_ *engine.Summary, runErr error) {
	if o.Out == "" {
		o.Out = filepath.Join("runs", s.Name)
	}
	l := lab.New(root)
	l.Log = o.Log
	defer func() { runErr = errors.Join(runErr, l.Close()) }()
	p, err := Plan(s, l)
	if err == nil {
		err = l.Models(ctx, plan.Wants(s).Resources)
	}
	if err != nil {
		return nil, err
	}
	if o.Log != nil {
		lab.Unpublished(plan.Wants(s), root, func(err error) {
			fmt.Fprintf(o.Log, "warning: %v: it is used as it is; mldp data verify lists such files\n", err)
		})
	}
	return engine.Run(ctx, p, o)
}

// CheckData opens everything that a study uses. Each error has the position of
// the value that names the resource.
func CheckData(ctx context.Context, s *study.Study, root string) error {
	var all []error
	lab.Check(ctx, plan.Wants(s), root, func(err error, key, value string) {
		all = append(all, s.Named(err, key, value))
	})
	for _, part := range s.Parts() {
		for _, m := range part.Mechanisms {
			settings, _ := m.Expand() // checked
			if len(m.Command) == 0 || len(settings) == 0 {
				continue
			}
			o := m.Outside.At(settings[0])
			if err := external.Check(o.Command, external.Options{Files: o.Files}); err != nil {
				all = append(all, s.Named(err, "name", m.Name))
			}
		}
	}
	return errors.Join(all...)
}

// Audit audits the mechanisms of a study, except those from outside, on its
// data, and passes on each verdict and its report. Version is that of mldp.
func Audit(ctx context.Context, s *study.Study, root, version string, o audit.Options,
	each func(results.AuditRow, audit.Report) error) (err error) {
	l := lab.New(root)
	defer func() { err = errors.Join(err, l.Close()) }()
	return plan.Audit(ctx, s, l, o, func(spec measure.Spec, fingerprint string, r audit.Report) error {
		row := AuditRow(r, spec.Parameters())
		row.EmbeddingFingerprint, row.Version, row.Seed = fingerprint, version, spec.Seed
		return each(row, r)
	})
}

// Missing lists the entries of the fetch catalogue that a study wants and the
// data folder does not have.
func Missing(s *study.Study, root string) ([]fetch.Entry, error) {
	return lab.Missing(plan.Wants(s), root)
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
