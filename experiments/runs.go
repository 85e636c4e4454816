package experiments

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"mldpbench/results/quantity"

	"github.com/goccy/go-yaml"

	"mldpbench/experiments/engine"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

// auditFile is the name of the file with the audit of a study's mechanisms,
// next to its rows.
const auditFile = "audit.csv"

// loadRuns reads results files, or the folders of runs, and analyses them together at some
// levels; what a reader must know of them is noted. Files that cannot be read are wrong
// usage; those without rows are not.
func (o *Outcome) loadRuns(levels quantity.Levels, paths ...string) (*analysis.Analysis, error) {
	var runs []results.Run
	for _, path := range paths {
		run, err := readRun(path)
		if err != nil {
			return nil, Usage(err)
		}
		o.noteFormerNames(run)
		runs = append(runs, run)
	}
	read, err := analysis.New(levels, runs...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	for _, w := range read.Warnings {
		o.note("warning: %s", w)
	}
	o.Analysis = read
	return read, nil
}

// readRun reads the rows of a run and the other files of its folder, where
// present. Rows that are not those its manifest was written for are an error.
func readRun(path string) (run results.Run, err error) {
	file, err := results.File(path)
	if err != nil {
		return run, err
	}
	run.Name = path
	run.Rows, err = results.Read(file)
	if err != nil {
		return run, err
	}
	if len(run.Rows) == 0 {
		return run, &Verdict{Nothing, file + ": no rows: nothing was measured"}
	}
	folder := filepath.Dir(file)
	m, err := engine.ReadManifest(filepath.Join(folder, "manifest.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s, err := Builtin.Open(run.Rows[0].Study); err == nil {
			run.Title = s.Title
		}
	case err != nil:
		return run, err
	default:
		if err := m.Verify(file); err != nil {
			return run, err
		}
		addManifest(&run, m)
	}
	run.Audit, err = results.ReadAudit(filepath.Join(folder, auditFile))
	return run, err
}

// addManifest fills in the origin of a run from its manifest.
func addManifest(run *results.Run, m *engine.Manifest) {
	run.Command = m.Command
	run.Definition = m.Definition
	run.Version = m.Version
	run.Machine = m.Machine
	run.Started = m.Started.Format("2 January 2006, 15:04 UTC")
	run.Datasets = m.Datasets
	var study struct {
		Title string             `yaml:"title"`
		PUC   *results.Composite `yaml:"puc"`
	}
	if yaml.Unmarshal([]byte(m.Definition), &study) == nil { // the engine has read it once; a page needs only its rows
		run.Title = study.Title
		run.PUC = study.PUC
	}
}

// noteFormerNames says which quantities a run calls by names of earlier programs.
func (o *Outcome) noteFormerNames(run results.Run) {
	said := map[string]bool{}
	for _, r := range run.Rows {
		if r.FormerName != "" && !said[r.FormerName] {
			said[r.FormerName] = true
			o.note("%s: %s is called %s now", run.Name, r.FormerName, r.Quantity)
		}
	}
}
