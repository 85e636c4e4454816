package experiments_test

import (
	"fmt"
	"os"
	"path/filepath"
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
	for name, text := range map[string]string{"t.csv": table, "v.txt": vectors} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(data, rest string) (*study.Study, error) {
		return study.Parse("without.yaml", []byte(strings.ReplaceAll(`schema: 1
name: without
seed: 1
datasets: [{name: own, file: DIR/t.csv, `+data+`}]
embeddings: [{name: v, file: DIR/v.txt}]
metrics: {deniability: {words: 3, runs: 5}, inference_error: {samples: 10}}
`+rest, "DIR", dir)))
	}
	const cmp, svm = "mechanisms: [{name: cmp}]\nepsilons: [2]\n", "models: [{name: svm}]\n"
	for _, c := range []struct {
		name, data, rest string
		records          int
		trained, private bool
	}{
		{"no models", "text: body, label: stars", cmp, 1, false, true},
		{"no mechanisms", "text: body, label: stars", svm, 1, true, false},
		{"no labels", "text: [title, body]", cmp, 1, false, true},
		{"unbalanced", "text: [title, body], label: stars, train: 40, validation: 8, test: 20, balance: no", cmp + svm,
			2, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(c.data, c.rest)
			if err != nil {
				t.Fatal(err)
			}
			sum := mustRun(t, s, engine.Options{})
			if len(cells(t, sum)) != c.records {
				t.Fatalf("%d records", len(cells(t, sum)))
			}
			for _, r := range cells(t, sum) {
				if r.Has("accuracy") != c.trained || r.Has("n_w") != (c.private && !r.IsBaseline()) ||
					r.Has("e_m_full_uniform") != r.Has("n_w") {
					t.Errorf("%+v", r)
				}
			}
			if d := sum.Manifest.Datasets[0]; c.name == "unbalanced" &&
				(d.TestClasses[0] != 5 || d.TestClasses[1] != 15) {
				t.Errorf("classes of the test documents: %v", d.TestClasses)
			}
		})
	}
	for data, want := range map[string]string{
		"text: body":   "without.yaml:9:10: data set \"own\": has no label column: a model needs one to predict",
		"label: stars": "without.yaml:4:19: data set \"own\": a file needs its text columns",
		"text: body, label: stars, balance: some": "balance = \"some\": must be one of",
	} {
		if _, err := parse(data, cmp+svm); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// Text from outside is attacked by attackers that read the release: the result
// for a copy of the text equals that for unchanged text.
func TestOutsideIsAttacked(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := `schema: 1
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
	// The rows of the sample by their numbers, which are their ids.
	body, err := study.Parse("outside.yaml", []byte(text+"  - {name: uniform, epsilons: [1]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := lab.New("")
	defer l.Close()
	scene := body.Scenes[0]
	var lines strings.Builder
	corpus, err := l.Corpus(t.Context(), lab.Sample{Dataset: scene.Datasets[0],
		Seed: stream.FromUint64(1).Derive(study.Attacks).Derive("dataset")})
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range corpus.Splits() {
		for _, d := range split.Documents {
			fmt.Fprintf(&lines, "{\"row\": %d, \"text\": %q}\n", d.ID, d.Text)
		}
	}
	copied := filepath.Join(t.TempDir(), "copied.jsonl")
	if err := os.WriteFile(copied, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("outside.yaml", []byte(text+fmt.Sprintf(
		`  - {name: copied, text: %q, columns: [text], id: row, epsilons: [1]}
  - {name: shorter, command: [%q, client, shorter], epsilons: [1]}
  - {name: whim, command: [%[2]q, client, whim], epsilons: [1]}
  - {name: never, command: [%[2]q, client, undefined], epsilons: [1]}
`, copied, self)))
	if err != nil {
		t.Fatal(err)
	}
	sum := mustRun(t, s, engine.Options{})
	values := map[string]map[string]results.Row{}
	for _, r := range sum.Rows {
		if values[r.Mechanism] == nil {
			values[r.Mechanism] = map[string]results.Row{}
		}
		values[r.Mechanism][r.Quantity] = r
		if r.Unrepeatable != (r.Mechanism == "whim") ||
			r.Mechanism == "never" != (r.Status == results.StatusUndefined) {
			t.Errorf("%s: status %s, unrepeatable %v", r.Mechanism, r.Status, r.Unrepeatable)
		}
	}
	for quantity, r := range values["identity"] {
		own, ok := values["copied"][quantity]
		if results.MustColumn(quantity).Timing {
			continue
		}
		if ok == strings.HasPrefix(r.Measurement, "map@") || ok && own.Value != r.Value && (own.Value.Known() ||
			r.Value.Known()) {
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
