package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

const reference = "../reference"

// TestPagesAreWritten: the pages are those that the templates make of the records.
func TestPagesAreWritten(t *testing.T) {
	names, err := filepath.Glob("*.md.tmpl")
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		want, err := render(reference, name)
		if err != nil {
			t.Fatal(err)
		}
		page := strings.TrimSuffix(name, ".tmpl")
		if got, err := os.ReadFile(page); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its template makes of the records (%v): make reports", page, err)
		}
	}
}

// TestPlanted: five points less for the rank fix change the sentences about it, and
// nothing else: no other row of a table, no other page.
func TestPlanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all, err := filepath.Glob(reference + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasPrefix(filepath.Base(f), "extended.") {
			continue
		}
		abs, err := filepath.Abs(f)
		if err == nil {
			err = os.Symlink(abs, filepath.Join(dir, filepath.Base(f)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := results.Read(reference + "/extended.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.Mechanism == "rank-fix" && r.Quantity == "accuracy" {
			rows[i].Measured = results.Share(r.Part-r.Whole/20, r.Whole)
		}
	}
	if err := results.Write(filepath.Join(dir, "extended.csv.gz"), rows); err != nil {
		t.Fatal(err)
	}
	for name, changes := range map[string]bool{"1-equal-privacy.md": true, "3-source-papers.md": false, "4-attackers.md": false} {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		after, err := render(dir, name+".tmpl")
		if err != nil {
			t.Fatal(err)
		}
		if changed := !bytes.Equal(before, after); changed != changes {
			t.Errorf("%s: changed %v", name, changed)
		}
		if !changes {
			continue
		}
		_, classifiers, found := strings.Cut(string(before), "## Other classifiers")
		classifiers, _, _ = strings.Cut(classifiers, "\n## On how many")
		if !found || !strings.Contains(string(after), classifiers) {
			t.Error("a table of another record changed")
		}
		if strings.Contains(string(after), "the rank fix keeps more than CMP, Mahalanobis, SanText, TEM, SynTF and k-RR on every") {
			t.Error("the order is still stated of a record that does not have it")
		}
	}
}

// What records.yaml says of templates is what they read.
func TestTemplatesReadTheirRecords(t *testing.T) {
	names, err := filepath.Glob("*.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		s := newSource(reference)
		if _, err := s.render(name); err != nil {
			t.Fatal(err)
		}
		for _, r := range results.Records() {
			_, read := s.read.Load(r.File)
			listed := slices.Contains(r.Reads, "results/reports/"+name)
			if listed != read {
				t.Errorf("%s reads %s: %v, but records.yaml lists it in reads: %v", name, r.Name, read, listed)
			}
		}
	}
}
