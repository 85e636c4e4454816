package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// TestMain runs the tests or, started by one of them, stands for mldp: it writes the rows of a
// run, prints the answer of an audit, and fails of the study "broken".
func TestMain(m *testing.M) {
	if os.Getenv("STANDS_FOR_MLDP") == "" {
		os.Exit(m.Run())
	}
	switch {
	case slices.Contains(os.Args, "broken"):
		fmt.Fprintln(os.Stderr, "mldp: broken")
		os.Exit(1)
	case os.Args[1] == "audit":
		fmt.Println(`{"tables": {"audit": [{"mechanism": "cmp", "variant": "proved", "parameters": "", "epsilon": 10.50,
			"promises": true, "lower_bound": null, "violated": false, "exact": false, "verdict": "v", "worst": "w"}]}}`)
	default:
		out := os.Args[len(os.Args)-1]
		row := results.NewRow()
		row.Study, row.Key, row.Mechanism, row.Version = os.Args[2], "1", "none", "v2"
		half := results.Share(1, 2)
		half.Items = results.NewOutcomes([]bool{true, false})
		row = row.Of("accuracy", half)
		if err := results.Write(filepath.Join(out, "results.csv"), []results.Row{row}); err != nil {
			panic(err)
		}
	}
}

// Records are written as they are listed: answers by document stay where they belong, of an audit
// the verdicts; one that fails leaves the others, is named, and changes no file.
func TestRecordsAreMade(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("STANDS_FOR_MLDP", "1")
	var log bytes.Buffer
	m := maker{program: self, runs: filepath.Join(t.TempDir(), "runs"), records: t.TempDir(), log: &log}
	err = m.makeAll([]results.Record{
		{Name: "with", File: "with.csv.gz", Study: "s", Answers: true, Made: []results.Part{{Program: "v2", Rows: 1}}},
		{Name: "fails", File: "fails.csv.gz", Study: "broken"},
		{Name: "without", File: "without.csv.gz", Study: "s", Made: []results.Part{{Program: "v1", Rows: 7}}},
		{Name: "audited", File: "audited.csv", Command: "audit", Flags: "--grid"},
	})
	if err == nil || !strings.Contains(err.Error(), "fails: exit status 1") {
		t.Errorf("error %v, want that of the run that fails, by its name", err)
	}
	for name, want := range map[string]bool{"with.csv.gz": true, "without.csv.gz": false} {
		rows, err := results.Read(filepath.Join(m.records, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := rows[0].Items != ""; got != want {
			t.Errorf("%s holds answers by document: %v, want %v", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(m.records, "fails.csv.gz")); err == nil {
		t.Error("a run that failed wrote a record, want none")
	}
	audited, err := os.ReadFile(filepath.Join(m.records, "audited.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "mechanism,variant,parameters,epsilon,promises,lower_bound,violated,exact\n" +
		"cmp,proved,,10.50,true,,false,false\n"
	if string(audited) != want {
		t.Errorf("the audit is kept as %q, want %q", audited, want)
	}
	for _, line := range []string{"== mldp audit --grid\n",
		"results/records.yaml, without: made is now [{program: \"v2\", rows: 1}]\n"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log is %q, want the line %q in it", log.String(), line)
		}
	}
	if strings.Contains(log.String(), "with: made") {
		t.Errorf("the log %q says that the record with has other programs, want nothing of it", log.String())
	}
}

// All that can be made anew, in the order of the list, or those that are named.
func TestNamed(t *testing.T) {
	for names, want := range map[string]string{
		"axes extended": "axes extended",
		"vickrey-means": `results/records.yaml has no record "vickrey-means" that can be made anew`,
		"cmp":           `results/records.yaml has no record "cmp" that can be made anew`, // its rows are not kept
		"nothing":       `results/records.yaml has no record "nothing" that can be made anew`,
	} {
		found, err := named(strings.Fields(names))
		var got []string
		for _, r := range found {
			got = append(got, r.Name)
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("of %q: %q, want %q", names, text, want)
		}
	}
	all, err := named(nil)
	if err != nil || len(all) < 40 {
		t.Errorf("without names %d records and the error %v, want all 44 or more", len(all), err)
	}
}
