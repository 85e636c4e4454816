package sentence

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/metrics"
)

type reference struct {
	Items []struct {
		Text      string
		Embedding []float32
	}
}

// openReal opens the encoder of the real data with its reference vectors.
var openReal = func() func(t testing.TB) (*ONNX, reference) {
	var once sync.Once
	var e *ONNX
	var ref reference
	var err error
	return func(t testing.TB) (*ONNX, reference) {
		t.Helper()
		file := realdata.File(t, "use-lite-onnx/reference.json")
		if testing.Short() {
			t.Skip("takes seconds")
		}
		once.Do(func() {
			if e, err = Open(context.Background(), filepath.Dir(file)); err != nil {
				return
			}
			var data []byte
			if data, err = os.ReadFile(file); err == nil {
				err = json.Unmarshal(data, &ref)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return e, ref
	}
}()

func TestReferenceVectors(t *testing.T) {
	e, ref := openReal(t)
	if len(ref.Items) != 6 || e.Name() != "use-lite-onnx" {
		t.Fatalf("%d items, name %s", len(ref.Items), e.Name())
	}
	var sentences []string
	for _, item := range ref.Items {
		sentences = append(sentences, item.Text)
	}
	vectors, err := e.Encode(context.Background(), sentences)
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range ref.Items {
		if c := metrics.Cosine(vectors[i], item.Embedding); c < 0.999999 {
			t.Errorf("%q: cosine %v", item.Text, c)
		}
	}
}

func someSentences() []string {
	words := strings.Fields("the movie was a long and rather dull story about stocks on Wall Street which nobody " +
		"would ever really enjoy twice")
	var out []string
	for n := range 10 {
		var s []string
		for i := range 1 + n*3 {
			s = append(s, words[(i*(n+3)+n)%len(words)])
		}
		out = append(out, strings.Join(s, " "))
	}
	return append(out, strings.Repeat("very ", 100)+"long", "", "  the\tmovie\n was ")
}

// A sentence always has the same vector, whatever is encoded with it and by
// however many goroutines.
func TestVectorDoesNotDependOnNeighbours(t *testing.T) {
	e, _ := openReal(t)
	sentences := someSentences()
	all, err := e.Encode(context.Background(), sentences)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, i := range []int{0, 9, 10} {
		wg.Go(func() {
			one, err := e.Encode(context.Background(), sentences[i:i+1])
			if err != nil {
				t.Error(err)
				return
			}
			if !slices.Equal(one[0], all[i]) {
				t.Errorf("sentence %d has another vector on its own", i)
			}
		})
	}
	wg.Wait()
	trimmed, err := e.Encode(context.Background(), []string{"the movie was"})
	if err != nil || !slices.Equal(trimmed[0], all[len(all)-1]) {
		t.Errorf("white space is not collapsed: %v", err)
	}
}

func TestEncodeStopsWithContext(t *testing.T) {
	e, _ := openReal(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Encode(ctx, []string{"a"}); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Fatalf("err = %v", err)
	}
}

const small = `{"model":{"type":"Unigram","vocab":[["<unk>",0],["▁a",-1]],"unk_id":0},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁"}}`

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("err = %v", err)
	}
	for _, c := range []struct{ model, tokenizer, want string }{
		{"x", "{", "tokenizer.json: "},
		{"x", "{}", "tokenizer.json: no model with a vocabulary in it"},
		{"", small, "model.onnx: the file is empty"},
		{"x", small, "not an ONNX model"},
	} {
		for name, content := range map[string]string{"model.onnx": c.model, "tokenizer.json": c.tokenizer} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(context.Background(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.model, c.tokenizer, err, c.want)
		}
	}
}

// A real encoder with one part damaged is refused when it is opened.
func TestDamagedEncoders(t *testing.T) {
	source := filepath.Dir(realdata.File(t, "use-lite-onnx/model.onnx"))
	if testing.Short() {
		t.Skip("takes seconds")
	}
	model, err := os.ReadFile(filepath.Join(source, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := os.ReadFile(filepath.Join(source, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	nan := bytes.Clone(model)
	for i := 100_000; i < 8_000_000; i++ { // of the table of token vectors, which is first
		nan[i] = 0xff // float32: NaN
	}
	for name, c := range map[string]struct {
		model, tokenizer []byte
		want             string
	}{
		"weights":   {nan, tokenizer, "self-test: "},
		"cut model": {model[:len(model)/2], tokenizer, "not an ONNX model"},
		"no words":  {model, []byte(small), "self-test: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range map[string][]byte{"model.onnx": c.model, "tokenizer.json": c.tokenizer} {
				if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if e, err := Open(context.Background(), dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v, want %q", e, err, c.want)
			}
		})
	}
}

// BenchmarkEncode encodes real documents, 4,000 as a cell of the comparative
// study does. Run it with -cpu 1 -benchtime 1x.
func BenchmarkEncode(b *testing.B) {
	e, _ := openReal(b)
	for _, file := range []string{"ag_news_train.subset.csv.gz", "imdb.csv.gz"} {
		b.Run(file, func(b *testing.B) {
			f, err := os.Open(realdata.File(b, file))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			unpacked, err := gzip.NewReader(f)
			if err != nil {
				b.Fatal(err)
			}
			rows := csv.NewReader(unpacked)
			rows.FieldsPerRecord = -1
			var texts []string
			for len(texts) < 4000 {
				row, err := rows.Read()
				if err != nil {
					b.Fatal(err)
				}
				words := strings.Fields(strings.Join(row, " "))
				texts = append(texts, strings.Join(words[:min(100, len(words))], " "))
			}
			for b.Loop() {
				if _, err := e.Encode(context.Background(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
