package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/tables"
)

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
