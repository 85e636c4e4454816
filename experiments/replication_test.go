package experiments_test

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/stream"
)

const asItsCode = `schema: 1
name: as-its-code
seed: 3
datasets: [{name: generated-news, train: 40, validation: 10, test: 10, compared_tokens: 4}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: cmp, variant: as-run}]
epsilons: [5]
settings: [train-only]
policy: keep
repetitions: 1
trainings: 2
scenes:
  - name: text
    metrics:
      deniability: {words: 3, runs: 10, times: 2, listed: [team, market, absentee]}
      low: 20
  - name: accuracy
    models: [{name: lstm-2024, parameters: {hidden: 3, length: 20, epochs: 1}}]
`

// The options of a study of another study's code: words that it lists,
// measured several times; first words compared; several trainings on one
// text, tested on plain text.
func TestStudyAsItsCode(t *testing.T) {
	s := parsed(t, asItsCode)
	summary := mustRun(t, s, engine.Options{})
	d, err := datasets.Load(t.Context(), s.Datasets[0].Request(t.TempDir(), stream.FromUint64(3).Derive("dataset")))
	if err != nil {
		t.Fatal(err)
	}
	compared := list.Sum(datasets.Tokens(slices.Concat(d.Train, d.Validation)),
		func(text []string) int { return min(4, len(text)) })
	got := map[string][]results.Row{}
	for _, r := range summary.Rows {
		name := r.Mechanism + " " + r.Quantity
		if got[name] = append(got[name], r); r.Repetition != len(got[name]) {
			t.Errorf("%s: repetition %d is row %d", name, r.Repetition, len(got[name]))
		}
	}
	for name, n := range map[string]int{"cmp n_w": 2, "cmp s_w": 2, "cmp pp": 1, "cmp low_overlap": 1,
		"cmp accuracy": 2, "none accuracy": 2} {
		if len(got[name]) != n {
			t.Fatalf("%s: %d rows, want %d", name, len(got[name]), n)
		}
	}
	for _, r := range got["cmp n_w"] {
		words, err := results.DeniabilityWords(r.Measured)
		if err != nil || len(words) != 3 || words[0].Word != "team" || words[2].Unchanged != 10 { // the last has no vector
			t.Errorf("words %v, %v", words, err)
		}
	}
	if w := got["cmp pp"][0].Whole; w != compared {
		t.Errorf("PP of %d tokens, want %d", w, compared)
	}
	if a, b := got["cmp s_w"][0], got["cmp s_w"][1]; a.Detail == b.Detail && got["cmp n_w"][0].Detail ==
		got["cmp n_w"][1].Detail {
		t.Error("two measurements drew the same outputs")
	}
	for name, rows := range got {
		if r := rows[0]; strings.HasSuffix(name, " accuracy") && (r.Whole != 10 || r.Setting == study.Local) {
			t.Errorf("%s: %d test documents in setting %q", name, r.Whole, r.Setting)
		}
	}
}

func TestOptionsOfRepetitionsExcludeEachOther(t *testing.T) {
	for _, c := range []struct{ old, text, want string }{
		{"repetitions: 1", "repetitions: 2", "repetitions must be 1"},
		{"trainings: 2", "trainings: 0", "must be in [1, 10000]"},
		{"absentee]", "absentee, game]", "4 words: must be words = 3"},
		{"times: 2", "times: -1", "must be in [0, 10000]"},
		{"compared_tokens: 4", "compared_tokens: -4", "must be in [0, 100000000]"},
	} {
		refused(t, strings.Replace(asItsCode, c.old, c.text, 1), c.want)
	}
}
