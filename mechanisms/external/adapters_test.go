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
	"sync"
	"testing"
	"time"

	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/mechanisms"
	"mldpbench/results"
)

// adapted is a kind of examples/adapters/NAME_adapter.py with what of ours has its law,
// or only its speed.
type adapted struct {
	name, arguments string
	ours            mechanisms.Settings
	epsilon         float64
	draws           int // of each of three words; 0 is a mechanism of texts
}

// alarm is the probability at which a word's law is called another. Over the 27 tests
// of words here it makes a false alarm with probability 1e-6.
const alarm = 3e-8

const (
	vocabulary = 300 // of GloVe, at d = 50
	planted    = 1.3 // times ε: another law, which the draws tell apart
	patience   = 20 * time.Minute
)

// TestAdapters runs examples/adapters with the real libraries, each in an environment
// of its own under bin/adapters, and puts the table into docs/python.md, unless
// MLDP_ADAPTER names one row. What cannot be installed is a row that says why.
func TestAdapters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	released := func(name string) mechanisms.Settings {
		return mechanisms.Settings{Mechanism: name, Variant: mechanisms.Released}
	}
	proved := func(name string) mechanisms.Settings { return mechanisms.Settings{Mechanism: name} }
	leaning := mechanisms.Settings{Mechanism: "vickrey", Parameters: mechanisms.Parameters{"t": 0.75}}
	near, far := b.extent()
	threshold := (2*(1+math.Log(vocabulary)) + 3) / near // of the truncated Gumbel mechanism
	table := fmt.Sprintf("%s, %s, %s\n\n"+
		"| adapter | version | both twice | law of | draws | p | p at 1.3 ε | words/s | ours |\n%s\n",
		time.Now().Format(time.DateOnly), strings.TrimSpace(b.run(t, "", "python3", "--version")), runtime.GOARCH,
		strings.Repeat("|---", 9)+"|")
	all := []adapted{
		{"mldp_text", "multivariate_calibrated {vectors}", proved("cmp"), 8, 600},
		{"mldp_text", "tem {vectors}", proved("tem"), 1.5, 600},
		{"mldp_text", fmt.Sprintf("truncated_gumbel {vectors} min_inter_dist=%v max_inter_dist=%v", near, far),
			proved("gumbel"), 10 * threshold, 60000},
		{"mldp_text", "vickrey {vectors}", released("vickrey"), 8, 600},
		{"mldp_text", "mahalanobis {vectors}", released("mahalanobis"), 8, 600},
		{"pypantera", "cmp {vectors}", proved("cmp"), 8, 600},
		{"pypantera", "santext {vectors}", proved("santext"), 1.5, 600},
		{"pypantera", "tem {vectors}", proved("tem"), 1.5, 600},
		{"pypantera", "vickrey-cmp {vectors}", leaning, 8, 600},
		{"pypantera", "mahalanobis {vectors} lam=0.2", mechanisms.Settings{}, 8, 600},
		{"diffractor", "geometric {vectors}", proved("diffractor"), 1, 0},
		{"dpmlm", "{model}", mechanisms.Settings{}, 100, 0},
		{"presidio", "", mechanisms.Settings{}, 1, 0},
	}
	only := os.Getenv("MLDP_ADAPTER")
	all = slices.DeleteFunc(all, func(a adapted) bool { return !strings.HasPrefix(a.name+" "+a.arguments, only) })
	rows := make([]string, len(all))
	t.Run("rows", func(t *testing.T) {
		for i, a := range all {
			sample, rate := b.ours(t, a) // before there is other work in this process
			t.Run(a.name+"/"+strings.Split(a.arguments, " ")[0], func(t *testing.T) {
				t.Parallel()
				rows[i] = b.row(t, a, sample, rate)
				fmt.Print(rows[i])
			})
		}
	})
	if fmt.Print(table, strings.Join(rows, "")); only == "" && !t.Failed() {
		page := filepath.Join(b.root, "docs", "python.md")
		text, err := os.ReadFile(page)
		head, old, found := strings.Cut(string(text), "<!-- make adapters -->\n")
		_, tail, ends := strings.Cut(old, "<!-- end -->\n")
		if err != nil || !found || !ends {
			t.Fatalf("%s: no place for the table: %v", page, err)
		}
		write(t, page, head+"<!-- make adapters -->\n"+table+strings.Join(rows, "")+"<!-- end -->\n"+tail)
	}
}

// TestExamples runs the examples that need libraries, in the environments that have them.
func TestExamples(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	examples := filepath.Join(b.root, "examples")
	for _, e := range []struct {
		name, environment string
		args              []string
		says              string
	}{
		{"python", "python", []string{filepath.Join(examples, "python.py")}, `CMP & .*Rank fix`},
		{"tau-eval", "dpmlm", []string{filepath.Join(examples, "adapters", "tau_eval_example.py")},
			`'Mechanism': {'words': .*'overlap-jaccard': 0`},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			python, err := b.environment(e.environment)
			if err != nil {
				t.Skip(err)
			}
			out := b.run(t, strings.Join(b.texts, "\n"), python, e.args...)
			if !regexp.MustCompile("(?s)" + e.says).MatchString(out) {
				t.Errorf("it prints\n%s", out)
			}
		})
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
		embeddings.LoadOptions{Keep: embeddings.First(vocabulary, nil)})
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

// row runs one adapter and returns what came out.
func (b *bench) row(t *testing.T, a adapted, sample [][]string, own float64) string {
	name := strings.TrimSpace(a.name + " " + strings.Split(strings.Split(a.arguments, " ")[0], "{")[0])
	python, err := b.environment(a.name)
	if err != nil {
		return fmt.Sprintf("| `%s` | skipped: %v | | | | | | | |\n", name, err)
	}
	model := filepath.Join(filepath.Dir(b.vectors), "model")
	if strings.Contains(a.arguments, "{model}") {
		b.run(t, "", python, "-c", maskedModel, realdata.File(t, "tiny-masked-lm/tokenizer.json"), model)
	}
	arguments := strings.NewReplacer("{vectors}", b.vectors, "{model}", model).Replace(a.arguments)
	line := fmt.Sprintf("%s %s_adapter.py %s", python, filepath.Join(b.root, "examples", "adapters", a.name), arguments)
	some, enough := b.lawWords(a)[:1], repeat(b.lawWords(a), a.draws)
	if a.draws == 0 {
		some, enough = b.texts[:1], b.texts
		if a.name == "presidio" { // it is read in less time than what starts it varies by
			enough = slices.Repeat(b.texts, 50)
		}
	}
	times, first, hasLaw := 1.0, some, a.ours.Mechanism != "" && a.draws > 0
	if hasLaw {
		times, first = planted, enough
	}
	hello, other, _ := b.ask(t, a, line, times, first) // a library's first start compiles it
	_, _, start := b.ask(t, a, line, 1, some)
	_, drawn, cpu := b.ask(t, a, line, 1, enough)
	twice := b.twice(t, hello.Repeatable, func(i int) string {
		return b.privatize(t, line, a.epsilon) + b.study(t, i, line, a.epsilon)
	})
	rate := twoDigits(float64(len(strings.Fields(strings.Join(enough, " ")))-1) / (cpu - start))
	if cpu-start < start/20 {
		rate = "" // starts differ by as much
	}
	law, ours := " | | | ", ""
	if own > 0 {
		ours = twoDigits(own)
	}
	if hasLaw {
		same, different := smallest(sample, drawn), smallest(sample, other)
		variant := cmp.Or(a.ours.Variant, mechanisms.Proved)
		law = strings.TrimSpace(fmt.Sprintf("%s %s %s", a.ours.Mechanism, variant, a.ours.Parameters))
		if same < alarm {
			t.Errorf("%s: another law than %s: p = %v", name, law, same)
		}
		if different >= alarm {
			t.Errorf("%s: %v ε is not told apart: p = %v", name, planted, different)
		}
		law = fmt.Sprintf("%s | %d | %.2g | %.0e", law, a.draws, same, different)
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |\n", name, hello.Version, twice, law, rate, ours)
}

// twoDigits rounds to as many.
func twoDigits(x float64) string {
	scale := math.Pow(10, math.Floor(math.Log10(x))-1)
	return fmt.Sprintf("%.0f", math.Round(x/scale)*scale)
}

// twice is "equal" for two equal results, of those that declare to be repeatable.
func (b *bench) twice(t *testing.T, repeatable bool, run func(i int) string) string {
	first := run(1)
	if !repeatable {
		return "done"
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
	c.Dir, c.WaitDelay = t.TempDir(), time.Second
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
// of each word, in the order of items, with the processor time of its process.
func (b *bench) ask(t *testing.T, a adapted, line string, times float64, items []string) (Hello, [][]string, float64) {
	t.Helper()
	args, err := Split(line)
	if err != nil {
		t.Fatal(err)
	}
	q := Request{ID: 1, Epsilon: times * a.epsilon}
	for i, x := range items {
		if q.Seeds = append(q.Seeds, fmt.Sprintf("%064x", i+1)); a.draws == 0 {
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
	var became [][]string
	for i, d := range answer.Documents {
		if i == 0 || q.Documents[i][0] != q.Documents[i-1][0] {
			became = append(became, nil)
		}
		became[len(became)-1] = append(became[len(became)-1], d...)
	}
	return h, became, cpu
}

// building has a lock for each environment.
var building sync.Map

// environment returns the Python with a library, which it installs where that was not
// done, or what pip said.
func (b *bench) environment(name string) (string, error) {
	lock, _ := building.LoadOrStore(name, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
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
		{python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "-r", requirements}} {
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
