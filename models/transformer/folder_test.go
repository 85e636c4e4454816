package transformer

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/models/onnx/onnxtest"
)

const tokens = `{"added_tokens":[{"id":0,"content":"[CLS]","special":true},{"id":1,"content":"[SEP]","special":true}],
"pre_tokenizer":{"type":"WhitespaceSplit"},
"post_processor":{"type":"BertProcessing","sep":["[SEP]",1],"cls":["[CLS]",0]},
"model":{"type":"WordPiece","unk_token":"the","continuing_subword_prefix":"##",
"vocab":{"[CLS]":0,"[SEP]":1,"the":2,"movie":3}}}`

// table is a vector per piece; words that are not in the vocabulary are "the".
var table = []float64{9, 0, 0, 9, 1, 2, 3, 4}

// folder writes a model folder; files are further ones.
func folder(t *testing.T, b *onnxtest.Builder, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{"model.onnx": string(b.File(13)), "tokenizer.json": tokens}
	for name, content := range files {
		all[name] = content
	}
	for name, content := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// embedding begins a graph: the vector of each piece as "v".
func embedding() *onnxtest.Builder {
	b := new(onnxtest.Builder)
	return b.Input("input_ids", onnxtest.Int64, -1, -1).Input("attention_mask", onnxtest.Int64, -1, -1).
		Floats("table", []int{4, 2}, table...).Node("Gather", []string{"table", "input_ids"}, []string{"v"})
}

// Token vectors are averaged, special tokens included as in sentence-
// transformers, or the first is taken; the limit of a file cuts.
func TestPooling(t *testing.T) {
	ctx := context.Background()
	token := func() *onnxtest.Builder {
		return embedding().Output("last_hidden_state", -1, -1, 2).
			Node("Identity", []string{"v"}, []string{"last_hidden_state"})
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []float32
	}{
		"mean":     {nil, []float32{(9 + 1 + 3 + 0) / 4., (0 + 2 + 4 + 9) / 4.}},
		"first":    {map[string]string{"1_Pooling/config.json": `{"pooling_mode_cls_token":true}`}, []float32{9, 0}},
		"cut to 4": {map[string]string{"sentence_bert_config.json": `{"max_seq_length":4}`}, []float32{13. / 4, 15. / 4}},
	} {
		m, err := Open(folder(t, token(), c.files), Encoder)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{"the movie"}
		if name == "cut to 4" {
			texts[0] += " the the the"
		}
		v, err := m.Encode(ctx, texts)
		if err != nil || !slices.Equal(v[0], c.want) {
			t.Errorf("%s: %v, want %v, %v", name, v, c.want, err)
		}
		if tokens, err := m.TokenVectors(ctx, []string{"movie"}); err != nil ||
			!slices.EqualFunc(tokens[0], [][]float32{{3, 4}}, slices.Equal) {
			t.Errorf("%s: tokens %v, %v", name, tokens, err)
		}
	}
	_, err := Open(folder(t, token(), map[string]string{"1_Pooling/config.json": `{"pooling_mode_max_tokens":true}`}), "")
	if err == nil || !strings.Contains(err.Error(), "only mean pooling and CLS pooling are supported") {
		t.Errorf("err = %v", err)
	}
}

// The export of sentence-transformers has both.
func TestSentenceAndTokens(t *testing.T) {
	b := embedding().Output("token_embeddings", -1, -1, 2).Output("sentence_embedding", -1, 2).
		Node("Identity", []string{"v"}, []string{"token_embeddings"}).
		Node("ReduceMax", []string{"v"}, []string{"sentence_embedding"}, onnxtest.Attribute("axes", []int{1}),
			onnxtest.Attribute("keepdims", 0))
	m, err := Open(folder(t, b, nil), "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Encode(context.Background(), []string{"movie"})
	if err != nil || !slices.Equal(v[0], []float32{9, 9}) {
		t.Errorf("%v, %v", v, err)
	}
	tokens, err := m.TokenVectors(context.Background(), []string{"movie the"})
	if err != nil || !slices.EqualFunc(tokens[0], [][]float32{{3, 4}, {1, 2}}, slices.Equal) {
		t.Errorf("%v, %v", tokens, err)
	}
}

func TestClassifier(t *testing.T) {
	b := embedding().Output("logits", -1, 2).Ints("at", nil, 1).
		Node("Gather", []string{"v", "at"}, []string{"logits"}, onnxtest.Attribute("axis", 1))
	dir := folder(t, b, nil)
	m, err := Open(dir, "")
	if err != nil || m.Task() != Classifier || m.classes != 2 {
		t.Fatalf("%v", err)
	}
}

// A causal model with an empty past, positions and types as further inputs: the
// score of the next piece depends on the present one only, so its logarithm
// follows by hand.
func TestCausalWithPast(t *testing.T) {
	b := new(onnxtest.Builder)
	b.Input("input_ids", onnxtest.Int64, -1, -1).Input("position_ids", onnxtest.Int64, -1, -1).
		Input("token_type_ids", onnxtest.Int64, -1, -1).Input("past_key_values.0.key", onnxtest.Float, -1, 1, -1, 4).
		Floats("scores", []int{4, 4}, 0, 0, 1, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 5).
		Ints("one", []int{1}, 1).Output("logits", -1, -1, 4).
		Node("Gather", []string{"scores", "input_ids"}, []string{"g"}).
		Node("Unsqueeze", []string{"g", "one"}, []string{"u"}).
		Node("Concat", []string{"past_key_values.0.key", "u"}, []string{"c"}, onnxtest.Attribute("axis", 2)).
		Node("Squeeze", []string{"c", "one"}, []string{"logits"})
	m, err := Open(folder(t, b, nil), Causal)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.CausalLogProbs(context.Background(), []string{"movie movie"})
	if err != nil {
		t.Fatal(err)
	}
	ln, e := math.Log, math.Exp
	want := []float64{2 - ln(2+e(1)+e(2)), 5 - ln(3+e(5)), -ln(3 + e(5))}
	for i, w := range want {
		if math.Abs(got[0][i]-w) > 1e-6 {
			t.Errorf("piece %d: %v, want %v", i, got[0][i], w)
		}
	}
	if len(got[0]) != len(want) {
		t.Errorf("%d pieces", len(got[0]))
	}
}

func TestFolderErrors(t *testing.T) {
	for want, dir := range map[string]string{
		"no vectors, scores of pieces or scores of classes": folder(t, embedding().Output("z", -1).
			Ints("flat", []int{1}, -1).Node("Reshape", []string{"v", "flat"}, []string{"z"}), nil),
		`input "pixels" of model.onnx is not supported`: folder(t, embedding().Input("pixels", onnxtest.Float, 1).
			Output("h", -1, -1, 2).Node("Add", []string{"v", "pixels"}, []string{"h"}), nil),
		"operations that are not supported: Einsum, Loop": folder(t, embedding().Output("h", -1, -1, 2).
			Node("Loop", []string{"v"}, []string{"l"}).Node("Einsum", []string{"l"}, []string{"h"}), nil),
		"logits of 2 classes for each of 4 pieces": folder(t, embedding().Output("logits", -1, -1, 2).
			Node("Identity", []string{"v"}, []string{"logits"}), nil),
		"config.json: ": folder(t, embedding().Output("v", -1, -1, 2), map[string]string{"config.json": "{"}),
		"which is the vocabulary of Unigram": folder(t, embedding(), map[string]string{
			"tokenizer.json": `{"model":{"type":"BPE","vocab":[["a",-1]],"merges":[]}}`}),
	} {
		if _, err := Open(dir, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
