package mechanisms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// AnyDocuments is the metric of a guarantee between any two documents: 1 between two
// that differ, whatever their words and lengths.
const AnyDocuments = "documents"

// BetweenDocuments is the guarantee of ε between any two documents.
func BetweenDocuments(epsilon float64, reason string) Guarantee {
	return Guarantee{
		Metric:  AnyDocuments,
		Epsilon: epsilon,
		Reason:  reason,
	}
}

// Documents describes a mechanism of whole documents at one ε: text in, text out. It has
// LogRows and Outputs, or Draw, or all of them.
type Documents struct {
	// Outputs are all texts that can be published, whatever is read; nil where nobody can
	// list them.
	Outputs []string
	// LogRows returns ln Pr[y | text] of all outputs y for each text; nil where they are
	// not known.
	LogRows func(ctx context.Context, texts []string) ([][]float64, error)
	// Draw returns what is published of each text. All randomness is that of the seed of
	// the text. nil draws from LogRows.
	Draw func(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error)
}

// Fingerprint identifies the outputs, "" where they are not listed.
func (d *Documents) Fingerprint() string {
	if d.Outputs == nil {
		return ""
	}
	hash := sha256.New()
	for _, text := range d.Outputs {
		fmt.Fprintf(hash, "%d:%s\n", len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// rowsTogether bounds the rows that are in memory at once.
const rowsTogether = 64

// DrawRows draws an output for each text from LogRows. Equal texts that follow each other share
// a row.
func (d *Documents) DrawRows(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
	out := make([]string, 0, len(texts))
	for len(texts) > 0 {
		n := min(rowsTogether, len(texts))
		distinct := slices.Compact(slices.Clone(texts[:n]))
		rows, err := d.LogRows(ctx, distinct)
		if err != nil {
			return nil, err
		}
		for i, text := range texts[:n] {
			if text != distinct[0] {
				distinct = distinct[1:]
				rows = rows[1:]
			}
			out = append(out, d.Outputs[DrawLog(rows[0], seeds[i].Rand().Float64())])
		}
		texts = texts[n:]
		seeds = seeds[n:]
	}
	return out, nil
}

// DrawLog returns the place of a row of log-probabilities at which their sum from the
// start first exceeds a share, in [0, 1), of the sum of all.
func DrawLog(row []float64, share float64) int {
	sum := 0.0
	for _, x := range row {
		sum += math.Exp(x)
	}
	rest := share * sum
	last := 0 // of those that are possible: rounding may leave a rest
	for y, x := range row {
		p := math.Exp(x)
		if p == 0 {
			continue
		}
		last = y
		rest -= p
		if rest < 0 {
			break
		}
	}
	return last
}

// ByDocuments makes a mechanism of whole documents, at the ε of s. Where a text is a
// list of tokens, as in a study, it reads them joined by spaces, and Environment.Tokens
// says which tokens an output is.
func ByDocuments(env Environment, s Settings, g Guarantee, d Documents) (*Mechanism, error) {
	if d.Draw == nil && (d.LogRows == nil || len(d.Outputs) == 0) {
		return nil, errors.New("a mechanism of documents needs Draw, or LogRows and Outputs")
	}
	if d.Draw == nil {
		d.Draw = d.DrawRows
	}
	return Rewriting(documentText{d, s, g, env.tokens}, env.Space)
}

// tokens are those of a text as the environment reads it.
func (env Environment) tokens(text string) []string {
	if env.Tokens == nil {
		return strings.Fields(text)
	}
	return env.Tokens(text)
}

// Documents returns how the mechanism privatises whole documents, nil of one that
// replaces words.
func (m *Mechanism) Documents() *Documents {
	d, ok := m.text.(documentText)
	if !ok {
		return nil
	}
	return &d.Documents
}

// documentText is the Rewriter of a mechanism of documents.
type documentText struct {
	Documents
	settings  Settings
	guarantee Guarantee
	read      func(text string) []string // the tokens of an output
}

func (d documentText) Settings() Settings   { return d.settings }
func (d documentText) Guarantee() Guarantee { return d.guarantee }
func (d documentText) Aligned() bool        { return false }
func (d documentText) Repeatable() bool     { return true }

// Rewrite draws a text for each document, empty ones too: that one was empty must not show.
func (d documentText) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	texts := make([]string, len(documents))
	for i, tokens := range documents {
		texts[i] = strings.Join(tokens, " ")
	}
	after, err := d.Draw(ctx, texts, seeds)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(after))
	for i, text := range after {
		out[i] = slices.Clone(d.read(text))
	}
	return out, nil
}

// wholeDocuments is a documentText whose documents are one token each, the text as it
// is.
type wholeDocuments struct{ documentText }

func (d wholeDocuments) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	texts := make([]string, len(documents))
	for i, text := range documents {
		texts[i] = text[0]
	}
	after, err := d.Draw(ctx, texts, seeds)
	out := make([][]string, len(after))
	for i, text := range after {
		out[i] = []string{text}
	}
	return out, err
}

// PrivatizeDocuments privatises texts, as they are, by a mechanism of documents; see
// PrivatizeText. Those that are empty are replaced too.
func PrivatizeDocuments(ctx context.Context, m *Mechanism, texts []string, o TextOptions) ([]string, error) {
	o = o.withDefaults()
	if err := o.check(m, len(texts)); err != nil {
		return nil, err
	}
	d, ok := m.text.(documentText)
	if !ok {
		return nil, fmt.Errorf("%s replaces words: it takes no whole texts", m.settings.Mechanism)
	}
	documents := make([][]string, len(texts))
	for i, text := range texts {
		documents[i] = []string{text}
	}
	private, err := Rewrite(ctx, wholeDocuments{d}, documents, o.seedOf, o.Workers)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(private))
	for i, text := range private {
		out[i] = text[0]
	}
	return out, nil
}

// CheckTakesWords returns an error for a mechanism that rewrites whole texts.
func (d Definition) CheckTakesWords() error {
	if !d.Documents {
		return nil
	}
	return check.Wrong("%s rewrites whole texts: it takes no single words", d.Name)
}
