package lab

import (
	"context"
	"slices"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/models/attack"
)

// Public is text that no split of a data set uses.
type Public struct {
	Documents []datasets.Document
	Labelled  bool // with the private labels of the data set
}

// What nearly repeats a document of a split, by the Jaccard similarity of their
// words, is no public text: a document of test that would be looked up and not
// attacked, or one of the others that would count twice.
const (
	nearTest     = 0.3
	nearTraining = 0.7
)

// Public returns the public text in a pool for a data set, once per run. Pool
// and data set may be one source: rows in a split are left out.
func (l *Lab) Public(ctx context.Context, s, pool Sample) (*Public, error) {
	return Once(l, engine.MakeID("public", s.key(), pool.key()), func() (*Public, error) {
		c, err := l.Corpus(ctx, s)
		if err != nil {
			return nil, err
		}
		d, err := datasets.Load(ctx, pool.Dataset.Request(l.root, pool.Seed))
		if err != nil {
			return nil, err
		}
		used := map[int]bool{}
		if d.Name == c.Name && pool.Dataset.File == s.Dataset.File { // numbers of rows of one source
			for _, split := range c.Splits() {
				for _, doc := range split.Documents {
					used[doc.ID] = true
				}
			}
		}
		none, err := embeddings.NewVocabulary(nil)
		if err != nil {
			return nil, err
		}
		lexicon := attack.NewLexicon(none)
		ids := func(documents [][]string) (out [][]int32) {
			for _, tokens := range documents {
				out = append(out, lexicon.IDs(tokens))
			}
			return out
		}
		var rest []datasets.Document
		for _, split := range d.Splits() {
			for _, doc := range split.Documents {
				if !used[doc.ID] {
					rest = append(rest, doc)
				}
			}
		}
		texts := ids(datasets.Tokens(rest))
		training := attack.Unrelated(texts, slices.Concat(ids(c.Tokens[0]), ids(c.Tokens[1])), nearTraining)
		p := &Public{Labelled: len(c.Privates) > 0 && slices.Equal(d.Privates, c.Privates)}
		for _, i := range attack.Unrelated(texts, ids(c.Tokens[2]), nearTest) {
			if _, is := slices.BinarySearch(training, i); is {
				p.Documents = append(p.Documents, rest[i])
			}
		}
		return p, nil
	})
}
