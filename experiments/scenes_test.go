package experiments_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// Two scenes of one data set, split differently, share no model of plain text:
// each has the accuracy that it has alone, and its own answers.
func TestScenesOfOneDatasetAreKeptApart(t *testing.T) {
	const head = `schema: 1
name: two
seed: 3
embeddings: [{name: generated, dimensions: [50]}]
models: [{name: svm}]
scenes:
`
	const first = "  - datasets: [{name: generated-words, train: 60, validation: 20, test: 40}]\n"
	const second = "  - datasets: [{name: generated-words, train: 40, validation: 20, test: 60}]\n"
	items := 0
	accuracy := func(text string) (all []results.Optional) {
		s, err := study.Parse("two.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		run, err := experiments.Run(t.Context(), s, "", engine.Options{Out: t.TempDir(), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := experiments.Items(t.Context(), run, "", false, func(plan.Item) error { items++; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, r := range run.Rows {
			if r.Quantity == "accuracy" || r.Quantity == "validation_accuracy" {
				all = append(all, r.Value)
			}
		}
		return all
	}
	together, alone := accuracy(head+first+second), accuracy(head+second)
	if len(together) != 4 || len(alone) != 2 || together[2] != alone[0] || together[3] != alone[1] {
		t.Errorf("accuracy %v beside another scene, %v alone", together, alone)
	}
	if items != 40+60+60 {
		t.Errorf("%d answers on test documents", items)
	}
}

// TestItems: where every second document was released as another one, the answers
// of linkage, which asks for some documents only, name the others as found; in a
// run of a task each has a score, above 0 where it is right.
func TestItems(t *testing.T) {
	dir := t.TempDir()
	original, private := "id,text,label\n", "id,text\n"
	words := func(i int) string { return fmt.Sprintf("work%c xylo%c yard%c", 'a'+i%7, 'a'+i%11, 'a'+i%13) }
	for i := range 120 { // rows are counted from 0
		original += fmt.Sprintf("%d,%s,%d\n", i, words(i), i%2)
		private += fmt.Sprintf("%d,%s\n", i, words(i-i%2))
	}
	put(t, dir, "mine.csv", original)
	put(t, dir, "private.csv", private)
	s, err := study.Parse("items.yaml", fmt.Appendf(nil, `schema: 1
name: items
seed: 1
datasets: [{name: mine, file: %[1]q, text: text, label: label, train: 60, validation: 20, test: 40}]
embeddings: [{name: none, dimensions: [1]}]
mechanisms: [{name: half, text: %[2]q, columns: [text], id: id}]
models: [{name: svm, parameters: {features: tfidf}}]
attackers: [linkage-tfidf]
options: {documents: 15}
`, filepath.Join(dir, "mine.csv"), filepath.Join(dir, "private.csv")))
	if err != nil {
		t.Fatal(err)
	}
	for _, s.Task = range []string{"", "made@1"} {
		run := mustRun(t, s, engine.Options{})
		asked, answers := map[int]bool{}, 0
		if err := experiments.Items(t.Context(), run, "", true, func(x plan.Item) error {
			switch scored := x.Score != nil; {
			case scored != (s.Task != ""), scored && (*x.Score > 0) != x.Right:
				t.Errorf("task %q: %+v: score %v", s.Task, x, x.Score)
			case x.Quantity == "accuracy":
				answers++
			case x.Right != (x.Document%2 == 0), x.Text != words(x.Document-x.Document%2):
				t.Errorf("task %q: %+v", s.Task, x)
			default:
				asked[x.Document] = true
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 15 || answers != 2*40 {
			t.Errorf("task %q: linkage of %d documents, %d answers of classifiers", s.Task, len(asked), answers)
		}
	}
}
