// Package experiments runs studies: it reads a study file, has the planner of
// its protocol divide it into units and passes these to the engine.
//
//	s, err := experiments.Builtin.Open("mini")
//	summary, err := experiments.Run(ctx, s, "", engine.Options{Out: "results/mini"})
//
// A protocol is a package that registers the body of its studies with package
// study and plans it. It only has to be imported here.
package experiments

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"

	"mldpbench/datasets/fetch"
	_ "mldpbench/experiments/attacks" // attacks
	"mldpbench/experiments/engine"
	_ "mldpbench/experiments/grid" // the comparative study
	"mldpbench/experiments/lab"
	_ "mldpbench/experiments/papers" // the source papers
	"mldpbench/experiments/study"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin are the embedded studies.
var Builtin = study.Library{Files: studies}

// Planner is a body that can be run.
type Planner interface {
	study.Body
	// Plan turns the study into units. It opens nothing.
	Plan(l *lab.Lab) ([]engine.Unit, error)
	// Wants returns the resources that the study uses.
	Wants() lab.Wants
}

// Plan turns a checked study into units.
func Plan(s *study.Study, l *lab.Lab) (*engine.Plan, error) {
	p, ok := s.Body.(Planner)
	if !ok {
		return nil, fmt.Errorf("study %s: protocol %s has no planner", s.Name, s.Protocol)
	}
	units, err := p.Plan(l)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", s.Name, err)
	}
	if len(units) == 0 {
		return nil, fmt.Errorf("study %s: nothing is left to measure", s.Name)
	}
	definition, err := s.YAML()
	if err != nil {
		return nil, err
	}
	return &engine.Plan{Study: s.Name, Definition: string(definition), Schema: study.Schema, Units: units,
		Data: l.Descriptions}, nil
}

// Run runs the unfinished units of a study; root is the data folder; "" finds
// it as every command does. An empty o.Out is results/STUDY.
func Run(ctx context.Context, s *study.Study, root string, o engine.Options) (_ *engine.Summary, runErr error) {
	if o.Out == "" {
		o.Out = filepath.Join("results", s.Name)
	}
	l := lab.New(root)
	defer func() { runErr = errors.Join(runErr, l.Close()) }()
	plan, err := Plan(s, l)
	if err != nil {
		return nil, err
	}
	if p, ok := s.Body.(Planner); ok && o.Log != nil {
		wanted := p.Wants().Encoder
		if ref, err := l.EncoderRef(wanted); err == nil && ref != wanted && ref == lab.SIFEncoder {
			fmt.Fprintf(o.Log, "no sentence encoder on this machine: CS is measured with SIF and marked so; get one "+
				"with: mldp data fetch %s\n", lab.CatalogueEncoder)
		}
	}
	return engine.Run(ctx, plan, o)
}

// CheckData opens all resources that a study uses. The errors are joined, each
// "file:line:column: what" where the study was read from a file.
func CheckData(ctx context.Context, s *study.Study, root string) error {
	p, ok := s.Body.(Planner)
	if !ok {
		return nil
	}
	var all []error
	lab.Check(ctx, p.Wants(), root, func(err error, key, value string) { all = append(all, s.Named(err, key, value)) })
	return errors.Join(all...)
}

// Audit audits the mechanisms of a study at their ε and passes on each report,
// with the parameters by which records identify the instance. Studies of a
// paper's protocol have no audit.
func Audit(ctx context.Context, s *study.Study, root string, o audit.Options,
	each func(parameters string, r audit.Report) error) (err error) {
	a, ok := s.Body.(interface {
		Audit(context.Context, *lab.Lab, audit.Options, func(string, audit.Report) error) error
	})
	if !ok {
		return fmt.Errorf("study %s: protocol %s has no audit of its own; see mldp audit", s.Name, s.Protocol)
	}
	l := lab.New(root)
	defer func() { err = errors.Join(err, l.Close()) }()
	return a.Audit(ctx, l, o, each)
}

// Schedule divides a study into tasks; see engine.NewSchedule. Estimates come
// from records of earlier runs and from speeds.
func Schedule(ctx context.Context, s *study.Study, root string, tasks int, taskSeconds float64,
	records []results.Record, speeds []lab.Speed) (engine.Schedule, error) {
	l := lab.New(root)
	l.Records, l.Speeds = records, speeds
	plan, err := Plan(s, l)
	if err != nil {
		return nil, err
	}
	schedule, err := engine.NewSchedule(ctx, plan, tasks, taskSeconds)
	return schedule, errors.Join(err, l.Close())
}

// Missing lists the entries of the fetch catalogue that a study needs and the
// data folder does not have; encoder tells whether the sentence encoder counts.
func Missing(s *study.Study, root string, encoder bool) ([]fetch.Entry, error) {
	p, ok := s.Body.(Planner)
	if !ok {
		return nil, nil
	}
	return lab.Missing(p.Wants(), root, encoder)
}
