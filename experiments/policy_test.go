package experiments_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// own writes a data set and vectors and returns a study of them with the given
// list of mechanisms. "alien" and "strange" have no vector; "the" and "of" are
// stop words.
func own(t testing.TB, mechanisms string) *study.Study {
	t.Helper()
	dir := t.TempDir()
	words := []string{"good", "bad", "film", "plot", "actor", "scene", "the", "of", "music", "story"}
	rng := rand.New(rand.NewPCG(1, 2))
	vectors, rows := "", "text,label\n"
	for i, w := range words {
		vectors += w
		for d := range 4 {
			vectors += fmt.Sprintf(" %.3f", float64((i+d)%5)+rng.Float64())
		}
		vectors += "\n"
	}
	for i := range 80 {
		for range 8 {
			rows += words[rng.IntN(len(words))] + " "
		}
		rows += fmt.Sprintf("the alien of strange,%d\n", i%2)
	}
	put(t, dir, "vectors.txt", vectors)
	put(t, dir, "text.csv", rows)
	return parsed(t, strings.NewReplacer("DIR", dir, "MECHANISMS", mechanisms).Replace(`
schema: 1
name: own
seed: 3
datasets:
  - {name: mine, file: DIR/text.csv, text: text, label: label, train: 40, validation: 20, test: 20, cleaning: words}
embeddings:
  - {name: vectors, file: DIR/vectors.txt}
mechanisms:
MECHANISMS
epsilons: [2]
models: [{name: svm}]
repetitions: 1
baseline_repetitions: 1
metrics:
  low: 5
  deniability: {words: 5, runs: 10}
  inference_error: {samples: 10}
`))
}

// withText is a study with a piece of its text replaced.
func withText(t testing.TB, s *study.Study, old, new string) *study.Study {
	t.Helper()
	data, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s\nhas no %q", data, old)
	}
	changed := parsed(t, strings.Replace(string(data), old, new, 1))
	return changed
}

// An ε of a whole document is another mechanism, with a promise of its own, which words
// alone do not measure.
func TestBudgetOfADocument(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: cmp, epsilons: [24], budget: document}\n  - {name: cmp, epsilons: [2]}")
	for policy, promise := range map[string]string{"random": "document euclidean", "drop": ""} {
		s := withText(t, s, "policy: random", "policy: "+policy)
		s = withText(t, s, "metrics:", "metrics:\n  document_loss: {}")
		for _, c := range cells(t, mustRun(t, s, engine.Options{})) {
			pp, document := c.Get("pp").Float(), c.Parameters == "budget=document"
			switch {
			case c.IsBaseline():
			case document && !c.Has("document_game_topic"):
				t.Errorf("%s: the game of documents was not played", policy)
			case document && (c.GuaranteeMetric != promise || c.Has("em") || c.Has("n_w") || !c.Has("accuracy")):
				t.Errorf("%s: %+v", policy, c)
			case !document && (c.GuaranteeMetric != "euclidean" || !c.Has("em")):
				t.Errorf("%s: %+v", policy, c)
			case policy == "random" && !(pp > 30 && pp < 80): // 12 words of 2 each, as those of the other entry
				t.Errorf("%s: %g%% of the words changed", c.Parameters, pp)
			}
		}
	}
	refused(t, edit(t, "- name: cmp", "- name: privemb\n    budget: document"), "shares no budget")
	refused(t, edit(t, "- name: cmp", "- name: cmp\n    budget: word"), `budget = "word": must be`)
	refused(t, edit(t, "- name: cmp", "- name: mine\n    command: [x]\n    budget: document"), "those of built-in mechanisms")
}

// A mechanism that keeps words says what that means for its guarantee.
func TestKeptWords(t *testing.T) {
	t.Parallel()
	got := map[string]results.Cell{}
	s := own(t, "  - {name: tem}\n  - {name: tem, keep_words: \">3\"}\n  - {name: tem, keep_words: stopwords}\n")
	for _, r := range cells(t, mustRun(t, s, engine.Options{})) {
		got[r.Parameters] = r
	}
	for parameters, r := range got {
		kept := strings.Contains(parameters, "keep_words=")
		if !r.IsBaseline() && kept != strings.Contains(r.GuaranteeScope, "epsilon is infinite") {
			t.Errorf("%s: scope %q", parameters, r.GuaranteeScope)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d cells, want those of plain text, TEM, and TEM that keeps frequent words and stop words", len(got))
	}
	for entry, want := range map[string]string{
		"{name: cmp, keep_words: verbs}":      "x.yaml:7:29: keep_words = \"verbs\"",
		"{name: privemb, keep_words: \">3\"}": "releases vectors",
	} {
		refused(t, "schema: 1\nname: bad\ndatasets: [{name: generated-words}]\nembeddings: [{name: generated, "+
			"dimensions: [50]}]\nepsilons: [1]\nmechanisms:\n  - "+entry+"\n", want)
	}
}
