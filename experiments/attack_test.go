package experiments_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets"
	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/realdata"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

// madeUpModels writes folders of a masked and a causal model and of an encoder of
// tokens, whose pieces are the words of generated text.
func madeUpModels(t *testing.T) string {
	t.Helper()
	d, err := datasets.Load(t.Context(), datasets.Request{Name: "generated-styles", Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, w := range strings.Fields("the movie was really good and bank not") {
		words[w] = true
	}
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			for _, w := range doc.Tokens {
				words[w] = true
			}
		}
	}
	vocabulary := `"[UNK]":0,"[MASK]":1`
	n := 2
	for _, w := range slices.Sorted(maps.Keys(words)) {
		vocabulary += fmt.Sprintf(",%q:%d", w, n)
		n++
	}
	tokenizer := `{"added_tokens":[{"id":1,"content":"[MASK]","special":true}],` +
		`"pre_tokenizer":{"type":"BertPreTokenizer"},` +
		`"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",` +
		`"max_input_chars_per_word":100,"vocab":{` + vocabulary + "}}}"
	dir := t.TempDir()
	rng := stream.FromUint64(5).Rand()
	random := func(width int) []float32 {
		table := make([]float32, n*width)
		for i := range table {
			table[i] = float32(rng.NormFloat64())
		}
		return table
	}
	put(t, dir, "masked/model.onnx", lookupModel(random(n), n, "logits", true))
	put(t, dir, "causal/model.onnx", lookupModel(random(n), n, "logits", false))
	put(t, dir, "encoder/model.onnx", lookupModel(random(64), 64, "last_hidden_state", false))
	for _, name := range []string{"masked", "causal", "encoder"} {
		put(t, dir, name+"/tokenizer.json", tokenizer)
	}
	return dir
}

const attacksText = `schema: 1
name: small-attacks
protocol: attacks
seed: 4
datasets: [{name: generated-styles, train: 80, validation: 20, test: 60}]
embeddings: [{name: generated, dimensions: [50]}]
public: {name: generated-styles, train: 400}
mechanisms: [{name: k-rr, epsilons: [6]}]
language_model: DIR/masked
causal_model: DIR/causal
attackers: [masked, masked-channel, inversion, context, averaging, attribute-static-ngrams,
  attribute-public-ngrams, attribute-written, linkage-tfidf, linkage-aligned]
options: {words: 60, masked: 60, tokens: 200, candidates: 5, releases: [1, 2], neighbours: [1], documents: 60,
  resamples: 100, own_releases: 1, test_releases: 2, rounds: 1}
metrics: {bleu: {}, chrf: {}, rouge_l: {documents: 20}, bertscore: {encoder: DIR/encoder}}
`

func attacksStudy(t *testing.T, dir, old, new string) *study.Study {
	t.Helper()
	text := strings.Replace(attacksText, old, new, 1)
	s, err := study.Parse("attacks.yaml", []byte(strings.ReplaceAll(text, "DIR", filepath.ToSlash(dir))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Attackers with a language model and public text, the strongest of each panel,
// and texts held against the original, are measurements of a study.
func TestAttackersOfAStudy(t *testing.T) {
	t.Parallel()
	dir := madeUpModels(t)
	out := t.TempDir()
	sum := mustRun(t, attacksStudy(t, dir, "", ""), engine.Options{Out: out})
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
			"strongest-documents", "bleu", "chrf", "rouge_l", "bertscore", "causal_perplexity"} {
			if m := at(c, quantity); !m.Value.Known() || m.Low > m.Value || m.High < m.Value {
				t.Errorf("%s, %s: %+v", name, quantity, m)
			}
		}
	}
	plain := by["identity"]
	for _, quantity := range []string{"bleu", "chrf", "rouge_l", "bertscore"} {
		if v := plain.Get(quantity); math.Abs(float64(v)-100) > 1e-6 {
			t.Errorf("%s of unchanged text is %v", quantity, v)
		}
		if v := by["uniform"].Get(quantity); v > 70 {
			t.Errorf("%s of random words is %v", quantity, v)
		}
	}
	if m := at(plain, "causal_perplexity"); m.Value != m.Ceiling {
		t.Errorf("perplexity of unchanged text is %v, of the original %v", m.Value, m.Ceiling)
	}
	for _, quantity := range []string{"strongest-words", "strongest-documents"} {
		if v := plain.Get(quantity); v < 0.9 {
			t.Errorf("%s of unchanged text: %v", quantity, v)
		}
	}
	if m := at(by["uniform"], "strongest-words"); m.Value > 0.2 {
		t.Errorf("strongest-words of random words: %v", m.Value)
	}
	// Right and wrong answers are recorded by document, and agree with the counts.
	m := at(by["k-rr"], "linkage-aligned-p1")
	if right := m.Right(); right == nil || len(right) != 60 || math.Abs(float64(m.Value)-float64(m.Part)/60) > 1e-9 {
		t.Errorf("linkage: %d of %d, %v, items %v", m.Part, m.Whole, m.Value, right)
	}
	// A file of a model is in the keys of those who use it, and of no others.
	put(t, dir, "masked/config.json", `{"max_position_embeddings": 64}`)
	ran := map[string]bool{}
	again := mustRun(t, attacksStudy(t, dir, "", ""), engine.Options{Out: out})
	for _, r := range again.Rows {
		if !slices.ContainsFunc(sum.Rows, func(o results.Row) bool { return o.Key == r.Key }) {
			ran[r.Measurement] = true
		}
	}
	want := []string{"masked-channel@1", "masked@1", "strongest@2"}
	if got := slices.Sorted(maps.Keys(ran)); !slices.Equal(got, want) {
		t.Errorf("a changed masked model: %v ran, want %v", got, want)
	}
}

func TestErrorsOfModels(t *testing.T) {
	t.Parallel()
	dir := madeUpModels(t)
	for _, c := range []struct{ old, new, want string }{
		{"DIR/masked", "DIR/none", "language_model = "},
		{"DIR/masked", "DIR/causal", "serves as causal, not as masked"},
		{"causal_model: DIR/causal", "causal_model: DIR/encoder", "serves as encoder, not as causal"},
		{"DIR/encoder", "DIR/causal", "gives no vectors of tokens"},
	} {
		s := attacksStudy(t, dir, c.old, c.new)
		err := experiments.CheckData(t.Context(), s, "")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "attacks.yaml:") {
			t.Errorf("%s: %v, want %q with its line", c.new, err, c.want)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{"language_model: DIR/masked\n", "", "attacks.yaml:10:13: attacker masked asks a masked language model"},
		{"public: {name: generated-styles, train: 400}\n", "shadow: 10\n", "attribute-public-ngrams trains on public text"},
		{"public: {name: generated-styles, train: 400}", "public: {name: agnews}", "generated and real data are never mixed"},
		{"bleu: {}", "bleu: {encoder: x}", "encoder: a folder for bertscore"},
	} {
		_, err := study.Parse("attacks.yaml", []byte(strings.Replace(attacksText, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

// An attacker whose model cannot be used fails alone.
func TestOneAttackerFails(t *testing.T) {
	t.Parallel()
	s := attacksStudy(t, madeUpModels(t), "DIR/masked", "DIR/causal")
	s.Attackers = []study.CommandSpec{{Name: "masked"}, {Name: "linkage-aligned"}, {Name: "linkage-tfidf"}}
	s.Mechanisms, s.Metrics = s.Mechanisms[:1], nil
	run, err := experiments.Run(t.Context(), s, "", engine.Options{Out: t.TempDir()})
	failed, _ := filepath.Glob(filepath.Join(run.Dir, "failed", "*"))
	if err == nil || len(failed) == 0 || len(failed) != run.Failed {
		t.Fatalf("%d units failed, %d files: %v", run.Failed, len(failed), err)
	}
	for _, name := range failed {
		if why, err := os.ReadFile(name); err != nil || !strings.Contains(string(why), "attacker masked: ") {
			t.Errorf("%s, %v", why, err)
		}
	}
	for _, quantity := range []string{"linkage-aligned-p1", "linkage-tfidf-p1", "strongest-documents"} {
		if !slices.ContainsFunc(run.Rows, func(r results.Row) bool { return r.Quantity == quantity && r.Value.Known() }) {
			t.Errorf("no %s", quantity)
		}
	}
}

// The models of the data folder are found by name, and the masked model finds
// words that the channel alone does not.
func TestAttackersWithTinyModels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	root := filepath.Dir(filepath.Dir(realdata.File(t, "tiny-masked-lm/model.onnx")))
	realdata.File(t, "tiny-causal-lm/model.onnx")
	realdata.File(t, "glove.6B.100d.subset.txt.gz")
	text := strings.NewReplacer("DIR/masked", "tiny-masked-lm", "DIR/causal", "tiny-causal-lm", "DIR/encoder",
		"tiny-masked-lm", "public: {name: generated-styles, train: 400}", "public: {name: spooky-authors}",
		"generated-styles, train: 80", "spooky-authors, train: 80", "name: generated,", "name: glove.6B,", "[50]",
		"[100]").Replace(attacksText)
	s, err := study.Parse("attacks.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Attackers = []study.CommandSpec{{Name: "masked"}, {Name: "masked-channel"}}
	sum, err := experiments.Run(t.Context(), s, root, engine.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells(t, sum) {
		m := at(c, "masked-accuracy")
		if c.Mechanism == "identity" && (m.Value != m.Ceiling || m.Value < m.Floor) {
			t.Errorf("masked model on unchanged text: %+v", m)
		}
		if v := c.Get("masked-channel-accuracy"); c.Mechanism == "identity" && v < 0.99 {
			t.Errorf("masked model and channel on unchanged text: %v", v)
		}
		if p := at(c, "causal_perplexity"); c.Mechanism == "uniform" && p.Value < 2*p.Ceiling {
			t.Errorf("perplexity of random words: %v, of plain text %v", p.Value, p.Ceiling)
		}
	}
}

// Each attacker that a panel compares has the column that the panel reads.
func TestPanelColumns(t *testing.T) {
	for _, name := range []string{"inversion-1", "average-1", "context-accuracy", "masked-accuracy",
		"masked-channel-accuracy"} {
		if !slices.ContainsFunc(attack.Names(), func(attacker string) bool {
			d, _ := attack.Find(attacker)
			return slices.ContainsFunc(d.Columns, func(c attack.Column) bool { return c.Name == name })
		}) {
			t.Errorf("no attacker has %s", name)
		}
	}
}

// Single attackers and metrics of a study of attacks run alone, and need no
// model that they do not ask.
func TestPanelsOfAttacks(t *testing.T) {
	for _, panel := range []string{"overlap", "bleu", "causal_perplexity", "attribute-static-svm"} {
		s, err := experiments.Builtin.Open("attacks")
		if err == nil {
			s, err = s.Override(study.Overrides{Panels: []string{panel}})
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := experiments.Plan(s, lab.New(""))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range p.Units {
			if !strings.HasSuffix(u.Name, ": "+panel) {
				t.Errorf("panel %s: %s is planned", panel, u.Name)
			}
		}
		asked := slices.ContainsFunc(plan.Wants(s).Resources, func(r lab.Resource) bool {
			return strings.HasSuffix(r.Key, "_model")
		})
		if asked != (panel == "causal_perplexity") {
			t.Errorf("panel %s asks a model", panel)
		}
	}
}
