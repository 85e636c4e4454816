package transformer

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/realdata"
)

// reference reads the numbers that came with a model.
func reference[T any](t *testing.T, folder string) (to T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "reference.json"))
	if err == nil {
		err = json.Unmarshal(data, &to)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func openModel(t *testing.T, task Task, folder string) *Model {
	t.Helper()
	m, err := Open(t.Context(), task, filepath.Base(folder), folder, "digest of "+folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func near(t *testing.T, what string, got []float32, want []float64, within float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > within {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func cosine(a []float32, b []float64) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab, aa, bb = ab+float64(x)*b[i], aa+float64(x)*float64(x), bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// The encoders give the vectors of their references, alone and together, and a
// text without words the same as before.
func TestEncodersGiveTheirReference(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, within := range map[string]float64{"use-lite-onnx": 1e-5, "paraphrase-minilm-l3-onnx": 2e-3} {
		folder := realdata.Model(t, name)
		ref := reference[struct {
			Items []struct {
				Text              string
				Embedding, Vector []float64
			}
		}](t, folder)
		var texts []string
		for _, item := range ref.Items {
			texts = append(texts, item.Text)
		}
		m := openModel(t, Encode, folder)
		if m.Name() != name {
			t.Errorf("name %q", m.Name())
		}
		together, err := m.Encode(t.Context(), append(texts, "", "  "+texts[0]+"\t"))
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range ref.Items {
			want := slices.Concat(item.Embedding, item.Vector)
			if c := cosine(together[i], want); c < 1-1e-5 {
				t.Errorf("%s: %q has cosine %v with its reference", name, item.Text, c)
			}
			near(t, name, together[i], want, within) // of the second the weights are FLOAT16
		}
		if !slices.Equal(together[0], together[len(texts)+1]) {
			t.Errorf("%s: white space changes a vector", name)
		}
	}
}

func TestMaskedModelGivesItsReference(t *testing.T) {
	folder := realdata.Model(t, "tiny-masked-lm")
	m := openModel(t, Score, folder)
	ref := reference[struct{ Top5 [][2]any }](t, folder)
	var candidates []string
	for _, x := range ref.Top5 {
		candidates = append(candidates, x[0].(string))
	}
	words := strings.Fields("the movie was anything .")
	candidates = append(candidates, "unexceptionalnessworthily", "☃")
	rows, err := m.Score(t.Context(), words, []int{3, 0}, candidates)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	// Over the candidates alone: differences of logarithms are the model's.
	sum := 0.0
	for i, x := range ref.Top5 {
		want := x[1].(float64) - ref.Top5[0][1].(float64)
		if got := float64(rows[0][i] - rows[0][0]); math.Abs(got-want) > 2e-5 {
			t.Errorf("%s: %v less than the likeliest, want %v", candidates[i], got, want)
		}
		sum += math.Exp(float64(rows[0][i]))
	}
	if !math.IsInf(float64(rows[0][5]), -1) || !math.IsInf(float64(rows[0][6]), -1) {
		t.Errorf("words that it can't spell have %v", rows[0][5:])
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("probabilities sum to %v", sum)
	}
	// A text that is longer than the limit is cut around the word.
	long := slices.Repeat(words, 300)
	if rows, err = m.Score(t.Context(), long, []int{0, 700, len(long) - 1}, candidates[:5]); err != nil || len(rows) != 3 {
		t.Errorf("a long text: %v", err)
	}
}

func TestCausalModelGivesItsReference(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := realdata.Model(t, "tiny-causal-lm")
	m := openModel(t, LogProb, folder)
	ref := reference[struct{ LogProbs []float64 }](t, folder)
	long := strings.Repeat("the movie was good . ", 300)
	rows, err := m.Encode(t.Context(), []string{"the movie was [MASK] .", "", long})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "reference", rows[0], ref.LogProbs, 2e-5)
	if len(rows[1]) != 1 || len(rows[2]) != 1501 { // and [SEP]
		t.Errorf("%d numbers of an empty text, %d of a long one", len(rows[1]), len(rows[2]))
	}
	for i, x := range rows[2] {
		if !(x < 0) {
			t.Fatalf("piece %d of a long text: %v", i, x)
		}
	}
}

// Answers are kept: a model is not asked again for the same texts.
func TestAnswersOfModelsAreKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	python := filepath.Join(t.TempDir(), "python") // answers once
	if err := os.WriteFile(python, []byte(`#!/bin/sh
echo '{"protocol":2,"role":"model","name":"x","version":""}'; read -r request; echo '{"id":1,"numbers":["AACAPw==","AAAAQA=="]}'
`), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MLDP_PYTHON", python)
	m := openModel(t, Encode, t.TempDir())
	for range 2 {
		if rows, err := m.Encode(t.Context(), []string{"longer", "x"}); err != nil || rows[0][0] != 2 || rows[1][0] != 1 {
			t.Fatalf("%v, %v", rows, err)
		}
	}
	if _, err := m.Encode(t.Context(), []string{"new", "x"}); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a new text without an answer: %v", err)
	}
}

// What a machine lacks, and a model that serves for something else, is one line.
func TestWhatModelsLack(t *testing.T) {
	begin := time.Now()
	t.Setenv("MLDP_PYTHON", filepath.Join(t.TempDir(), "python3"))
	lacks := func(task Task, name, folder string, wants ...string) {
		t.Helper()
		_, err := Open(t.Context(), task, name, folder, "")
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	lacks(Encode, "m", t.TempDir(), "MLDP_PYTHON", "pip install onnxruntime tokenizers numpy")
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %v", took)
	}
	bare := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(bare, []byte("#!/bin/sh\nexec python3 -S -I \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MLDP_PYTHON", bare) // without any installed package
	if Python() == bare {
		lacks(Encode, "m", t.TempDir(), "no onnxruntime, tokenizers, numpy", "pip install onnxruntime tokenizers numpy")
		lacks(Encode, "all-MiniLM-L6-v2", "", "pip install sentence-transformers")
		lacks(Score, "bert-base-uncased", "", "pip install transformers torch")
	}
}

func TestModelsThatServeForSomethingElse(t *testing.T) {
	for _, c := range []struct {
		task       Task
		name, want string
	}{
		{Score, "tiny-causal-lm", "a causal model: not what score needs"},
		{LogProb, "tiny-masked-lm", "a masked model: not what logprob needs"},
		{Encode, "tiny-masked-lm", "not what encode needs, vectors"},
		{Score, "use-lite-onnx", "vectors: not what score needs"},
	} {
		folder := realdata.Model(t, c.name)
		if _, err := Open(context.Background(), c.task, c.name, folder, ""); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v", c.task, c.name, err)
		}
	}
}
