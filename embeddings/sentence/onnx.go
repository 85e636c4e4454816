package sentence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/go-huggingface/tokenizers/api"
	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/backends"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"
)

const (
	// batchSize is the number of rows of every run; spare rows are padding.
	// Equal shapes give equal arithmetic, so a sentence's vector does not
	// depend on the other sentences of its batch.
	batchSize = 4
	// bucketStep rounds sequence lengths up, which bounds the number of shapes
	// that are compiled and kept.
	bucketStep = 16
	// defaultLimit is used for models that state no limit of their own.
	defaultLimit = 512
)

// ONNX is a sentence encoder read from a folder and run in pure Go by hugot.
type ONNX struct {
	name     string
	session  *hugot.Session
	pipeline *pipelines.FeatureExtractionPipeline
	tokenize func(sentence string) []uint32
	output   int  // index of the output in use
	first    bool // use the first token vector ([CLS]), not the mean

	mu sync.Mutex // one run at a time: a run uses all processors
}

// Open reads the encoder in dir: model.onnx and tokenizer.json, and, where the
// folder has them, config.json, tokenizer_config.json, sentence_bert_config.json
// and 1_Pooling/config.json (the layout of sentence-transformers).
//
// Unigram models are tokenised by our own exact Viterbi search, because hugot's
// ignores the scores. WordPiece and byte-level BPE models go through hugot's
// tokenizer. It splits byte-level BPE at spaces only, not by GPT-2's pattern;
// merge tables learned under that pattern hold no merge across it, so the ids
// are the same.
//
// An output called sentence_embedding, or one with a vector per sentence as the
// only output, is used unchanged. Otherwise token vectors are averaged over the
// real tokens, or the first is taken where 1_Pooling/config.json says so. White
// space is collapsed, and sentences are cut to the smallest limit that any of
// the files states. Open then checks that the encoder places two sentences with
// the same meaning closer together than two with different meanings. Call Close
// when done.
func Open(ctx context.Context, dir string) (_ *ONNX, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	e := &ONNX{name: filepath.Base(abs)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("sentence encoder %s: %w", dir, err), e.Close())
		}
	}()
	// The library panics on some models that it cannot read.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("model.onnx cannot be read: %v", p)
		}
	}()
	if info, err := os.Stat(filepath.Join(dir, "model.onnx")); err != nil {
		return nil, err
	} else if info.Size() == 0 {
		return nil, errors.New("model.onnx is empty")
	}
	var tokens tokenizerFile
	if err := readJSON(filepath.Join(dir, "tokenizer.json"), &tokens); err != nil {
		return nil, err
	}
	if tokens.Model.Type == "" || len(tokens.Model.Vocab) == 0 {
		return nil, errors.New("tokenizer.json: no model with a vocabulary in it")
	}
	limit, err := lengthLimit(dir, &tokens)
	if err != nil {
		return nil, err
	}
	var buckets []int
	for n := bucketStep; n < limit+bucketStep; n += bucketStep {
		buckets = append(buckets, n)
	}
	// The session must outlive ctx, which ends with the caller's set-up.
	e.session, err = hugot.NewGoSession(context.WithoutCancel(ctx),
		options.WithGoMLXBatchBuckets([]int{batchSize}), options.WithGoMLXSequenceBuckets(buckets))
	if err != nil {
		return nil, err
	}
	e.pipeline, err = hugot.NewPipeline(e.session, hugot.FeatureExtractionConfig{ModelPath: dir, Name: "sentence",
		OnnxFilename: "model.onnx"})
	if err != nil {
		return nil, err
	}
	if tokens.Model.Type == "Unigram" {
		u, err := newUnigram(&tokens)
		if err != nil {
			return nil, fmt.Errorf("tokenizer.json: %w", err)
		}
		e.tokenize = func(s string) []uint32 { return u.encode(s, limit) }
	} else {
		e.tokenize, err = hugotTokenizer(e.pipeline.Model.Tokenizer.GoTokenizer.Tokenizer, limit)
		if err != nil {
			return nil, err
		}
	}
	if err := e.chooseOutput(dir); err != nil {
		return nil, err
	}
	return e, e.selfTest(context.WithoutCancel(ctx))
}

// known holds two sentences with the same meaning and one with a different
// meaning.
var known = [3]string{
	"the movie was really great and i enjoyed it", "i liked this film very much, it was wonderful",
	"stock prices fell sharply after the bank raised interest rates",
}

// selfTest detects models that load but do not work: a tokenizer without words,
// damaged weights.
func (e *ONNX) selfTest(ctx context.Context) error {
	ids := make([][]uint32, len(known))
	for i, s := range known {
		if ids[i] = e.tokenize(s); len(ids[i]) == 0 {
			return fmt.Errorf("self-test: tokenizer.json finds no tokens in %q", s)
		}
	}
	if slices.Equal(ids[0], ids[1]) || slices.Equal(ids[0], ids[2]) {
		return fmt.Errorf("self-test: tokenizer.json gives %q and other sentences the same tokens", known[0])
	}
	vectors, err := e.Encode(ctx, known[:])
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	alike, different := similarity(vectors[0], vectors[1]), similarity(vectors[0], vectors[2])
	if !(alike > different) {
		return fmt.Errorf("self-test: %q is as near to %q (cosine %.3f) as to %q (%.3f): damaged weights, or no "+
			"sentence encoder",
			known[0], known[2], different, known[1], alike)
	}
	return nil
}

// similarity returns the cosine; NaN if a vector is zero.
func similarity(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab += float64(x) * float64(b[i])
		aa += float64(x) * float64(x)
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
}

// Close frees the model.
func (e *ONNX) Close() error {
	if e.session == nil {
		return nil
	}
	return e.session.Destroy()
}

// Name returns the name of the model's folder.
func (e *ONNX) Name() string { return e.name }

// hugotTokenizer wraps hugot's tokenizer, which does not cut sentences: the
// end is cut off before the closing special tokens.
func hugotTokenizer(t api.Tokenizer, limit int) (func(string) []uint32, error) {
	if err := t.With(api.EncodeOptions{AddSpecialTokens: true, IncludeSpecialTokensMask: true}); err != nil {
		return nil, err
	}
	return func(sentence string) []uint32 {
		encoded := t.EncodeWithAnnotations(sentence)
		ids := make([]uint32, len(encoded.IDs))
		for i, id := range encoded.IDs {
			ids[i] = uint32(id)
		}
		if len(ids) <= limit {
			return ids
		}
		closing := len(ids)
		for closing > 0 && len(encoded.SpecialTokensMask) == len(ids) && encoded.SpecialTokensMask[closing-1] == 1 {
			closing--
		}
		suffix := ids[closing:]
		return append(ids[:max(0, limit-len(suffix)):max(0, limit-len(suffix))], suffix...)
	}, nil
}

// lengthLimit returns the number of ids a sentence may have: the smallest limit
// that any file of the model states.
func lengthLimit(dir string, tokens *tokenizerFile) (int, error) {
	var tokenizerConfig struct {
		ModelMaxLength float64 `json:"model_max_length"` // 1e30 means none
	}
	var config struct {
		ModelType             string  `json:"model_type"`
		MaxPositionEmbeddings float64 `json:"max_position_embeddings"`
	}
	var sentenceBert struct {
		MaxSeqLength float64 `json:"max_seq_length"`
	}
	for name, v := range map[string]any{
		"tokenizer_config.json": &tokenizerConfig, "config.json": &config, "sentence_bert_config.json": &sentenceBert,
	} {
		if err := readJSON(filepath.Join(dir, name), v); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	switch config.ModelType {
	case "roberta", "xlm-roberta", "camembert", "mpnet":
		config.MaxPositionEmbeddings -= 2 // positions start after the padding id, 1
	}
	stated := []float64{tokenizerConfig.ModelMaxLength, config.MaxPositionEmbeddings, sentenceBert.MaxSeqLength}
	if tokens.Truncation != nil {
		stated = append(stated, float64(tokens.Truncation.MaxLength))
	}
	limit := 0.0
	for _, n := range stated {
		if n >= 1 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	if limit == 0 || limit > 1<<16 {
		return defaultLimit, nil
	}
	return int(limit), nil
}

func (e *ONNX) chooseOutput(dir string) error {
	var pooling struct {
		CLS         bool `json:"pooling_mode_cls_token"`
		Max         bool `json:"pooling_mode_max_tokens"`
		SqrtLength  bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted    bool `json:"pooling_mode_weightedmean_tokens"`
		LastToken   bool `json:"pooling_mode_lasttoken"`
		MeanOfToken bool `json:"pooling_mode_mean_tokens"`
	}
	err := readJSON(filepath.Join(dir, "1_Pooling", "config.json"), &pooling)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	e.first = pooling.CLS
	outputs := e.pipeline.Model.OutputsMeta
	find := func(want func(backends.InputOutputInfo) bool) bool {
		e.output = slices.IndexFunc(outputs, want)
		return e.output >= 0
	}
	if find(func(o backends.InputOutputInfo) bool { return o.Name == "sentence_embedding" && len(o.Dimensions) == 2 }) {
		return nil
	}
	if len(outputs) == 1 && len(outputs[0].Dimensions) == 2 {
		e.output = 0
		return nil
	}
	if pooling.Max || pooling.SqrtLength || pooling.Weighted || pooling.LastToken || pooling.CLS &&
		pooling.MeanOfToken {
		return fmt.Errorf("1_Pooling/config.json: only mean pooling and CLS pooling are supported")
	}
	if find(func(o backends.InputOutputInfo) bool { return len(o.Dimensions) == 3 }) {
		return nil
	}
	return fmt.Errorf("model.onnx: no sentence_embedding and no token vectors among the outputs %s",
		strings.Join(backends.GetNames(outputs), ", "))
}

// Encode implements Encoder. Sentences without any token get the vector the
// model gives to an empty input, or zero.
func (e *ONNX) Encode(ctx context.Context, sentences []string) ([][]float32, error) {
	type item struct {
		index int
		ids   []uint32
	}
	items := make([]item, len(sentences))
	for i, s := range sentences {
		items[i] = item{i, e.tokenize(strings.Join(strings.Fields(s), " "))}
	}
	bucket := func(it item) int { return (len(it.ids) + bucketStep - 1) / bucketStep }
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(bucket(a), bucket(b)) })
	vectors := make([][]float32, len(sentences))
	for len(items) > 0 {
		n := 1
		for n < len(items) && n < batchSize && bucket(items[n]) == bucket(items[0]) {
			n++
		}
		ids := make([][]uint32, n)
		for i, it := range items[:n] {
			ids[i] = it.ids
		}
		found, err := e.run(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("sentence encoder %s: %w", e.name, err)
		}
		for i, it := range items[:n] {
			if !finite(found[i]) {
				return nil, fmt.Errorf("sentence encoder %s: the vector of %.60q is not finite", e.name,
					sentences[it.index])
			}
			vectors[it.index] = found[i]
		}
		items = items[n:]
	}
	return vectors, nil
}

// run encodes up to batchSize sentences of one bucket.
func (e *ONNX) run(ctx context.Context, ids [][]uint32) (_ [][]float32, err error) {
	batch := backends.NewBatch(len(ids))
	batch.Input = make([]backends.TokenizedInput, len(ids))
	for i, row := range ids {
		mask := make([]uint32, len(row))
		for j := range mask {
			mask[j] = 1
		}
		batch.Input[i] = backends.TokenizedInput{
			TokenIDs: row, TypeIDs: make([]uint32, len(row)), AttentionMask: mask, MaxAttentionIndex: len(row) - 1,
		}
		batch.MaxSequenceLength = max(batch.MaxSequenceLength, len(row), 1)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() { err = errors.Join(err, batch.Destroy()) }()
	if err := backends.CreateInputTensors(batch, e.pipeline.Model, e.pipeline.Runtime); err != nil {
		return nil, err
	}
	if err := backends.RunSessionOnBatch(ctx, batch, e.pipeline.BasePipeline); err != nil {
		return nil, err
	}
	switch out := batch.OutputValues[e.output].(type) {
	case [][]float32:
		return out, nil
	case [][][]float32:
		vectors := make([][]float32, len(out))
		for i, tokens := range out {
			vectors[i] = e.pool(tokens)
		}
		return vectors, nil
	default:
		return nil, fmt.Errorf("output of type %T is not supported", out)
	}
}

// pool combines the vectors of a sentence's real tokens into one.
func (e *ONNX) pool(tokens [][]float32) []float32 {
	if len(tokens) == 0 {
		d := e.pipeline.Model.OutputsMeta[e.output].Dimensions
		return make([]float32, max(0, d[len(d)-1]))
	}
	if e.first {
		return tokens[0]
	}
	sum := make([]float64, len(tokens[0]))
	for _, t := range tokens {
		for k, x := range t {
			sum[k] += float64(x)
		}
	}
	mean := make([]float32, len(sum))
	for k, x := range sum {
		mean[k] = float32(x / float64(len(tokens)))
	}
	return mean
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}
