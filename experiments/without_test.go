package experiments_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
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
	put(t, dir, "words.txt", "food\nvisit\n")
	text := func(data, rest string) string {
		return strings.ReplaceAll(`schema: 1
name: without
seed: 1
datasets: [{name: own, file: DIR/t.csv, `+data+`}]
embeddings: [{name: v, file: DIR/v.txt}]
metrics: {deniability: {words: 3, runs: 5}, inference_error: {samples: 10}, english: DIR/words.txt}
`+rest, "DIR", dir)
	}
	const cmp, svm = "mechanisms: [{name: cmp}]\nepsilons: [2]\n", "models: [{name: svm}]\n"
	for _, c := range []struct {
		data, rest       string
		cells            int
		trained, private bool
	}{
		{"text: body, label: stars", cmp, 2, false, true}, {"text: body, label: stars", svm, 1, true, false},
		{"text: [title, body]", cmp, 2, false, true},
		{"text: [title, body], label: stars, train: 40, validation: 8, test: 20, balance: no", cmp + svm, 2, true, true},
	} {
		sum := mustRun(t, parsed(t, text(c.data, c.rest)), engine.Options{})
		for _, r := range cells(t, sum) {
			if r.Has("accuracy") != c.trained || r.Has("n_w") != (c.private && !r.IsBaseline()) ||
				!(r.Get("english").Float() > 0) {
				t.Errorf("%s: %+v", c.data, r)
			}
		}
		d, unbalanced := sum.Manifest.Datasets[0], strings.Contains(c.data, "balance: no")
		if len(cells(t, sum)) != c.cells || unbalanced && !slices.Equal(d.TestClasses, []int{5, 15}) {
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
