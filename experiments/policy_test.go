package experiments_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	var vectors strings.Builder
	for i, w := range words {
		fmt.Fprintf(&vectors, "%s", w)
		for d := range 4 {
			fmt.Fprintf(&vectors, " %.3f", float64((i+d)%5)+rng.Float64())
		}
		vectors.WriteString("\n")
	}
	var rows strings.Builder
	rows.WriteString("text,label\n")
	for i := range 80 {
		var tokens []string
		for range 8 {
			tokens = append(tokens, words[rng.IntN(len(words))])
		}
		fmt.Fprintf(&rows, "%s the alien of strange,%d\n", strings.Join(tokens, " "), i%2)
	}
	for name, text := range map[string]string{"vectors.txt": vectors.String(), "text.csv": rows.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := study.Parse("own.yaml", []byte(fmt.Sprintf(`
schema: 1
name: own
seed: 3
datasets:
  - {name: mine, file: %[1]q, text: text, label: label, train: 40, validation: 20, test: 20, cleaning: words}
embeddings:
  - {name: vectors, file: %[2]q}
mechanisms:
%[3]s
epsilons: [2]
models: [{name: svm}]
repetitions: 1
baseline_repetitions: 1
metrics:
  low: 5
  deniability: {words: 5, runs: 10}
  inference_error: {samples: 10}
`, filepath.Join(dir, "text.csv"), filepath.Join(dir, "vectors.txt"), mechanisms)))
	if err != nil {
		t.Fatal(err)
	}
	return s
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
	changed, err := study.Parse("own.yaml", []byte(strings.Replace(string(data), old, new, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// A mechanism that keeps words says what that means for its guarantee.
func TestKeptWords(t *testing.T) {
	t.Parallel()
	got := map[string]results.Cell{}
	for _, r := range cells(t, mustRun(t, own(t, "  - {name: tem}\n  - {name: tem, keep_words: \">3\"}\n"), engine.Options{})) {
		got[r.Parameters] = r
	}
	for parameters, r := range got {
		if !r.IsBaseline() && strings.Contains(parameters, "keep_words=>3") != strings.Contains(r.GuaranteeScope, "epsilon is infinite") {
			t.Errorf("%s: scope %q", parameters, r.GuaranteeScope)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d cells", len(got))
	}
	for entry, want := range map[string]string{
		"{name: cmp, keep_words: verbs}":      "keep_words = \"verbs\"",
		"{name: privemb, keep_words: \">3\"}": "releases vectors",
	} {
		_, err := study.Parse("bad.yaml", []byte("schema: 1\nname: bad\ndatasets: [{name: "+
			"generated-words}]\nembeddings: [{name: generated, dimensions: [50]}]\nepsilons: [1]\nmechanisms:\n  - "+entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bad.yaml:7:") {
			t.Errorf("%s: error %v", entry, err)
		}
	}
}
