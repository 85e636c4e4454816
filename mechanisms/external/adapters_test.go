//go:build adapters && linux

package external

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// adapted is a kind of examples/adapters/NAME_adapter.py with what of ours has its law,
// or only its speed.
type adapted struct {
	name, arguments string
	ours            mechanisms.Settings
	epsilon         float64
	// planted times ε is another law, which the draws tell apart: 1000 where 1.3 changes
	// it by less than they show. 0 is a mechanism of texts.
	planted float64
}

// alarm is the probability at which a word's law is called another. Over the 30 tests
// of words here it makes a false alarm with probability 1e-6.
const alarm = 3e-8

const (
	lawWords = 300 // of GloVe, at d = 50
	draws    = 600 // of each of three words
	patience = 10 * time.Minute
)

// TestAdapters runs examples/adapters with the real libraries, each in an environment
// of its own under bin/adapters, and prints the table of docs/python.md. What cannot be
// installed is a row that says why.
func TestAdapters(t *testing.T) {
	b := newBench(t)
	fmt.Printf("%s, %s, %s\n\n", time.Now().Format(time.DateOnly), strings.TrimSpace(b.run(t, "", "python3", "--version")), runtime.GOARCH)
	fmt.Printf("| adapter | from | 20 texts by privatize, twice | a study of three ε, twice | law of | smallest p of 3 words | "+
		"at 1.3 ε | words/s | ours |\n%s\n", strings.Repeat("|---", 9)+"|")
	released := func(name string) mechanisms.Settings {
		return mechanisms.Settings{Mechanism: name, Variant: mechanisms.Released}
	}
	proved := func(name string) mechanisms.Settings { return mechanisms.Settings{Mechanism: name} }
	leaning := mechanisms.Settings{Mechanism: "vickrey", Parameters: mechanisms.Parameters{"t": 0.75}}
	near, far := b.extent()
	threshold := (2*(1+math.Log(lawWords)) + 3) / near // of the truncated Gumbel mechanism
	for _, a := range []adapted{
		{"mldp_text", "multivariate_calibrated {vectors}", proved("cmp"), 8, 1.3},
		{"mldp_text", "tem {vectors}", proved("tem"), 1.5, 1.3},
		{"mldp_text", fmt.Sprintf("truncated_gumbel {vectors} min_inter_dist=%v max_inter_dist=%v", near, far),
			proved("gumbel"), 1.2 * threshold, 1000},
		{"mldp_text", "vickrey {vectors}", released("vickrey"), 8, 1.3},
		{"mldp_text", "mahalanobis {vectors}", released("mahalanobis"), 8, 1.3},
		{"pypantera", "cmp {vectors}", proved("cmp"), 8, 1.3},
		{"pypantera", "santext {vectors}", proved("santext"), 1.5, 1.3},
		{"pypantera", "tem {vectors}", proved("tem"), 1.5, 1.3},
		{"pypantera", "vickrey-cmp {vectors}", leaning, 8, 1.3},
		{"pypantera", "mahalanobis {vectors} lam=0.2", mechanisms.Settings{}, 8, 1.3},
		{"diffractor", "geometric {vectors}", proved("diffractor"), 1, 0},
		{"dpmlm", "{model}", mechanisms.Settings{}, 100, 0},
		{"presidio", "", mechanisms.Settings{}, 1, 0},
	} {
		if only := os.Getenv("MLDP_ADAPTER"); only == "" || strings.HasPrefix(a.name+" "+a.arguments, only) {
			t.Run(a.name+"/"+strings.Split(a.arguments, " ")[0], func(t *testing.T) { b.row(t, a) })
		}
	}
}

// TestExamples runs the examples that need libraries.
func TestExamples(t *testing.T) {
	b := &bench{root: realdata.Root()}
	for name, says := range map[string]string{"python": `CMP & .*Rank fix`} {
		python, err := b.environment(name)
		if err != nil {
			t.Logf("%s: skipped: %v", name, err)
			continue
		}
		t.Chdir(t.TempDir())
		out := b.run(t, "", python, filepath.Join(b.root, "examples", name+".py"))
		if !regexp.MustCompile("(?s)" + says).MatchString(out) {
			t.Errorf("%s prints\n%s", name, out)
		}
	}
}

// bench has what all adapters are run with.
type bench struct {
	root, vectors, news string
	texts               []string
	space               *embeddings.Space
	words               []string
}

func newBench(t *testing.T) *bench {
	b := &bench{root: realdata.Root(), vectors: filepath.Join(t.TempDir(), "vectors.txt")}
	b.news = filepath.Join(filepath.Dir(b.vectors), "news.csv")
	b.texts = firstNews(t, b.news)
	whole, err := embeddings.Load(t.Context(), realdata.File(t, "glove.6B.50d.subset.txt.gz"),
		embeddings.LoadOptions{Keep: embeddings.First(lawWords, nil)})
	if err != nil {
		t.Fatal(err)
	}
	b.space = whole
	var lines strings.Builder
	for i, w := range b.space.Vocabulary.Words() {
		fmt.Fprintln(&lines, w, strings.Trim(fmt.Sprint(b.space.Vector(embeddings.WordID(i))), "[]"))
	}
	b.words = []string{b.space.Vocabulary.Word(75), b.space.Vocabulary.Word(150), b.space.Vocabulary.Word(225)}
	write(t, b.vectors, lines.String())
	return b
}

// firstNews writes the first 20 items of AG News to a table and returns them.
func firstNews(t *testing.T, table string) (texts []string) {
	f, err := os.Open(realdata.File(t, "ag_news_test.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, lines := csv.NewReader(z), [][]string{{"text", "label"}}
	for range 20 {
		row, err := rows.Read()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, strings.ReplaceAll(row[2], "\n", " "))
		lines = append(lines, []string{row[2], []string{"odd", "even"}[len(texts)%2]})
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	write(t, table, out.String())
	return texts
}

// extent is the smallest and the largest distance of two words.
func (b *bench) extent() (near, far float64) {
	near = math.Inf(1)
	for i := range embeddings.WordID(b.space.Len()) {
		for j := range i {
			d := b.space.Distance(i, j)
			near, far = min(near, d), max(far, d)
		}
	}
	return near, far
}

// maskedModel makes an untrained masked model of two layers in a folder, with a
// tokenizer: none of transformers is on the registry.
const maskedModel = `
import sys, torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast
torch.manual_seed(0)
special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
tokenizer = PreTrainedTokenizerFast(tokenizer_file=sys.argv[1], model_max_length=512, **special)
tokenizer.save_pretrained(sys.argv[2])
shape = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}
BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **shape)).save_pretrained(sys.argv[2])
`

// row runs one adapter and prints what came out.
func (b *bench) row(t *testing.T, a adapted) {
	python, err := b.environment(a.name)
	if err != nil {
		fmt.Printf("| `%s` | skipped: %v | | | | | | | |\n", a.name, err)
		return
	}
	model := filepath.Join(filepath.Dir(b.vectors), "model")
	if strings.Contains(a.arguments, "{model}") {
		b.run(t, "", python, "-c", maskedModel, realdata.File(t, "tiny-masked-lm/tokenizer.json"), model)
	}
	arguments := strings.NewReplacer("{vectors}", b.vectors, "{model}", model).Replace(a.arguments)
	line := fmt.Sprintf("%s %s_adapter.py %s", python, filepath.Join(b.root, "examples", "adapters", a.name), arguments)
	some, enough := b.words[:1], repeat(b.words, draws)
	if a.planted == 0 {
		some, enough = b.texts[:1], b.texts
		if a.name == "presidio" { // it is read in less time than what starts it varies by
			enough = slices.Repeat(b.texts, 50)
		}
	}
	hello, _, start := b.ask(t, a, line, 1, some)
	private := b.twice(t, hello.Repeatable, func(int) string { return b.privatize(t, line, a.epsilon) })
	studied := b.twice(t, hello.Repeatable, func(i int) string { return b.study(t, i, line, a.epsilon) })
	law, p, planted := "", "", ""
	_, drawn, cpu := b.ask(t, a, line, 1, enough)
	rate := float64(len(strings.Fields(strings.Join(enough, " ")))-1) / (cpu - start)
	ours, own := "", 0.0
	if a.ours.Mechanism != "" {
		var sample [][]string
		sample, own = b.ours(t, a)
		ours = twoDigits(own)
		if a.planted > 0 {
			law = strings.TrimSpace(fmt.Sprintf("%s %s %s", a.ours.Mechanism, cmp.Or(a.ours.Variant, "proved"), a.ours.Parameters))
			_, other, _ := b.ask(t, a, line, a.planted, enough)
			same, different := smallest(sample, drawn), smallest(sample, other)
			if p, planted = fmt.Sprintf("%.2g", same), fmt.Sprintf("%.0e", different); a.planted != 1.3 {
				planted += fmt.Sprintf(" (%v ε)", a.planted)
			}
			if same < alarm {
				t.Errorf("%s: another law than %s: p = %v", a.name, law, same)
			}
			if different >= alarm {
				t.Errorf("%s: %v ε is not told apart: p = %v", a.name, a.planted, different)
			}
		}
	}
	fmt.Printf("| `%s %s` | %s %s | %s | %s | %s | %s | %s | %s | %s |\n", a.name, strings.Split(a.arguments, " {")[0],
		hello.Name, hello.Version, private, studied, law, p, planted, twoDigits(rate), ours)
}

// twoDigits rounds to as many.
func twoDigits(x float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(x))-1)
	return fmt.Sprintf("%.0f", math.Round(x/scale)*scale)
}

// twice is "equal" for two equal results, which are asked of those that declare it.
func (b *bench) twice(t *testing.T, repeatable bool, run func(i int) string) string {
	first := run(1)
	if !repeatable {
		return "done, not repeatable"
	}
	if second := run(2); second != first {
		t.Errorf("declared repeatable, but\n%s\n%s", first, second)
		return "**differ**"
	}
	return "equal"
}

func (b *bench) privatize(t *testing.T, line string, epsilon float64) string {
	out := b.run(t, strings.Join(b.texts, "\n")+"\n", filepath.Join(b.root, "bin", "mldp"), "privatize", "--command", line,
		"--epsilon", fmt.Sprint(epsilon), "--seed", "1")
	if strings.Count(out, "\n") != len(b.texts) || out == strings.Join(b.texts, "\n")+"\n" {
		t.Errorf("of %d texts came %q", len(b.texts), out)
	}
	return out
}

// study returns the rows of a study, without those of time.
func (b *bench) study(t *testing.T, i int, line string, epsilon float64) string {
	dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
	command, err := Split(line)
	if err != nil {
		t.Fatal(err)
	}
	study, err := json.Marshal(map[string]any{
		"schema": 1, "name": "adapter", "seed": 1, "repetitions": 1, "epsilons": []float64{epsilon / 2, epsilon, 2 * epsilon},
		"datasets": []any{map[string]any{"name": "news", "file": b.news, "text": "text", "label": "label", "train": 8,
			"validation": 4, "test": 8}},
		"embeddings": []any{map[string]any{"name": "vectors", "file": b.vectors}}, "models": []any{map[string]any{"name": "svm"}},
		"mechanisms": []any{map[string]any{"name": "adapter", "command": command}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+".yaml", string(study))
	b.run(t, "", filepath.Join(b.root, "bin", "mldp"), "run", dir+".yaml", "--out", dir, "--workers", "1")
	rows, err := results.Read(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for _, r := range rows {
		if r.Measurement != "time@1" && r.Quantity != "train_seconds" {
			fmt.Fprintln(&kept, r.Epsilon, r.Quantity, r.Value)
		}
	}
	return kept.String()
}

// run returns the standard output of a program.
func (b *bench) run(t *testing.T, input, program string, args ...string) string {
	out, _ := b.timed(t, input, program, args...)
	return out
}

// timed also returns the processor time of the program and of all that it waited for.
func (b *bench) timed(t *testing.T, input, program string, args ...string) (string, float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.WaitDelay = time.Second
	said := &bytes.Buffer{}
	c.Stdin, c.Stderr = strings.NewReader(input), said
	nltk, err := filepath.Glob(filepath.Join(b.root, "bin/adapters/*/lib/python*/site-packages/llama_index/core/_static/nltk_cache"))
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(b.root, "python"), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
		"MLDP="+filepath.Join(b.root, "bin", "mldp"), "NLTK_DATA="+strings.Join(nltk, ":"), "HF_HUB_OFFLINE=1")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v, %v\n%s", program, args, err, ctx.Err(), said)
	}
	return string(out), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
}

// ask has an adapter privatise items at so many times its ε, and returns what became
// of each of the three words, with the processor time of its process.
func (b *bench) ask(t *testing.T, a adapted, line string, times float64, items []string) (Hello, [][]string, float64) {
	t.Helper()
	args, err := Split(line)
	if err != nil {
		t.Fatal(err)
	}
	q := Request{ID: 1, Epsilon: times * a.epsilon}
	for i, x := range items {
		if q.Seeds = append(q.Seeds, fmt.Sprintf("%064x", i+1)); a.planted == 0 {
			q.Texts = append(q.Texts, x)
		} else {
			q.Documents = append(q.Documents, strings.Fields(x))
		}
	}
	request, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	out, cpu := b.timed(t, string(request)+"\n", args[0], args[1:]...)
	hello, said, _ := strings.Cut(out, "\n")
	h, err := parseHello([]byte(hello), MechanismRole)
	if err != nil {
		t.Fatal(err)
	}
	answer, refused, err := parseAnswer([]byte(said), 1)
	if err := cmp.Or(refused, err); err != nil {
		t.Fatal(err)
	}
	became := make([][]string, len(b.words))
	for i, d := range answer.Documents {
		word := slices.Index(b.words, q.Documents[i][0])
		became[word] = append(became[word], d...)
	}
	return h, became, cpu
}

// repeat has documents of 100 times the same word, n times in all.
func repeat(words []string, n int) (all []string) {
	for _, w := range words {
		all = append(all, slices.Repeat([]string{strings.Repeat(w+" ", 100)}, n/100)...)
	}
	return all
}

// ours draws each word ten times as often, and says how many are drawn in a second of
// one core.
func (b *bench) ours(t *testing.T, a adapted) (samples [][]string, rate float64) {
	a.ours.Epsilon = a.epsilon
	m, err := mechanisms.New(mechanisms.Environment{Space: b.space, Seed: stream.FromUint64(1)}, a.ours)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start, n := realdata.CPU(), 10*draws
	for i, word := range b.words {
		src, dst := slices.Repeat([]embeddings.WordID{b.space.Vocabulary.ID(word)}, n), make([]embeddings.WordID, n)
		if err := m.Privatize(t.Context(), dst, src, stream.FromUint64(2).At(uint64(i)).Rand()); err != nil {
			t.Fatal(err)
		}
		var sample []string
		for _, w := range dst {
			sample = append(sample, b.space.Vocabulary.Word(w))
		}
		samples = append(samples, sample)
	}
	return samples, float64(3*n) / (realdata.CPU() - start)
}

// smallest is the least p of the words.
func smallest(a, b [][]string) float64 {
	least := 1.0
	for i := range a {
		least = min(least, sameLaw(a[i], b[i]))
	}
	return least
}

// sameLaw is the p of Pearson's test that two samples are of one law; outcomes that are
// expected fewer than five times in the smaller one are one.
func sameLaw(a, b []string) float64 {
	counts := map[string]*[2]float64{}
	for i, sample := range [][]string{a, b} {
		for _, w := range sample {
			if counts[w] == nil {
				counts[w] = &[2]float64{}
			}
			counts[w][i]++
		}
	}
	share := float64(len(b)) / float64(len(a)+len(b))
	var statistic, cells float64
	add := func(c [2]float64) {
		expected := (c[0] + c[1]) * share
		statistic += (c[1] - expected) * (c[1] - expected) / (expected * (1 - share))
		cells++
	}
	var rest [2]float64
	for _, c := range counts {
		if (c[0]+c[1])*share < 5 {
			rest[0], rest[1] = rest[0]+c[0], rest[1]+c[1]
			continue
		}
		add(*c)
	}
	if rest[0]+rest[1] > 0 {
		add(rest)
	}
	if cells < 2 {
		return 1
	}
	return distuv.ChiSquared{K: cells - 1}.Survival(statistic)
}

// environment returns the Python with a library, which it installs where that was not
// done, or what pip said.
func (b *bench) environment(name string) (string, error) {
	requirements := filepath.Join(b.root, "examples", "adapters", "requirements", name+".txt")
	folder := filepath.Join(b.root, "bin", "adapters", name)
	python, done := filepath.Join(folder, "bin", "python"), filepath.Join(folder, "complete")
	wanted, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	if has, err := os.ReadFile(done); err == nil && bytes.Equal(has, wanted) {
		return python, nil
	}
	for _, c := range [][]string{{"python3", "-m", "venv", "--clear", folder},
		{python, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "-r", requirements}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return "", fmt.Errorf("%w: %s", err, lines[len(lines)-1])
		}
	}
	return python, os.WriteFile(done, wanted, 0o666)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
