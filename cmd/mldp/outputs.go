package main

import (
	"fmt"
	"io"
	"path/filepath"

	"mldpbench/experiments"
	"mldpbench/results"
)

// writeOutputs writes what is made of finished records and prints the paths,
// one a line.
func writeOutputs(stdout, stderr io.Writer, s *experiments.Summary, shard experiments.Shard, figures string) error {
	if shard.Count > 1 {
		fmt.Fprintln(stdout, filepath.Join(s.Dir, shard.File("results", ".csv")))
		return nil // tables and figures are for the merged grid
	}
	fmt.Fprintln(stdout, filepath.Join(s.Dir, "results.csv"))
	l, err := loadRuns([]string{s.Dir})
	if err != nil {
		return err
	}
	paths, err := l.tables(filepath.Join(s.Dir, "tables"), false)
	if err != nil {
		return err
	}
	drawn, err := l.figures(figures)
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

// printRecord prints the record of a key as CSV with a header.
func printRecord(w io.Writer, s *experiments.Summary, key string) error {
	for _, r := range s.Records {
		if r.Key == key {
			return results.Encode(w, []results.Record{r})
		}
	}
	return fmt.Errorf("cell %s: no record", key)
}
