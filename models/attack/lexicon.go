package attack

import (
	"context"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/channel"
	"mldpbench/mechanisms/privatize"
	"mldpbench/models"
	"mldpbench/stream"
)

// Lexicon assigns ids to words: those of a mechanism keep the mechanism's ids,
// others follow in order of first occurrence. It is not safe for concurrent use
// while new words are added.
type Lexicon struct {
	vocabulary *embeddings.Vocabulary // nil for none
	first      int                    // id after those of the vocabulary
	more       map[string]int32
	words      []string
}

// NewLexicon starts with the words of a mechanism; with none where there is no vocabulary.
func NewLexicon(v *embeddings.Vocabulary) *Lexicon {
	l := &Lexicon{vocabulary: v, more: map[string]int32{}}
	if v != nil {
		l.first = v.Len()
	}
	return l
}

// Len is the number of words.
func (l *Lexicon) Len() int { return l.first + len(l.words) }

// ID returns the id of a word, which is added if it is new.
func (l *Lexicon) ID(word string) int32 {
	if l.vocabulary != nil {
		if id := l.vocabulary.ID(word); id != embeddings.Unknown {
			return int32(id)
		}
	}
	id, met := l.more[word]
	if !met {
		id = int32(l.Len())
		l.more[word] = id
		l.words = append(l.words, word)
	}
	return id
}

// IDs returns the ids of the words of a text and adds new words.
func (l *Lexicon) IDs(tokens []string) []int32 { return list.Map(tokens, l.ID) }

// Documents returns documents of a data set with their texts and private labels,
// and adds new words.
func (l *Lexicon) Documents(all []datasets.Document) []Document {
	return list.Map(all, func(d datasets.Document) Document {
		return Document{
			Words:   l.IDs(d.Tokens),
			Private: d.Private,
			User:    d.User,
			Text:    d.Text,
		}
	})
}

// Word returns the word of an id.
func (l *Lexicon) Word(id int32) string {
	if int(id) >= l.first {
		return l.words[int(id)-l.first]
	}
	return l.vocabulary.Word(embeddings.WordID(id))
}

// Tokens returns the words of ids.
func (l *Lexicon) Tokens(ids []int32) []string { return list.Map(ids, l.Word) }

// Embedding returns the vectors of the space, and zeros for all other words
// added so far.
func (l *Lexicon) Embedding(s *embeddings.Space) models.Embedding {
	vectors := make([]float32, l.Len()*s.Dimension)
	copy(vectors, s.Vectors)
	return models.Embedding{Dimension: s.Dimension, Vectors: vectors}
}

// NewTarget is what depends on the mechanism: its vocabulary, its releases, what it writes,
// its exact channel if it has one that is cheap enough. Ids are those of the lexicon,
// which must already have all words of the documents. What attackers know, and the vectors,
// are still to be set.
func NewTarget(m *mechanisms.Mechanism, policy mechanisms.Policy, l *Lexicon, noise stream.Seed, workers int) *Target {
	workers = max(1, workers)
	words := m.Vocabulary().Len()
	release := func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		texts := list.Map(documents, l.Tokens)
		noisy, err := mechanisms.PrivatizeText(ctx, m, texts, mechanisms.TextOptions{
			Policy:  policy,
			Seed:    seed,
			Workers: workers,
		})
		if err != nil {
			return nil, err
		}
		return list.Map(noisy, l.IDs), nil
	}
	return &Target{
		Words: Words{Count: words, Spelling: l.Word},
		Releases: &Releases{
			Words: release,
			Texts: Write(m, policy, workers),
			Noise: noise,
		},
		Channel: channel.Of(m, words),
		Workers: workers,
	}
}

// Write returns a Releases.Texts that does what `mldp privatize` does with
// every text as one line: words replaced, all else kept, case restored.
func Write(m *mechanisms.Mechanism, policy mechanisms.Policy, workers int) func(context.Context, []string,
	stream.Seed) ([]string, error) {
	return func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error) {
		p := privatize.New(privatize.Options{
			Mechanism: m,
			Policy:    policy,
			KeepCase:  true,
			Workers:   max(1, workers),
		})
		lines := make([]string, len(texts))
		seeds := make([]stream.Seed, len(texts))
		for i, t := range texts {
			lines[i] = strings.Join(strings.Fields(t), " ")
			seeds[i] = seed.At(uint64(i))
		}
		written, _, err := p.Texts(ctx, lines, seeds)
		return written, err
	}
}
