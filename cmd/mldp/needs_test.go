package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets/fetch"
	"mldpbench/experiments"
	"mldpbench/experiments/plan"
)

// TestCatalogueKnowsTheStudies compares the catalogue's list of studies with
// the data that the built-in studies name.
func TestCatalogueKnowsTheStudies(t *testing.T) {
	want := map[string][]string{}
	for _, name := range experiments.Builtin.Names() {
		if strings.Contains(name, "@") {
			continue // of tasks, which users run, nothing is recorded
		}
		s, err := experiments.Builtin.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(s)
		if err != nil {
			t.Fatal(err)
		}
		missing, err := p.Missing(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range missing {
			want[name] = append(want[name], e.Name)
		}
	}
	if !slices.Equal(want["comparative"], want["comparative-released"]) || want["mini"] != nil {
		t.Errorf("studies of the grid need %v", want)
	}
	delete(want, "comparative-released")
	for _, e := range fetch.Catalogue() {
		for name, needs := range want {
			if slices.Contains(needs, e.Name) != slices.Contains(e.Studies, name) {
				t.Errorf("%s: studies %v, but %s needs %v", e.Name, e.Studies, name, needs)
			}
		}
		for _, name := range e.Studies {
			if want[name] == nil {
				t.Errorf("%s: no study %q", e.Name, name)
			}
		}
	}
}

const fetchedStudy = `schema: 1
name: fetched
seed: 1
datasets: [{name: cr, train: 8, validation: 2, test: 2}]
embeddings: [{name: crawl-300d-2M, dimensions: [300]}]
mechanisms: [{name: cmp}]
epsilons: [10]
models: [{name: svm}]
repetitions: 1
metrics: {deniability: {words: 2, runs: 2}}
`

// smallMirror builds a mirror of a data set and an embedding without published
// checksums, with a few lines of each.
func smallMirror(t *testing.T) string {
	t.Helper()
	mirror := t.TempDir()
	var reviews, vectors strings.Builder
	words := []string{"good", "fine", "great", "bad", "poor", "awful"}
	for i := range 24 {
		fmt.Fprintf(&reviews, "%d it is %s number %d\n", i%2, words[i%2*3+i%3], i)
	}
	words = append(words, "it", "is", "number")
	fmt.Fprintf(&vectors, "%d 300\n", len(words))
	for i, w := range words {
		fmt.Fprintf(&vectors, "%s%s\n", w, strings.Repeat(fmt.Sprintf(" 0.%d -0.%d 1", i+1, (i*7)%5), 100))
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("crawl-300d-2M.vec")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(vectors.String())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"cr/custrev.all": []byte(reviews.String()),
		"archives/crawl-300d-2M.vec.zip": archive.Bytes()} {
		path := filepath.Join(mirror, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return mirror
}

// TestRunFetches runs a study whose data is not there yet, from a mirror folder.
func TestRunFetches(t *testing.T) {
	t.Setenv("MLDP_MIRROR", smallMirror(t))
	t.Setenv("MLDP_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	study := filepath.Join(t.TempDir(), "fetched.yaml")
	writeFile(t, study, fetchedStudy)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitFailure, "get it with: mldp data fetch crawl-300d-2M cr", []string{"run", study}},
		{exitOK, "crawl-300d-2M: in ", []string{"run", study, "--fetch"}},
		{exitOK, "", []string{"run", study, "--fetch"}},
	} {
		if code, out := mldp(t, append(c.args, "--out", t.TempDir())...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("mldp %q: exit code %d, want %d and %q:\n%s", c.args, code, c.code, c.says, out)
		}
	}
}
