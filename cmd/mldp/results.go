package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/tables"
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

// viewOptions are the flags of commands that write what results have.
type viewOptions struct {
	datasets, mechanisms []string
	levels               results.Levels
	out, files           string
}

// addFlags adds those of a folder of such files.
func (o *viewOptions) addFlags(f *pflag.FlagSet, files string) {
	o.files = files
	f.StringSliceVar(&o.datasets, "dataset", nil, "data sets (default: all)")
	f.StringSliceVar(&o.mechanisms, "mechanism", nil, "mechanisms (default: all)")
	outFlag(f, &o.out, "", "folder of the "+files+" (default: "+files+" next to the first results)")
}

// open reads results, keeps the data sets and mechanisms chosen, with the
// baselines, and completes the name of the output, a folder.
func (o *viewOptions) open(paths []string) (*results.Prepared, error) {
	p, dir, err := loadRuns(paths)
	if err != nil {
		return nil, err
	}
	pick := func(what string, wanted []string, of func(results.Cell) string) error {
		names := results.Distinct(p.Cells, of)
		for _, w := range wanted {
			if !slices.Contains(names, w) {
				return check.Wrong("%s = %q: the results have %s", what, w, strings.Join(names, ", "))
			}
		}
		return nil
	}
	if err := errors.Join(pick("dataset", o.datasets, func(c results.Cell) string { return c.Dataset }),
		pick("mechanism", o.mechanisms, func(c results.Cell) string { return c.Mechanism })); err != nil {
		return nil, err
	}
	p = p.Select(func(c results.Cell) bool {
		return (len(o.datasets) == 0 || slices.Contains(o.datasets, c.Dataset)) &&
			(len(o.mechanisms) == 0 || c.IsBaseline() || slices.Contains(o.mechanisms, c.Mechanism))
	})
	p.Levels = o.levels
	o.out = cmp.Or(o.out, filepath.Join(dir, o.files))
	return p, nil
}

// named keeps what has one of the beginnings of a name; none keeps all.
func named[T any](all []T, only []string, name func(T) string) []T {
	return slices.DeleteFunc(all, func(x T) bool {
		return len(only) > 0 && !slices.ContainsFunc(only, func(part string) bool { return strings.HasPrefix(name(x), part) })
	})
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
		return run, "", &verdict{exitNothing, file + ": no rows: nothing was measured"}
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

// writeOutputs writes the page of finished rows, which are not read back, and
// gives the answer. Audit is that of this run; if there is none, a file next to
// the rows is used.
func writeOutputs(a *answer, stderr io.Writer, s *engine.Summary, audit []results.AuditRow, examples bool,
	levels results.Levels) error {
	run := results.Run{Name: s.Dir, Rows: s.Rows, Examples: s.Examples, Audit: audit}
	addManifest(&run, &s.Manifest)
	if audit == nil {
		var err error
		if run.Audit, err = results.ReadAudit(filepath.Join(s.Dir, auditFile)); err != nil {
			return err
		}
	}
	p, err := results.Prepare(run)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Cells, func(c results.Cell) bool { return c.Panel != "" }) { // figures of papers
		if err := atomicfile.Write(filepath.Join(s.Dir, "summary.csv"), 0o644, func(w io.Writer) error {
			return results.WriteRows(w, tables.Summarize(p))
		}); err != nil {
			return err
		}
	}
	p.Levels = levels
	page := filepath.Join(s.Dir, "report.html")
	if err := writePage(page, p, examples); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "rows are in %s\n", s.Dir)
	if err := a.brief(tables.Brief(p, briefRows)); err != nil {
		return err
	}
	a.wrote(s.Dir, page)
	return nil
}

// briefRows limits the output of a run, with its heading, to ten lines.
const briefRows = 9

// writePage writes the page of a view.
func writePage(path string, p *results.Prepared, examples bool) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return report.Write(w, report.Input{Prepared: p, Examples: examples})
	})
}

func newReportCommand() *cobra.Command {
	var out string
	var examples bool
	var levels results.Levels
	cmd := command("report", "report RESULTS...", cobra.MinimumNArgs(1))
	outFlag(cmd.Flags(), &out, "", "the page to write (default: report.html next to the first results)")
	examplesFlag(cmd.Flags(), &examples)
	alignFlag(cmd.Flags(), &levels)
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		p, dir, err := loadRuns(args)
		if err != nil {
			return err
		}
		p.Levels = levels
		out = cmp.Or(out, filepath.Join(dir, "report.html"))
		if err := writePage(out, p, examples); err != nil {
			return err
		}
		a.wrote("", out)
		return nil
	})
}
