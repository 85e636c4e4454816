// Package measure holds the operations of experiments on text: privatise and
// release it, train and score on it, infer from it, probe mechanisms, calibrate
// and tune them.
//
// Its functions take documents, spaces, mechanisms and seeds and return
// numbers. They open no file, read no study and store nothing, so a grid and a
// paper's figure are measured in the same way.
package measure

import (
	"fmt"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/models"
)

// Corpus is a prepared data set with values derived from it once.
type Corpus struct {
	*datasets.Dataset
	Tokens    [3][][]string  // of train, validation, test
	Documents [][]string     // all of them, in this order
	Counts    map[string]int // occurrences of each word
	Polarity  map[string]int // of word-level data sets: class of each word; nil for texts
}

// NewCorpus derives these values.
func NewCorpus(d *datasets.Dataset) *Corpus {
	c := &Corpus{Dataset: d, Counts: map[string]int{}}
	if d.WordLevel && len(d.Classes) > 1 {
		c.Polarity = map[string]int{}
	}
	for i, split := range d.Splits() {
		c.Tokens[i] = datasets.Tokens(split.Documents)
		c.Documents = append(c.Documents, c.Tokens[i]...)
		for _, doc := range split.Documents {
			for _, t := range doc.Tokens {
				c.Counts[t]++
			}
			if c.Polarity != nil && len(doc.Tokens) == 1 {
				c.Polarity[doc.Tokens[0]] = doc.Label
			}
		}
	}
	return c
}

// Has reports whether a word occurs.
func (c *Corpus) Has(word string) bool { return c.Counts[word] > 0 }

// Labels returns the labels of the documents of a split.
func (c *Corpus) Labels(split int) []int { return datasets.Labels(c.Splits()[split].Documents) }

// Space is an embedding restricted to the vocabulary of a data set and the table
// that models read. The table may hold more words: synonyms that a thesaurus may
// substitute for words of the data set have vectors too.
type Space struct {
	*embeddings.Space
	Table models.Embedding // one zero row after the last word, for tokens without a vector
	Wide  *embeddings.Space
}

// NewSpace returns the space of a data set, taken from one that may hold more
// words.
func NewSpace(wide *embeddings.Space, c *Corpus) (*Space, error) {
	narrow, err := wide.Restrict(c.Has)
	if err != nil {
		return nil, err
	}
	return &Space{Space: narrow, Table: models.Embedding{Dimension: wide.Dimension, Vectors: wide.Table()}, Wide: wide},
		nil
}

// Known reports whether a word has a vector in the space of the data set.
func (s *Space) Known(word string) bool { return s.Vocabulary.ID(word) != embeddings.Unknown }

// Examples returns the inputs of a model: sequences, or the vectors of single
// words.
func (s *Space) Examples(tokens [][]string, labels []int, wordLevel bool) (models.Examples, error) {
	x := models.Examples{Labels: labels}
	rows := s.Wide.Vocabulary.Rows(tokens)
	if !wordLevel {
		x.Sequences = rows
		return x, nil
	}
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

// All returns the ids of a vocabulary.
func All(s *embeddings.Space) []mechanisms.WordID {
	ids := make([]mechanisms.WordID, s.Len())
	for i := range ids {
		ids[i] = mechanisms.WordID(i)
	}
	return ids
}
