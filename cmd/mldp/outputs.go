package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

// writeOutputs writes what is made of finished records and prints the paths,
// one a line. The records are at hand: none is read back.
func writeOutputs(stdout, stderr io.Writer, s *engine.Summary, shard engine.Shard, figures string) error {
	fmt.Fprintln(stdout, filepath.Join(s.Dir, shard.File("results", ".csv")))
	if shard.Count > 1 {
		return nil // tables and figures are for the merged study
	}
	l := loaded{dir: s.Dir}
	l.Records, l.Examples = s.Records, s.Examples
	if err := l.describe(s.Dir, &s.Manifest, s.Records); err != nil {
		return err
	}
	var paths []string
	if isPaper(l.Records) {
		summary, err := summarize(l.Records, s.Dir)
		if err != nil {
			return err
		}
		paths = append(paths, summary)
	} else {
		tables, err := l.tables(filepath.Join(s.Dir, "tables"), false)
		if err != nil {
			return err
		}
		paths = append(paths, tables...)
	}
	drawn, err := l.figures(figures, stderr)
	if err != nil {
		return err
	}
	page := filepath.Join(s.Dir, "report.html")
	if err := l.write(page); err != nil {
		return err
	}
	for _, p := range append(append(paths, drawn...), page) {
		fmt.Fprintln(stdout, p)
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
