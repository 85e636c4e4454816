package experiments_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// numbersOf are the values of rows by all that has no name in it.
func numbersOf(t *testing.T, rows []results.Row) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range rows {
		if quantity.Must(r.Quantity).Timing {
			continue
		}
		variant := r.Variant // "" for what is from outside
		key := fmt.Sprint(r.Quantity, r.Dimension, variant, r.Epsilon, r.Setting, r.Model, r.IsBaseline(), r.Repetition)
		if _, twice := all[key]; twice {
			t.Fatalf("%s twice", key)
		}
		all[key] = fmt.Sprint(r.Value, r.Part, r.Whole)
	}
	return all
}

// What is drawn depends on the seed, the place of a row and the release, and not on
// what a user calls files, data sets, vectors, versions or commands: neither the
// split, nor the noise, nor the words that are probed, nor the training.
func TestNamesDrawNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var table, private, vectors strings.Builder
	fmt.Fprintln(&table, "text,label")
	fmt.Fprintln(&private, "text,label")
	for i := range 200 {
		line := ""
		for range 6 {
			line += fmt.Sprintf(" w%c", 'a'+rng.IntN(13)+12*(i%2))
		}
		fmt.Fprintf(&table, "%s,%d\n", line, i%2)
		fmt.Fprintf(&private, "%s,%d\n", strings.Replace(line, "w", "v", 2), i%2)
	}
	for c := range 26 {
		fmt.Fprintf(&vectors, "w%c %v %v %v\n", 'a'+c, rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
	}
	for _, name := range []string{"one", "another one"} {
		put(t, dir, name+".csv", table.String())
		put(t, dir, name+".txt", vectors.String())
		put(t, dir, "private "+name+".csv", private.String())
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(data, vectors, space, version string) map[string]string {
		s := parsed(t, fmt.Sprintf(`schema: 1
name: names
seed: 5
datasets: [{name: %q, file: %q, text: text, label: label, train: 100, validation: 30, test: 60}]
embeddings: [{name: %q, file: %q}]
mechanisms: [{name: cmp, epsilons: [2]}, {name: %q, text: %q, columns: [text]}]
models: [{name: svm}, {name: averaged, parameters: {epochs: 2}}, {name: encoder, parameters: {encoder: sif}}]
metrics: {deniability: {words: 5, runs: 20}, low: 5, inference_error: {samples: 10},
  cs: {encoder: sif, documents: 20}}
`, data, file(data+".csv"), space, file(vectors+".txt"), version, file("private "+data+".csv")))
		return numbersOf(t, mustRun(t, s, engine.Options{}).Rows)
	}
	want := run("one", "one", "v", "mine")
	if len(want) < 30 {
		t.Fatalf("%d numbers", len(want))
	}
	if got := run("another one", "another one", "w", "yours"); !maps.Equal(got, want) {
		t.Errorf("with other names: %v, not %v", got, want)
	}
}
