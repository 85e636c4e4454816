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
	"mldpbench/results"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin holds the studies of this program.
var Builtin = study.Library{Files: studies}

// Planned is a study that is divided into units, once. It has opened nothing.
type Planned struct {
	*study.Study
	plan *plan.Plan
}

// New plans a study.
func New(s *study.Study) (*Planned, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", s.Name, err)
	}
	return &Planned{s, p}, nil
}

// Engine is the plan with the data of a lab.
func (p *Planned) Engine(l *lab.Lab) (*engine.Plan, error) {
	definition, err := p.YAML()
	if err != nil {
		return nil, err
	}
	return &engine.Plan{Study: p.Name, Task: p.Task, Definition: string(definition), Schema: study.Schema,
		Units: p.plan.Units(l), Data: l.Descriptions}, nil
}

// Run runs the unfinished units of a study; see Planned.Run.
func Run(ctx context.Context, s *study.Study, root string, o engine.Options) (*engine.Summary, error) {
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, root, o)
}

// Run runs the unfinished units over a data folder ("" finds it as every command
// does). Options.Out defaults to runs/NAME.
func (p *Planned) Run(ctx context.Context, root string, o engine.Options) (_ *engine.Summary, runErr error) {
	if o.Out == "" {
		o.Out = filepath.Join("runs", p.Name)
	}
	l := lab.New(root)
	l.Log = o.Log
	defer func() { runErr = errors.Join(runErr, l.Close()) }()
	units, err := p.Engine(l)
	wants := p.plan.Wants()
	if err == nil {
		err = l.Models(ctx, wants.Resources)
	}
	if err != nil {
		return nil, err
	}
	return engine.Run(ctx, units, o)
}

// Audit audits the mechanisms of a study, except those from outside, on its
// data, and passes on each verdict and its report. Version is that of mldp.
func Audit(ctx context.Context, s *study.Study, root, version string, o audit.Options,
	each func(results.AuditRow, audit.Report) error) (err error) {
	p, err := New(s)
	if err != nil {
		return err
	}
	l := lab.New(root)
	defer func() { err = errors.Join(err, l.Close()) }()
	return p.plan.Audit(ctx, l, o, func(spec measure.Spec, fingerprint string, r audit.Report) error {
		row := AuditRow(r, spec.Parameters())
		row.EmbeddingFingerprint, row.Version, row.Seed = fingerprint, version, spec.Seed
		return each(row, r)
	})
}

// Missing lists the entries of the fetch catalogue that a study wants and the
// data folder does not have.
func (p *Planned) Missing(root string) ([]fetch.Entry, error) {
	return lab.Missing(p.plan.Wants(), root)
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
