package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// writeOutputs writes the page of finished rows, which are not read back, and
// prints the answer and the path of the page. Audit is that of this run; if
// there is none, a file next to the rows is used.
func writeOutputs(stdout, stderr io.Writer, s *engine.Summary, shard engine.Shard, audit []results.AuditRow,
	examples bool, levels results.Levels) error {
	if shard.Count > 1 { // the page is that of the merged study
		_, err := fmt.Fprintln(stdout, filepath.Join(s.Dir, shard.File("results", ".csv")))
		return err
	}
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
	if err := printBrief(stdout, tables.Brief(p, briefRows)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, page)
	return err
}

// writePage writes the page of a view.
func writePage(path string, p *results.Prepared, examples bool) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return report.Write(w, report.Input{Prepared: p, Examples: examples})
	})
}

// briefRows limits the output of a run, with its heading, to ten lines.
const briefRows = 9

// printBrief prints a table for a terminal with its footnotes below it, or
// nothing if it has no rows.
func printBrief(w io.Writer, t tables.Table) error {
	if len(t.Rows) == 0 {
		return nil
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(t.Header, "\t"))
	for _, row := range t.Rows {
		var texts []string
		for _, c := range row {
			text := c.Text
			for _, n := range c.Notes {
				text += fmt.Sprintf(" [%d]", n+1)
			}
			texts = append(texts, text)
		}
		fmt.Fprintln(columns, strings.Join(texts, "\t"))
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	for i, n := range t.Notes {
		fmt.Fprintf(w, "[%d] %s\n", i+1, n)
	}
	if t.Legend != "" {
		fmt.Fprintln(w, t.Legend)
	}
	return nil
}

// printUnit prints the rows of the unit that was run alone, as CSV with a
// header.
func printUnit(w io.Writer, s *engine.Summary) error {
	rows := results.Where(s.Rows, func(r results.Row) bool { return r.Key == s.Key })
	if len(rows) == 0 {
		return errors.New("unit " + s.Key + ": no row")
	}
	return results.Encode(w, rows)
}
