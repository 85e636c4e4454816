package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
)

// figureFormats are the formats of the figures that commands save with their
// results.
var figureFormats = plots.Formats

// writeOutputs writes tables, figures and report of finished records, and
// prints the best of each data set and the path of the page. Records are not
// read back, and every figure is drawn once, for its files and for the page.
// audit is that of this run; if there is none, a file next to the records is
// used.
func writeOutputs(stdout, stderr io.Writer, s *engine.Summary, shard engine.Shard, audit []results.AuditRow,
	figures string) error {
	if shard.Count > 1 { // tables and figures are for the merged study
		_, err := fmt.Fprintln(stdout, filepath.Join(s.Dir, shard.File("results", ".csv")))
		return err
	}
	l := loaded{dir: s.Dir}
	l.Records, l.Examples = s.Records, s.Examples
	l.describe(&s.Manifest, s.Records)
	var err error
	if l.Audit = audit; audit == nil {
		if l.Audit, err = results.ReadAudit(filepath.Join(s.Dir, auditFile)); err != nil {
			return err
		}
	}
	l.Records = results.Refute(l.Records, l.Audit)
	if isPaper(l.Records) {
		_, err = summarize(l.Records, s.Dir)
	} else {
		_, err = l.tables(filepath.Join(s.Dir, "tables"), false)
	}
	if err != nil {
		return err
	}
	drawn, skipped, err := report.Figures(l.Input)
	if err != nil {
		return err
	}
	if _, err := plots.Save(figures, drawn, figureFormats); err != nil {
		return err
	}
	page := filepath.Join(s.Dir, "report.html")
	err = atomicfile.Write(page, 0o644, func(w io.Writer) error { return report.WriteWith(w, l.Input, drawn, skipped) })
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "records and tables are in %s, figures in %s\n", s.Dir, figures)
	if err := printBrief(stdout, results.Brief(l.Records, briefRows)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, page)
	return err
}

// briefRows limits the output of a run, with its heading, to ten lines.
const briefRows = 9

// printBrief prints a table for a terminal with its footnotes below it, or
// nothing if it has no rows.
func printBrief(w io.Writer, t results.Table) error {
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

// printRecord prints the rows of the unit that was run alone, as CSV with a
// header.
func printRecord(w io.Writer, s *engine.Summary) error {
	var rows []results.Record
	for _, r := range s.Records {
		if r.Key == s.Key {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return errors.New("unit " + s.Key + ": no record")
	}
	return results.Encode(w, rows)
}
