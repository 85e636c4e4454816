package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/models/onnx"
)

// defaultLimit is used for models that state no limit of their own.
const defaultLimit = 512

// config is what we read of the files next to the model.
type config struct {
	model struct {
		ModelType             string  `json:"model_type"`
		MaxPositionEmbeddings float64 `json:"max_position_embeddings"`
		BOS                   *int    `json:"bos_token_id"`
		MaskToken             *int    `json:"mask_token_id"`
	}
	tokenizer struct {
		ModelMaxLength float64 `json:"model_max_length"` // 1e30 means none
	}
	sentence struct {
		MaxSeqLength float64 `json:"max_seq_length"`
	}
	pooling struct {
		CLS         bool `json:"pooling_mode_cls_token"`
		Max         bool `json:"pooling_mode_max_tokens"`
		SqrtLength  bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted    bool `json:"pooling_mode_weightedmean_tokens"`
		LastToken   bool `json:"pooling_mode_lasttoken"`
		MeanOfToken bool `json:"pooling_mode_mean_tokens"`
	}
}

func readConfig(dir string) (c config, err error) {
	for _, f := range []struct {
		name string
		to   any
	}{
		{"config.json", &c.model}, {"tokenizer_config.json", &c.tokenizer}, {"sentence_bert_config.json", &c.sentence},
		{filepath.Join("1_Pooling", "config.json"), &c.pooling},
	} {
		data, err := os.ReadFile(filepath.Join(dir, f.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, f.to)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", filepath.ToSlash(f.name), err)
		}
	}
	return c, nil
}

// limit returns the number of ids a text may have: the smallest limit that any
// file states. stated is that of tokenizer.json, 0 without.
func (c *config) limit(stated int) (int, error) {
	positions := c.model.MaxPositionEmbeddings
	switch c.model.ModelType {
	case "roberta", "xlm-roberta", "camembert", "mpnet":
		positions -= 2 // they start after the padding id, 1
	}
	limit := 0.0
	for _, n := range []float64{c.tokenizer.ModelMaxLength, positions, c.sentence.MaxSeqLength, float64(stated)} {
		if n >= 1 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	if limit == 0 || limit > 1<<16 {
		return defaultLimit, nil
	}
	if limit < 2 {
		return 0, fmt.Errorf("a limit of %v pieces", limit)
	}
	return int(limit), nil
}

// find decides what the model serves for, from the shape of its outputs and,
// for a language model, from whether a later piece changes what is said of an
// earlier one.
func (m *Model) find() error {
	if m.mask < 0 && m.config.model.MaskToken != nil {
		m.mask = *m.config.model.MaskToken
	}
	// A text whose pieces exist in every vocabulary of English.
	around := len(m.before) + len(m.after)
	ids := m.tokens.Encode("the movie was really good and the bank was not", max(m.limit, around+4))
	if len(ids) < around+2 {
		return errors.New("tokenizer.json finds no tokens in an English sentence")
	}
	outputs := m.graph.Outputs
	pick := func(rank int, names ...string) bool {
		for _, o := range outputs {
			if len(o.Shape) == rank && (names == nil || slices.Contains(names, o.Name)) {
				m.output = o.Name
				return true
			}
		}
		return false
	}
	switch {
	case pick(2, "sentence_embedding"), len(outputs) == 1 && outputs[0].Name != "logits" && pick(2):
		m.task, m.sentence = Encoder, true
	case pick(2, "logits"):
		m.task = Classifier
	case pick(3, "logits"), pick(3):
		m.task = Encoder // or a language model, see below
	default:
		names := list.Map(outputs, func(o onnx.Info) string { return fmt.Sprintf("%s %v", o.Name, o.Shape) })
		return fmt.Errorf("model.onnx: no vectors, scores of pieces or scores of classes among the outputs %s",
			strings.Join(names, ", "))
	}
	first, err := m.probe(ids)
	if err != nil {
		return err
	}
	m.classes = len(first[0])
	for _, o := range outputs {
		if len(o.Shape) == 3 && o.Name != "logits" && m.perToken.output == "" {
			m.perToken.output = o.Name
		}
	}
	if m.sentence || m.task == Classifier {
		return nil
	}
	if m.output != "logits" || m.classes < m.tokens.Size {
		if m.output == "logits" {
			return fmt.Errorf("model.onnx: logits of %d classes for each of %d pieces: not supported", m.classes,
				m.tokens.Size)
		}
		p := m.config.pooling
		if p.Max || p.SqrtLength || p.Weighted || p.LastToken || p.CLS && p.MeanOfToken {
			return errors.New("1_Pooling/config.json: only mean pooling and CLS pooling are supported")
		}
		return nil
	}
	// The vectors of a language model's tokens are what its last product takes.
	if m.perToken.output == "" && m.graph.HasHidden(m.output) {
		m.perToken = source{m.output, true}
	}
	return m.direction(ids, first)
}

// direction tells a causal model from a masked one.
func (m *Model) direction(ids []int, first [][]float32) error {
	last := len(ids) - len(m.after) - 1
	changed := slices.Clone(ids)
	changed[last] = ids[len(m.before)]
	if changed[last] == ids[last] {
		changed[last] = ids[len(m.before)+1]
	}
	second, err := m.probe(changed)
	if err != nil {
		return err
	}
	m.task = Causal
	for i := range last {
		for k, x := range first[i] {
			if math.Abs(float64(x-second[i][k])) > 1e-4*(1+math.Abs(float64(x))) {
				m.task = Masked
			}
		}
	}
	if m.task == Masked && (m.mask < 0 || m.mask >= m.classes) {
		return errors.New("a masked language model without a mask token in tokenizer.json or config.json")
	}
	return nil
}

// probe returns the output for one sequence.
func (m *Model) probe(ids []int) (rows [][]float32, err error) {
	err = m.batch([]job{{ids: ids}}, []int{0}, source{output: m.output}, func(_ int, r [][]float32) error {
		rows = r
		return nil
	})
	return rows, err
}

// Describe reads a folder and says in lines of text what it can serve for; the
// error says why it can't.
func Describe(dir string) (string, error) {
	m, err := Open(dir, "")
	if err != nil {
		return "", err
	}
	serves := map[Task]string{
		Encoder:    "encoder: vectors of %d dimensions",
		Masked:     "masked language model: a word from the words around it, %d pieces to choose from",
		Causal:     "causal language model: perplexity, %d pieces to choose from",
		Classifier: "classifier of %d classes",
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  serves as  %s (output %s)\n", m.name, fmt.Sprintf(serves[m.task], m.classes), m.output)
	fmt.Fprintf(&b, "  tokenizer  %s, %d pieces; texts are cut to %d\n", m.tokens.Kind, m.tokens.Size, m.limit)
	fmt.Fprintf(&b, "  model      %d weights, %d operations\n", m.graph.Weights, m.graph.Operations)
	if m.HasTokenVectors() {
		b.WriteString("  also       vectors of tokens (BERTScore)\n")
	}
	return b.String(), nil
}
