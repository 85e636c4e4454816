package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/published"
)

// loaded is the joined output of runs: their records, with derived columns
// recomputed, and the other files of their folders where present.
type loaded struct {
	report.Input
	dir string // of the first
}

// loadRuns reads results files, or the folders of runs.
func loadRuns(paths []string) (loaded, error) {
	var l loaded
	var runs [][]results.Record
	for i, path := range paths {
		file, err := recordsFile(path)
		if err != nil {
			return l, err
		}
		dir := filepath.Dir(file)
		if i == 0 {
			l.dir = dir
		}
		records, err := results.Read(file)
		if err != nil {
			return l, err
		}
		if len(records) == 0 {
			return l, fmt.Errorf("%s: no records", file)
		}
		runs = append(runs, records)
		if err := l.beside(dir, records); err != nil {
			return l, err
		}
	}
	all, err := results.Union(runs...)
	if err == nil {
		l.Records, err = results.Derive(all)
	}
	l.Records = results.Refute(l.Records, l.Audit)
	if err != nil {
		return l, fmt.Errorf("%s: %w", paths[0], err)
	}
	for _, name := range results.Distinct(l.Records, func(r results.Record) string { return r.Study }) {
		// no manifest has it
		if s, err := experiments.Builtin.Open(name); err == nil && s.Title != "" && len(l.Runs) == 0 {
			l.Titles = append(l.Titles, s.Title)
		}
	}
	return l, nil
}

// beside reads the other files in the folder of a run's records.
func (l *loaded) beside(dir string, records []results.Record) error {
	examples, err := engine.ReadExamples(filepath.Join(dir, "examples.jsonl"))
	if err != nil {
		return err
	}
	for _, x := range examples {
		if !slices.Contains(l.Examples, x) {
			l.Examples = append(l.Examples, x)
		}
	}
	m, err := engine.ReadManifest(filepath.Join(dir, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		m, err = nil, nil
	}
	if err == nil && m != nil {
		err = m.Verify(filepath.Join(dir, "results.csv"))
	}
	if err != nil {
		return err
	}
	audit, err := results.ReadAudit(filepath.Join(dir, auditFile))
	l.Audit = append(l.Audit, audit...)
	if m != nil {
		l.describe(m, records)
	}
	return err
}

// auditFile is the name of the file with the audit of a study's mechanisms,
// next to its records.
const auditFile = "audit.csv"

// describe adds the content of a manifest.
func (l *loaded) describe(m *engine.Manifest, records []results.Record) {
	l.Runs = append(l.Runs, report.Run{
		Title: studyTitle(m.Definition), Command: m.Command, Definition: m.Definition, Version: m.Version,
		Machine: m.Machine,
		Started: m.Started.Format("2 January 2006, 15:04 UTC"),
	})
	for _, d := range m.Datasets {
		if i := slices.IndexFunc(records, func(r results.Record) bool { return r.Dataset == d.Name }); i >= 0 {
			d.Fingerprint = records[i].DatasetFingerprint // manifests of older versions lack it
		}
		if !slices.ContainsFunc(l.Datasets, func(x results.DatasetDescription) bool {
			return x.Name == d.Name && x.Fingerprint == d.Fingerprint
		}) {
			l.Datasets = append(l.Datasets, d)
		}
	}
}

// studyTitle reads the title of a study file, "" where it has none.
func studyTitle(definition string) string {
	var study struct {
		Title string `yaml:"title"`
	}
	if yaml.Unmarshal([]byte(definition), &study) != nil {
		return "" // the engine has read it once; a page needs only its records
	}
	return study.Title
}

// tables writes every table of the loaded results.
func (l loaded) tables(dir string, compact bool) ([]string, error) {
	tables := published.Tables(results.TableInputs{Records: l.Records, Datasets: l.Datasets, Examples: l.Examples,
		Audit: l.Audit})
	if compact {
		for i := range tables {
			tables[i] = tables[i].Compact()
		}
	}
	return results.WriteTables(dir, tables)
}

// recordsFile returns the path of results.csv for the folder of a run, and any
// other path unchanged.
func recordsFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		path = filepath.Join(path, "results.csv")
	}
	return path, nil
}

// readRecords reads a results file, or that of a run's folder.
func readRecords(path string) ([]results.Record, error) {
	path, err := recordsFile(path)
	if err != nil {
		return nil, err
	}
	return results.Read(path)
}
