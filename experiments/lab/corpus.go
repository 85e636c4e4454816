package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/attack"
)

// Corpus is a prepared data set with values derived from it once.
type Corpus struct {
	*datasets.Dataset
	Tokens    [3][][]string  // of train, validation, test
	Documents [][]string     // all of them, in this order
	Counts    map[string]int // occurrences of each word
}

// NewCorpus derives these values.
func NewCorpus(d *datasets.Dataset) *Corpus {
	c := &Corpus{Dataset: d, Counts: map[string]int{}}
	for i, split := range d.Splits() {
		c.Tokens[i] = datasets.Tokens(split.Documents)
		c.Documents = append(c.Documents, c.Tokens[i]...)
		for _, doc := range split.Documents {
			for _, t := range doc.Tokens {
				c.Counts[t]++
			}
		}
	}
	return c
}

// TrainTexts returns the tokens of training and validation texts in their order.
func (c *Corpus) TrainTexts() [][]string { return c.Documents[:len(c.Tokens[0])+len(c.Tokens[1])] }

// Has reports whether a word occurs.
func (c *Corpus) Has(word string) bool { return c.Counts[word] > 0 }

// Labels returns the labels of the documents of a split.
func (c *Corpus) Labels(split int) []int {
	return list.Map(c.Splits()[split].Documents, func(d datasets.Document) int {
		return d.Label
	})
}

// Space is an embedding restricted to the vocabulary of a data set and the table
// that models read. The table may hold more words: synonyms that a thesaurus may
// substitute for words of the data set have vectors too.
type Space struct {
	*embeddings.Space
	Table models.Embedding // one zero row after the last word, for tokens without a vector
	Wide  *embeddings.Space
}

// wordsOnly is the space of a data set without vectors: each word is 0.
func wordsOnly(c *Corpus) (*Space, error) {
	v, err := embeddings.NewVocabulary(slices.Sorted(maps.Keys(c.Counts)))
	if err != nil {
		return nil, err
	}
	s, err := embeddings.NewSpace(study.NoVectors, v, 1, make([]float32, v.Len()))
	if err != nil {
		return nil, err
	}
	s.Generated = c.Generated
	return WholeSpace(s), nil
}

// WholeSpace returns a space without a data set.
func WholeSpace(s *embeddings.Space) *Space {
	return &Space{
		Space: s,
		Table: models.Embedding{Dimension: s.Dimension, Vectors: s.Table()},
		Wide:  s,
	}
}

// Examples returns the inputs of a model of texts: sequences.
func (s *Space) Examples(tokens [][]string, labels []int) models.Examples {
	return models.Examples{Labels: labels, Sequences: s.Wide.Vocabulary.Rows(tokens)}
}

// WordExamples returns the inputs of a model of single words: their vectors.
func (s *Space) WordExamples(tokens [][]string, labels []int) (models.Examples, error) {
	x := models.Examples{Labels: labels}
	rows := s.Wide.Vocabulary.Rows(tokens)
	x.Vectors = make([][]float32, len(tokens))
	for i, ids := range rows {
		switch d := s.Table.Dimension; len(ids) {
		case 1:
			x.Vectors[i] = s.Table.Vectors[int(ids[0])*d : (int(ids[0])+1)*d]
		case 0: // dropped by the policy
			x.Vectors[i] = make([]float32, d)
		default:
			return x, fmt.Errorf("document %d of a word-level data set has %d tokens", i, len(ids))
		}
	}
	return x, nil
}

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
	return memo.Once(&l.Shared, engine.MakeID("public", s.key(), pool.key()), func() (*Public, error) {
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
			for _, doc := range slices.Concat(c.Train, c.Validation, c.Test) {
				used[doc.ID] = true
			}
		}
		lexicon := attack.NewLexicon(nil)
		ids := func(documents [][]string) [][]int32 { return list.Map(documents, lexicon.IDs) }
		rest := slices.DeleteFunc(slices.Concat(d.Train, d.Validation, d.Test), func(doc datasets.Document) bool {
			return used[doc.ID]
		})
		texts := ids(datasets.Tokens(rest))
		training := metrics.Unrelated(texts, slices.Concat(ids(c.Tokens[0]), ids(c.Tokens[1])), nearTraining)
		p := &Public{Labelled: len(c.Privates) > 0 && slices.Equal(d.Privates, c.Privates)}
		for _, i := range metrics.Unrelated(texts, ids(c.Tokens[2]), nearTest) {
			if _, is := slices.BinarySearch(training, i); is {
				p.Documents = append(p.Documents, rest[i])
			}
		}
		return p, nil
	})
}
