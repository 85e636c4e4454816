// Package transformer uses language models and encoders that a folder holds as
// model.onnx and tokenizer.json, the layout of exports of sentence-transformers,
// BERT and GPT-2: sentence vectors, token vectors, the probability of a word in
// its context, and of a text piece by piece.
//
// What a model serves for is found by what its graph does, not by its name.
// The same text gives the same numbers whatever is asked for together with it
// and on any number of processors: texts of equal length run together without
// padding, and the arithmetic of a row does not depend on other rows. Numbers
// differ in the last digits between instruction sets.
//
// White space is collapsed before tokenising, because that is what encoders
// were trained on.
package transformer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mldpbench/models/onnx"
	"mldpbench/models/tokenizer"
)

// Task is what a model serves for.
type Task string

const (
	// Encoder gives vectors of sentences or of tokens.
	Encoder Task = "encoder"
	// Masked gives the probability of a piece from the pieces on both sides.
	Masked Task = "masked"
	// Causal gives the probability of a piece from those before it.
	Causal Task = "causal"
	// Classifier gives a score per class.
	Classifier Task = "classifier"
)

// Model is a model ready to use. It is immutable and safe for concurrent use;
// one call uses up to GOMAXPROCS processors.
type Model struct {
	dir      string
	name     string
	config   config
	graph    *onnx.Model
	tokens   *tokenizer.Tokenizer
	task     Task
	output   string // of the graph
	perToken source // where vectors of tokens come from; none without an output
	sentence bool   // the output is one vector per text
	classes  int    // pieces, classes or dimensions: the last size of the output
	mask     int    // id of the mask token, −1 without
	limit    int
	before   []int // ids put around a text
	after    []int
}

// batchTokens is how many tokens run together: with more, intermediate results
// leave the second cache.
const batchTokens = 256

// Open reads the model in a folder, which may be a link. With task "" it is the
// one that the model serves for.
//
// Used, where they are there: config.json, tokenizer_config.json and
// sentence_bert_config.json (limit of length: the smallest that is stated, or
// else 512), 1_Pooling/config.json (mean or first token), and weights in files
// next to model.onnx.
func Open(dir string, task Task) (*Model, error) {
	m, err := open(dir)
	if err == nil && task != "" && task != m.task {
		err = fmt.Errorf("it is a model of the kind %s, not %s", m.task, task)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return m, nil
}

func open(dir string) (*Model, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &Model{dir: dir, name: filepath.Base(abs), mask: -1}
	if m.tokens, err = tokenizer.Open(dir); err != nil {
		return nil, err
	}
	if m.graph, err = onnx.Open(filepath.Join(dir, "model.onnx")); err != nil {
		return nil, err
	}
	if m.config, err = readConfig(dir); err != nil {
		return nil, err
	}
	if m.limit, err = m.config.limit(m.tokens.Limit); err != nil {
		return nil, err
	}
	m.before, m.after = m.tokens.Before, m.tokens.After
	for _, token := range []string{"[MASK]", "<mask>"} {
		if id, ok := m.tokens.Special[token]; ok {
			m.mask = id
		}
	}
	return m, m.find()
}

// Name returns the name of the folder.
func (m *Model) Name() string { return m.name }

// Task returns what the model serves for.
func (m *Model) Task() Task { return m.task }

// Fingerprint returns a hash of the files that decide on the model's results.
func (m *Model) Fingerprint() (string, error) {
	h := sha256.New()
	for _, name := range []string{"model.onnx", "model.onnx_data", "model.onnx.data", "tokenizer.json", "config.json",
		"tokenizer_config.json", "sentence_bert_config.json", filepath.Join("1_Pooling", "config.json")} {
		data, err := os.ReadFile(filepath.Join(m.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(name), len(data)) // a hash never fails
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// encode returns the ids of a text, cut to the limit.
func (m *Model) encode(text string) []int {
	return m.tokens.Encode(strings.Join(strings.Fields(text), " "), m.limit)
}

// job is one sequence of pieces; rows are the positions whose outputs are
// wanted, nil for all.
type job struct {
	ids  []int
	rows []int
}

// source is what of a graph is wanted.
type source struct {
	output string
	hidden bool // see onnx.Request
}

// run gives the output for each job to done, which several goroutines call at
// once, for different jobs. What done gets of a job is one row per position
// wanted, or one row for an output per text; the numbers are its own.
func (m *Model) run(ctx context.Context, jobs []job, from source, done func(i int, rows [][]float32) error) error {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	key := func(i int) (int, int) {
		chosen := 0
		if jobs[i].rows != nil {
			chosen = 1
		}
		return len(jobs[i].ids), chosen
	}
	slices.SortStableFunc(order, func(a, b int) int {
		na, ca := key(a)
		nb, cb := key(b)
		return cmp.Or(cmp.Compare(nb, na), cmp.Compare(ca, cb)) // long ones first: the last batch is short
	})
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for len(order) > 0 && running.Err() == nil {
		length, chosen := key(order[0])
		n := 1
		for n < len(order) && (n+1)*length <= batchTokens {
			if l, c := key(order[n]); l != length || c != chosen {
				break
			}
			n++
		}
		batch := order[:n]
		order = order[n:]
		group.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			return m.batch(jobs, batch, from, done)
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("model %s: %w", m.name, err)
	}
	return ctx.Err()
}

// batch runs sequences of equal length.
func (m *Model) batch(jobs []job, batch []int, from source, done func(int, [][]float32) error) error {
	length := len(jobs[batch[0]].ids)
	inputs, err := m.inputs(jobs, batch)
	if err != nil {
		return err
	}
	want := onnx.Request{Output: from.output, Hidden: from.hidden}
	if jobs[batch[0]].rows != nil {
		want.Rows = []int{}
		for k, i := range batch {
			for _, row := range jobs[i].rows {
				want.Rows = append(want.Rows, k*length+row)
			}
		}
	}
	out, err := m.graph.Run(inputs, want)
	if err != nil {
		return err
	}
	if out.Type != onnx.Float || len(out.Shape) < 2 {
		return fmt.Errorf("output %q has shape %v", from.output, out.Shape)
	}
	width, at := out.Shape[len(out.Shape)-1], 0
	for _, i := range batch {
		count := length
		if jobs[i].rows != nil {
			count = len(jobs[i].rows)
		} else if len(out.Shape) == 2 {
			count = 1
		}
		rows := make([][]float32, count)
		for r := range rows {
			rows[r] = out.F[at : at+width : at+width]
			at += width
		}
		if err := done(i, rows); err != nil {
			return err
		}
	}
	return nil
}

// inputs makes what the graph reads for sequences of equal length.
func (m *Model) inputs(jobs []job, batch []int) (map[string]*onnx.Tensor, error) {
	length := len(jobs[batch[0]].ids)
	fill := func(f func(i, at int) int64) *onnx.Tensor {
		numbers := make([]int64, 0, len(batch)*length)
		for _, i := range batch {
			for at := range length {
				numbers = append(numbers, f(i, at))
			}
		}
		return onnx.NewInt(numbers, len(batch), length)
	}
	inputs := map[string]*onnx.Tensor{}
	for _, info := range m.graph.Inputs {
		switch name := info.Name; {
		case name == "input_ids":
			inputs[name] = fill(func(i, at int) int64 { return int64(jobs[i].ids[at]) })
		case name == "attention_mask":
			inputs[name] = fill(func(int, int) int64 { return 1 })
		case name == "token_type_ids":
			inputs[name] = fill(func(int, int) int64 { return 0 })
		case name == "position_ids":
			inputs[name] = fill(func(_, at int) int64 { return int64(at) })
		case strings.HasPrefix(name, "past_key_values.") && info.Type == onnx.Float && len(info.Shape) == 4:
			shape := slices.Clone(info.Shape) // [batch, heads, length of the past, dimensions]
			shape[0], shape[2] = len(batch), 0
			inputs[name] = &onnx.Tensor{Type: onnx.Float, Shape: shape}
		default:
			return nil, fmt.Errorf("input %q of model.onnx is not supported", name)
		}
	}
	return inputs, nil
}

// HasTokenVectors reports whether the graph gives a vector per token.
func (m *Model) HasTokenVectors() bool { return m.perToken.output != "" }

// Encode returns one vector per sentence. An encoder that gives vectors of
// tokens only is pooled as its folder says: the mean over all tokens, or the
// first. A text without any token gets the zero vector.
func (m *Model) Encode(ctx context.Context, sentences []string) ([][]float32, error) {
	if m.task != Encoder {
		return nil, fmt.Errorf("model %s: a model of the kind %s has no vectors of sentences", m.name, m.task)
	}
	vectors := make([][]float32, len(sentences))
	err := m.each(ctx, sentences, source{output: m.output}, func(i int, rows [][]float32) error {
		switch {
		case len(rows) == 0:
			vectors[i] = make([]float32, m.classes)
		case m.sentence || m.config.pooling.CLS:
			vectors[i] = slices.Clone(rows[0])
		default:
			vectors[i] = mean(rows)
		}
		if !finite(vectors[i]) {
			return fmt.Errorf("the vector of %.60q is not finite", sentences[i])
		}
		return nil
	})
	return vectors, err
}

// each runs texts and gives the rows of each to done; none for a text without
// tokens.
func (m *Model) each(ctx context.Context, texts []string, from source,
	done func(i int, rows [][]float32) error) error {
	var jobs []job
	var index []int
	for i, s := range texts {
		ids := m.encode(s)
		if len(ids) == 0 {
			if err := done(i, nil); err != nil {
				return err
			}
			continue
		}
		jobs, index = append(jobs, job{ids: ids}), append(index, i)
	}
	return m.run(ctx, jobs, from, func(k int, rows [][]float32) error { return done(index[k], rows) })
}

func mean(rows [][]float32) []float32 {
	sum := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k, x := range row {
			sum[k] += float64(x)
		}
	}
	out := make([]float32, len(sum))
	for k, x := range sum {
		out[k] = float32(x / float64(len(rows)))
	}
	return out
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
}

// TokenVectors returns the vectors of each text's pieces, without those of the
// special tokens that the tokenizer puts around a text: of an encoder its
// output, of a language model what its last product takes. Texts are cut to
// the limit.
func (m *Model) TokenVectors(ctx context.Context, texts []string) ([][][]float32, error) {
	if !m.HasTokenVectors() {
		return nil, fmt.Errorf("model %s gives no vectors of tokens", m.name)
	}
	vectors := make([][][]float32, len(texts))
	err := m.each(ctx, texts, m.perToken, func(i int, rows [][]float32) error {
		if len(rows) <= len(m.before)+len(m.after) {
			return nil
		}
		vectors[i] = slices.Clone(rows[len(m.before) : len(rows)-len(m.after)])
		for _, v := range vectors[i] {
			if !finite(v) {
				return fmt.Errorf("a vector of %.60q is not finite", texts[i])
			}
		}
		return nil
	})
	return vectors, err
}
