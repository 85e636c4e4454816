package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results/quantity"
)

// Running says which study is run, and how.
type Running struct {
	Call
	Study     string       // name, file, or several with commas between them: see Open
	Parsed    *study.Study // in place of Study; nil for none
	Overrides study.Overrides
	Program   string          // a command that is a mechanism as well; "" for none
	Levels    quantity.Levels // at which mechanisms are compared: see runAligned
	Out       string          // folder of the results; "" is runs/STUDY
	Figures   string          // folder of the figures; "" for none
	Workers   int             // units at a time; 0 is the number of cores
	Shard     string          // i/n: only the i-th of n parts; "" for all
	Audit     bool            // audits the mechanisms as well
	Fetch     bool            // downloads data that is missing
	DryRun    bool            // runs one unit of each kind, to know how long the others take
	Again     bool            // runs cells of the folder again, and keeps its others
}

// Run runs the unfinished units of a study, and writes its rows and its page.
func Run(ctx context.Context, r Running) (*Outcome, error) {
	o := r.answer()
	if r.Program != "" {
		own, err := commandEntry(r.Program)
		if err != nil {
			return nil, err
		}
		r.Overrides.Own = []study.MechanismSpec{own}
	}
	shard := engine.Shard{}
	if r.Shard != "" {
		var err error
		shard, err = engine.ParseShard(r.Shard)
		if err != nil {
			return nil, Usage(err)
		}
	}
	p, err := r.open()
	if err != nil {
		return nil, err
	}
	o.noteStudy(p.Study)
	if err := r.checkFolder(p.Name); err != nil {
		return nil, err
	}
	if err := r.provide(ctx, o.call, p); err != nil {
		return nil, err
	}
	options := o.call.engineOptions(r.Out)
	options.Workers = r.Workers
	options.Sample = r.DryRun
	options.Again = r.Again
	options.Shard = shard
	summary, err := r.measure(ctx, p, options)
	if err != nil {
		return nil, err
	}
	if r.DryRun {
		o.table("estimate", []string{"units", "finished", "minutes left", "MiB"}, [][]any{{summary.Total,
			summary.Ran + summary.Reused, math.Ceil(summary.Left.Minutes()), math.Ceil(engine.PeakMemoryMiB())}})
		return o, nil
	}
	o.note("%d units: %d run, %d finished before", summary.Total, summary.Ran, summary.Reused)
	if shard.Count > 1 { // the page is that of the merged study
		o.wrote(summary.Dir, filepath.Join(summary.Dir, shard.File("results", ".csv")))
		return o, nil
	}
	var failed error // the page is written all the same
	if r.Audit {
		failed = auditStudy(ctx, p, o.call, filepath.Join(summary.Dir, auditFile))
	}
	return o, errors.Join(failed, o.writeRun(summary, runPages{levels: r.Levels, figures: r.Figures}))
}

// open opens the study. Of a task that mechanisms are compared on, there are repetitions enough for tests.
func (r Running) open() (*plan.Plan, error) {
	s := r.Parsed
	if s == nil {
		var err error
		s, err = Open(r.Study, r.Data)
		if err != nil {
			return nil, Usage(err)
		}
	}
	overrides := r.Overrides
	if r.Levels.Quantity != "" && s.Task != "" && overrides.Repetitions == 0 {
		overrides.Repetitions = alignedRepetitions
	}
	return planOf(s, overrides)
}

// checkFolder refuses a folder that holds the run of another study.
func (r Running) checkFolder(name string) error {
	if r.Out == "" || r.Force {
		return nil
	}
	m, err := engine.ReadManifest(filepath.Join(r.Out, "manifest.json"))
	if err == nil && m.Study != name {
		return check.Wrong("%s holds a run of the study %q: choose another --out for %q, or say --force", r.Out,
			m.Study, name)
	}
	return nil
}

// provide makes sure that the data of a study is there: it fetches what is missing, or its error tells how to get it.
func (r Running) provide(ctx context.Context, call Call, p *plan.Plan) error {
	missing, err := p.Missing(r.Data)
	if err != nil {
		return err
	}
	if r.Fetch {
		return call.download(ctx, missing)
	}
	return call.checkPresent(missing)
}

// measure runs the units, at the levels if there are any.
func (r Running) measure(ctx context.Context, p *plan.Plan, options engine.Options) (summary *engine.Summary,
	err error) {
	aligned := newAligning(p.Study, r.Data, options, r.Levels)
	switch {
	case r.Levels.Quantity == "":
		summary, err = p.Run(ctx, r.Data, options)
	case r.DryRun:
		summary, err = estimateAligned(ctx, aligned)
	default:
		summary, err = runAligned(ctx, aligned)
	}
	if errors.Is(err, engine.ErrInterrupted) && summary != nil {
		return nil, fmt.Errorf("%w: %d of %d units are finished and kept; the same command continues with the rest",
			err, summary.Reused+summary.Ran, summary.Total)
	}
	return summary, err
}

// engineOptions are those of the engine for a run in a folder.
func (c Call) engineOptions(out string) engine.Options {
	return engine.Options{
		Out:     out,
		Log:     c.Log,
		Version: c.Version,
		Command: c.Line,
		Force:   c.Force,
	}
}

// runStudy plans a study and runs its unfinished units; see plan.Plan.Run.
func runStudy(ctx context.Context, s *study.Study, root string, o engine.Options) (*engine.Summary, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, root, o)
}
