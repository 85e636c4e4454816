package results_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"mldpbench/results"
)

// Every number of mini as schema 4 held it, a wide row a cell, is in the
// reference, but for timings and the overlap of rare words, of which words of
// equal frequency are chosen otherwise now, and the error among few candidates.
func TestReferenceHasNumbersOfSchema4(t *testing.T) {
	file, err := os.Open("testdata/mini-schema4.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := results.Read("reference/mini.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Name: "mini", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[results.Place]results.Cell{}
	for _, c := range p.Cells {
		c.Dataset, _, _ = strings.Cut(c.Dataset, " (")
		at := c.Group()
		at.Repetition = c.Repetition
		cells[at] = c
	}
	compared := map[string]int{}
	for _, row := range table[1:] {
		old := map[string]string{}
		for i, name := range table[0] {
			old[name] = row[i]
		}
		number := func(name string) int { n, _ := strconv.Atoi(old[name]); return n }
		var epsilon results.Optional
		if err := epsilon.UnmarshalCSV(old["epsilon"]); err != nil {
			t.Fatal(err)
		}
		at := results.Place{
			Dataset: old["dataset"], Embedding: old["embedding"], Dimension: number("dimension"),
			Mechanism: old["mechanism"], Variant: old["variant"], Parameters: old["parameters"], Epsilon: epsilon,
			Policy: old["policy"], Setting: old["setting"], Model: old["model"], ModelParameters: old["model_parameters"], Repetition: number("repetition"),
		}
		if at.Mechanism == results.BaselineMechanism {
			at.Setting = ""
		}
		c, ok := cells[at]
		if !ok {
			t.Fatalf("no cell %+v", at)
		}
		for _, q := range results.Columns() {
			want, err := strconv.ParseFloat(old[q.Name], 64)
			blank := want == 0 && (q.Name == "epochs" || q.Name == "tokens_unknown") // was not told from missing
			if q.Timing || q.Name == "low_overlap" || q.Name == "e_m_map" || err != nil || blank {
				continue
			}
			if got := c.Get(q.Name).Float(); !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s, %+v: %v, was %v", q.Name, at, got, want)
			}
			compared[q.Name]++
		}
	}
	for _, name := range []string{"accuracy", "n_w", "s_w", "pp", "cs", "low", "e_m_full_uniform", "puc_50"} {
		if compared[name] == 0 {
			t.Errorf("no %s was compared", name)
		}
	}
	t.Log(len(table)-1, "cells:", compared)
}
