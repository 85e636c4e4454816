package attack

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/internal/kernel"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms/channel"
	"mldpbench/models"
	"mldpbench/stream"
)

// Target is one mechanism at one ε, and what attackers know.
type Target struct {
	Corpus   *Corpus
	Words    Words
	Releases *Releases
	// Channel is the exact channel of the mechanism over its vocabulary, inputs
	// and outputs; nil where there is none. Attackers then learn it from
	// Options.LearnDraws draws of every word.
	Channel *channel.Channel
	Masked  MaskedWords // a masked language model over the words; nil for none
	Options Options
	Workers int         // 0 means one
	Seed    stream.Seed // of what the attacker draws on this target: Run derives it
}

// Corpus is the text that is attacked and the text that attackers know, as ids. It is the
// same for all mechanisms over one vocabulary.
type Corpus struct {
	Train, Validation, Test []Document
	// Shadow is public text of the same kind that is in no split: the attacker's
	// knowledge of the language. The more the better; leave out what nearly repeats
	// a document of a split, see metrics.Unrelated.
	Shadow        [][]int32
	Public        []Document // such text with private labels, to train on
	PrivateLabels int        // how many there are
	// Seed is of all that does not depend on the mechanism: training on plain text, samples.
	Seed stream.Seed
	// Cache keeps what attackers find in plain text, so a corpus is for targets of the
	// same words, options and language model.
	Cache memo.Memo
}

// Document is one text as ids: those in [0, Words.Count) are words of the
// mechanism, others are words outside its vocabulary.
type Document struct {
	Words   []int32
	Private int    // the private label
	User    string // "" if unknown
	Text    string // as in the source, for attackers of what is written; "" if unknown
}

// Words are those that the ids of documents stand for.
type Words struct {
	Count     int                   // of the mechanism's vocabulary, which has the first ids
	Spelling  func(id int32) string // the word of any id
	Embedding models.Embedding      // with a vector for every id
}

// MaskedWords is a masked language model over whole words. It returns, for each
// position of a text, ln p of every word of the mechanism as the word there, given
// all other words; the word at the position is not looked at. Logarithms need not be
// those of a distribution over the words; a word that the model cannot spell has
// −Inf.
type MaskedWords func(ctx context.Context, words []string, positions []int) ([][]float32, error)

// Split names a part of a corpus. It labels the noise of its releases.
type Split string

// Splits of a corpus; Public stands for the public text among them.
const (
	Train      Split = "train"
	Validation Split = "validation"
	Test       Split = "test"
	Public     Split = "public"
)

// Documents are those of a split.
func (c *Corpus) Documents(s Split) []Document {
	switch s {
	case Train:
		return c.Train
	case Validation:
		return c.Validation
	case Test:
		return c.Test
	case Public:
		return c.Public
	}
	return nil
}

// WordsOf returns the words of documents, without copying.
func WordsOf(documents []Document) [][]int32 {
	return list.Map(documents, func(d Document) []int32 { return d.Words })
}

// TextsOf returns documents as they are in the source.
func TextsOf(documents []Document) []string {
	return list.Map(documents, func(d Document) string { return d.Text })
}

// Known reports whether an id is a word of the mechanism.
func (w Words) Known(id int32) bool { return id >= 0 && int(id) < w.Count }

// HaveVectors reports whether there is a vector for every word of the mechanism.
func (w Words) HaveVectors() bool { return w.Embedding.Len() >= w.Count }

// Vector is that of any id of the documents.
func (w Words) Vector(id int32) []float32 {
	d := w.Embedding.Dimension
	return w.Embedding.Vectors[int(id)*d : (int(id)+1)*d]
}

// Distances are those of all words of the mechanism from a word.
func (w Words) Distances(from int32) []float64 {
	ids := make([]uint32, w.Count)
	for x := range ids {
		ids[x] = uint32(x)
	}
	out := make([]float64, w.Count)
	kernel.DistancesTo(out, w.Vector(from), w.Embedding.Vectors, ids)
	return out
}

// Has reports whether a target has what a need names.
func (t *Target) Has(n Need) bool {
	switch n {
	case NeedsPrivate:
		return t.Corpus.PrivateLabels >= 2
	case NeedsShadow:
		return len(t.Corpus.Shadow) > 0
	case NeedsPublic:
		return len(t.Corpus.Public) > 0
	case NeedsWriter:
		return t.Releases.Texts != nil &&
			slices.ContainsFunc(t.Corpus.Test, func(d Document) bool { return d.Text != "" })
	case NeedsModel:
		return t.Masked != nil
	}
	return false
}

// Parallel calls f for 0 … n−1, as many at a time as there are workers. A panic of f is
// its error.
func (t *Target) Parallel(ctx context.Context, n int, f func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, t.Workers))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return check.Panics(func() error { return f(i) })
		})
	}
	return g.Wait()
}
