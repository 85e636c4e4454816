package experiments_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/results"
	"mldpbench/stream"
)

// Studies that leave something out: models, mechanisms, labels, balance.
func TestStudiesWithoutTraining(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := []string{"awful", "superb", "food", "visit"}
	table := "title,body,word,stars\n"
	for i := range 80 {
		table += fmt.Sprintf("Visit %c,%s food %c,%s,%d\n", 'a'+i%7, words[min(1, i%4)], 'a'+i%5, words[i%4],
			min(1, i%4))
	}
	vectors := "awful 0 1\nsuperb 5 1\nfood 2 2\nvisit 3 3\na 1 7\nb 2 7\nc 3 7\nd 4 7\ne 5 7\n"
	put(t, dir, "t.csv", table)
	put(t, dir, "v.txt", vectors)
	text := func(data, rest string) string {
		return strings.ReplaceAll(`schema: 1
name: without
seed: 1
datasets: [{name: own, file: DIR/t.csv, `+data+`}]
embeddings: [{name: v, file: DIR/v.txt}]
metrics: {deniability: {words: 3, runs: 5}, inference_error: {samples: 10}}
`+rest, "DIR", dir)
	}
	const cmp, svm = "mechanisms: [{name: cmp}]\nepsilons: [2]\n", "models: [{name: svm}]\n"
	for _, c := range []struct {
		data, rest       string
		cells            int
		trained, private bool
	}{
		{"text: body, label: stars", cmp, 1, false, true}, {"text: body, label: stars", svm, 1, true, false},
		{"text: [title, body]", cmp, 1, false, true},
		{"text: [title, body], label: stars, train: 40, validation: 8, test: 20, balance: no", cmp + svm, 2, true, true},
	} {
		sum := mustRun(t, parsed(t, text(c.data, c.rest)), engine.Options{})
		for _, r := range cells(t, sum) {
			if r.Has("accuracy") != c.trained || r.Has("n_w") != (c.private && !r.IsBaseline()) {
				t.Errorf("%s: %+v", c.data, r)
			}
		}
		if d := sum.Manifest.Datasets[0]; len(cells(t, sum)) != c.cells || c.cells == 2 && !slices.Equal(d.TestClasses, []int{5, 15}) {
			t.Errorf("%s: classes of the test documents: %v", c.data, d.TestClasses)
		}
	}
	for data, want := range map[string]string{
		"text: body":   "x.yaml:9:10: data set \"own\": has no label column: a model needs one to predict",
		"label: stars": "x.yaml:4:19: data set \"own\": a file needs its text columns",
		"text: body, label: stars, balance: some": "balance = \"some\": must be one of",
	} {
		refused(t, text(data, cmp+svm), want)
	}
}

// Text from outside is attacked by attackers that read the release: the result
// for a copy of the text equals that for unchanged text.
func TestOutsideIsAttacked(t *testing.T) {
	t.Parallel()
	const text = `schema: 1
name: outside
streams: attacks
seed: 1
scenes:
  - datasets: [{name: generated-styles, train: 120, validation: 30, test: 60}]
    embeddings: [{name: generated, dimensions: [10]}]
    shadow: 20
    models: [{name: svm, parameters: {features: tfidf}}]
    attackers: [map, overlap, linkage-tfidf, attribute-adaptive-svm]
mechanisms:
  - {name: identity, epsilons: [1]}
`
	l := lab.New("")
	defer l.Close()
	corpus, err := l.Corpus(t.Context(), lab.Sample{Dataset: parsed(t, text).Scenes[0].Datasets[0],
		Seed: stream.FromUint64(1).Derive(study.Attacks).Derive("dataset")})
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder // the rows of the sample by their numbers, which are their ids
	for _, d := range slices.Concat(corpus.Train, corpus.Validation, corpus.Test) {
		fmt.Fprintf(&lines, "{\"row\": %d, \"text\": %q}\n", d.ID, d.Text)
	}
	dir := t.TempDir()
	put(t, dir, "copied.jsonl", lines.String())
	s := parsed(t, text+strings.NewReplacer("SELF", selfName(t), "DIR", dir).Replace(
		`  - {name: copied, text: DIR/copied.jsonl, columns: [text], id: row, epsilons: [1]}
  - {name: shorter, command: [SELF, client, shorter], epsilons: [1]}
  - {name: never, command: [SELF, client, undefined], epsilons: [1]}
`))
	values := map[string]map[string]results.Row{"identity": {}, "copied": {}, "shorter": {}, "never": {}, "none": {}}
	for _, r := range mustRun(t, s, engine.Options{}).Rows {
		values[r.Mechanism][r.Quantity] = r
		if r.Mechanism == "never" != (r.Status == results.StatusUndefined) {
			t.Errorf("%s: status %s", r.Mechanism, r.Status)
		}
	}
	for quantity, r := range values["identity"] {
		own, ok := values["copied"][quantity]
		if !results.MustColumn(quantity).Timing && (ok == strings.HasPrefix(r.Measurement, "map@") || ok && own.Value != r.Value &&
			(own.Value.Known() || r.Value.Known())) {
			t.Errorf("%s of a copy: %v, of unchanged text %v", quantity, own.Value, r.Value)
		}
	}
	if v := values["shorter"]["overlap-jaccard"]; !(v.Value.Float() < 1) || !(v.Value.Float() > v.Floor.Float()) || v.Policy != "" {
		t.Errorf("overlap of half the text: %+v", v)
	}
	if n := len(values["never"]); n != 1 { // all without a quantity
		t.Errorf("%d quantities of what does not exist", n)
	}
}
