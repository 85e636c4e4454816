package experiments_test

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/realdata"
	"mldpbench/results"
)

const attacksText = `schema: 1
name: small-attacks
streams: attacks
seed: 4
datasets: [{name: generated-styles, train: 80, validation: 20, test: 60}]
embeddings: [{name: generated, dimensions: [50]}]
public: generated-styles
mechanisms: [{name: k-rr, epsilons: [6]}, {name: identity, epsilons: [1]}, {name: uniform, epsilons: [1]}]
masked: tiny-masked-lm
causal: tiny-causal-lm
attackers: [masked, masked-channel, inversion, context, averaging, attribute-static-ngrams,
  attribute-public-ngrams, attribute-written, linkage-tfidf, linkage-aligned]
options: {candidates: 5, releases: [1, 2]}
metrics: {bleu: {}}
`

func attacksStudy(t *testing.T, old, new string) *study.Study {
	t.Helper()
	s := parsed(t, strings.Replace(attacksText, old, new, 1))
	fewer(s.Options)
	return s
}

// fewer makes attacks take a moment.
func fewer(options map[string]any) {
	maps.Copy(options, map[string]any{"words": 60, "masked": 60, "tokens": 200, "documents": 60, "resamples": 100,
		"own_releases": 1, "test_releases": 2, "epochs": 1, "hidden": 2})
}

// Attackers with a language model and public text, the strongest of each panel,
// and texts held against the original, are measurements of a study.
func TestAttackersOfAStudy(t *testing.T) {
	t.Parallel()
	root := filepath.Dir(realdata.Model(t, "tiny-masked-lm"))
	realdata.Model(t, "tiny-causal-lm")
	sum, err := runUnits(t, attacksStudy(t, "", ""), root, engine.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]results.Cell{}
	for _, c := range cells(t, sum) {
		by[c.Mechanism] = c
	}
	if len(by) != 3 {
		t.Fatalf("%d cells, want identity, uniform and k-rr", len(by))
	}
	for name, c := range by {
		for _, quantity := range []string{"masked-accuracy", "masked-channel-accuracy", "attribute-public-ngrams-accuracy",
			"attribute-written-accuracy", "linkage-aligned-p1", "strongest-words", "strongest-label",
			"strongest-documents", "bleu", "causal_perplexity"} {
			if m := at(c, quantity); !m.Value.Known() || m.Low.Float() > m.Value.Float() || m.High.Float() < m.Value.Float() {
				t.Errorf("%s, %s: %+v", name, quantity, m)
			}
		}
	}
	plain, random := by["identity"], by["uniform"]
	masked, same, odd := at(plain, "masked-accuracy"), at(plain, "causal_perplexity"), at(random, "causal_perplexity")
	for what, ok := range map[string]bool{
		"BLEU":              math.Abs(plain.Get("bleu").Float()-100) < 1e-6 && random.Get("bleu").Float() < 70,
		"masked model":      masked.Value == masked.Ceiling && masked.Value.Float() >= masked.Floor.Float(),
		"model and channel": plain.Get("masked-channel-accuracy").Float() >= 0.99,
		"perplexity":        same.Value == same.Ceiling && odd.Value.Float() > 2*odd.Ceiling.Float(),
		"strongest": plain.Get("strongest-words").Float() > 0.9 && plain.Get("strongest-documents").Float() > 0.9 &&
			random.Get("strongest-words").Float() < 0.2,
	} {
		if !ok {
			t.Errorf("%s: unchanged text %+v, random words %+v", what, plain, random)
		}
	}
	// Right and wrong answers are recorded by document, and agree with the counts.
	m := at(by["k-rr"], "linkage-aligned-p1")
	if right := m.Right(); right == nil || len(right) != 60 || math.Abs(m.Value.Float()-float64(m.Part)/60) > 1e-9 {
		t.Errorf("linkage: %d of %d, %v, items %v", m.Part, m.Whole, m.Value, right)
	}
}

func TestErrorsOfModels(t *testing.T) {
	t.Parallel()
	root := realdata.Dir(t)
	for _, c := range []struct{ old, new, model, want string }{
		{"tiny-masked-lm", "./none", "", "masked = \"./none\": no such folder"},
		{"masked: tiny-masked-lm", "masked: tiny-causal-lm", "tiny-causal-lm", "a causal model: not what score needs"},
		{"causal: tiny-causal-lm", "causal: use-lite-onnx", "use-lite-onnx", "vectors: not what logprob needs"},
	} {
		if c.model != "" {
			realdata.Model(t, c.model)
		}
		s := attacksStudy(t, c.old, c.new)
		// A run says so before its first unit.
		out := t.TempDir()
		if _, err := runUnits(t, s, root, engine.Options{Out: out}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
		if files, err := os.ReadDir(out); len(files) > 0 {
			t.Errorf("%s: the run wrote %v, %v", c.new, files, err)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{"masked: tiny-masked-lm\n", "", "x.yaml:10:13: attacker masked asks a masked language model"},
		{"public: generated-styles\n", "shadow: 10\n", "attribute-public-ngrams trains on public text"},
		{"public: generated-styles", "public: agnews", "generated and real data are never mixed"},
	} {
		refused(t, strings.Replace(attacksText, c.old, c.new, 1), c.want)
	}
}
