package attack

import (
	"context"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// Lexicon assigns ids to words: those of a mechanism keep the mechanism's ids,
// others follow in order of first occurrence. It is not safe for concurrent use
// while new words are added.
type Lexicon struct {
	vocabulary *embeddings.Vocabulary
	more       map[string]int32
	words      []string
}

// NewLexicon starts with the words of a mechanism.
func NewLexicon(v *embeddings.Vocabulary) *Lexicon {
	return &Lexicon{vocabulary: v, more: map[string]int32{}}
}

// IDs returns the ids of the words of a text and adds new words.
func (l *Lexicon) IDs(tokens []string) []int32 {
	out := make([]int32, len(tokens))
	for i, w := range tokens {
		if id := l.vocabulary.ID(w); id != embeddings.Unknown {
			out[i] = int32(id)
			continue
		}
		id, met := l.more[w]
		if !met {
			id = int32(l.vocabulary.Len() + len(l.words))
			l.more[w] = id
			l.words = append(l.words, w)
		}
		out[i] = id
	}
	return out
}

// Documents returns documents of a data set with their texts and private labels,
// and adds new words.
func (l *Lexicon) Documents(all []datasets.Document) []Document {
	return list.Map(all, func(d datasets.Document) Document {
		return Document{Words: l.IDs(d.Tokens), Private: d.Private, User: d.User, Text: d.Text}
	})
}

// Word returns the word of an id.
func (l *Lexicon) Word(id int32) string {
	if n := l.vocabulary.Len(); int(id) >= n {
		return l.words[int(id)-n]
	}
	return l.vocabulary.Word(embeddings.WordID(id))
}

// Tokens returns the words of ids.
func (l *Lexicon) Tokens(ids []int32) []string { return list.Map(ids, l.Word) }

// Embedding returns the vectors of the space, and zeros for all other words
// added so far.
func (l *Lexicon) Embedding(s *embeddings.Space) models.Embedding {
	vectors := make([]float32, (l.vocabulary.Len()+len(l.words))*s.Dimension)
	copy(vectors, s.Vectors)
	return models.Embedding{Dimension: s.Dimension, Vectors: vectors}
}

// Attacked fills in the fields of a situation that depend on the mechanism: its
// vocabulary, its releases, what it writes, its exact channel if it has one that
// is cheap enough. Ids are those of the lexicon,
// which must already have all words of the documents.
func Attacked(s *Situation, m *mechanisms.Mechanism, policy mechanisms.Policy, l *Lexicon) {
	workers := max(1, s.Workers)
	s.Words, s.Spelling, s.Write = m.Vocabulary().Len(), l.Word, Written(m, policy, workers)
	s.Release = func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		texts := list.Map(documents, l.Tokens)
		noisy, err := mechanisms.PrivatizeText(ctx, m, texts, mechanisms.TextOptions{Policy: policy, Seed: seed,
			Workers: workers})
		if err != nil {
			return nil, err
		}
		return list.Map(noisy, l.IDs), nil
	}
	s.Channel = ExactChannel(m, s.Words)
}

// ExactChannel is the channel of a mechanism for the first words of its
// vocabulary; nil where it has no closed form.
func ExactChannel(m *mechanisms.Mechanism, inputs int) *metrics.Channel {
	if !m.Closed() {
		return nil
	}
	return &metrics.Channel{Inputs: inputs, Outputs: m.Vocabulary().Len(), Rows: func(x, n int) ([][]float64, error) {
		return m.Rows(mechanisms.WordID(x), n)
	}}
}
