package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/results"
)

// auditFile is the name of the file with the audit of a study's mechanisms,
// next to its rows.
const auditFile = "audit.csv"

// loadRuns reads results files, or the folders of runs, and returns their
// joined view and the folder of the first.
func loadRuns(paths []string) (p *results.Prepared, dir string, err error) {
	var runs []results.Run
	for i, path := range paths {
		run, folder, err := readRun(path)
		if err != nil {
			return nil, "", err
		}
		if i == 0 {
			dir = folder
		}
		runs = append(runs, run)
	}
	if p, err = results.Prepare(runs...); err != nil {
		return nil, "", fmt.Errorf("%s: %w", paths[0], err)
	}
	return p, dir, nil
}

// readRun reads the rows of a run and the other files of its folder, where
// present. Rows that are not those its manifest was written for are an error.
func readRun(path string) (run results.Run, dir string, err error) {
	file, err := results.File(path)
	if err != nil {
		return run, "", err
	}
	run.Name, dir = path, filepath.Dir(file)
	if run.Rows, err = results.Read(file); err != nil {
		return run, "", err
	}
	if len(run.Rows) == 0 {
		return run, "", &exitError{exitNothing, fmt.Errorf("%s: no rows: nothing was measured", file)}
	}
	m, err := engine.ReadManifest(filepath.Join(dir, "manifest.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s, err := experiments.Builtin.Open(run.Rows[0].Study); err == nil {
			run.Title = s.Title
		}
	case err != nil:
		return run, "", err
	default:
		if err := m.Verify(file); err != nil {
			return run, "", err
		}
		addManifest(&run, m)
	}
	if run.Audit, err = results.ReadAudit(filepath.Join(dir, auditFile)); err != nil {
		return run, "", err
	}
	run.Examples, err = engine.ReadExamples(filepath.Join(dir, "examples.jsonl"))
	return run, dir, err
}

// addManifest fills in the origin of a run from its manifest.
func addManifest(run *results.Run, m *engine.Manifest) {
	run.Command, run.Definition, run.Version, run.Machine = m.Command, m.Definition, m.Version, m.Machine
	run.Started = m.Started.Format("2 January 2006, 15:04 UTC")
	run.Datasets = m.Datasets
	var study struct {
		Title string `yaml:"title"`
	}
	if yaml.Unmarshal([]byte(m.Definition), &study) == nil { // the engine has read it once; a page needs only its rows
		run.Title = study.Title
	}
}
