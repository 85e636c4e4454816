package datasets

import (
	"context"

	"mldpbench/datasets/generated"
	"mldpbench/internal/list"
)

// corpus is a generated one, with the names of its private labels.
type corpus struct {
	documents func() []generated.Document
	privates  []string
}

// corpora are those that sets.yaml reads.
var corpora = map[string]corpus{"generated reviews": {generated.Reviews, nil}, "generated news": {generated.News, nil},
	"generated styles": {generated.Styled, generated.Styles}, "generated users": {generated.Users, generated.Styles},
	"generated words": {generatedWords, nil}}

// read makes the documents of a generated corpus.
func (c corpus) read(context.Context, Request) (Rows, error) {
	return Rows{
		Privates: c.privates,
		Source:   "built in",
		Rows: list.Map(c.documents(), func(d generated.Document) Row {
			return Row{
				Text:    d.Text(),
				Label:   d.Label,
				Private: d.Style,
				User:    d.User,
			}
		}),
	}, nil
}

// generatedWords are the words of judgement.
func generatedWords() (all []generated.Document) {
	for _, s := range generated.Slots() {
		for _, w := range s.Words {
			if s.Polarity != 0 {
				all = append(all, generated.Document{Sentences: []string{w}, Label: max(0, s.Polarity)})
			}
		}
	}
	return all
}

// GeneratedCorpus returns the tokens of all sentences of the generated corpus,
// cleaned as its data sets are: what its word vectors are learned from.
func GeneratedCorpus() (sentences [][]string, err error) {
	cleaner, err := NewCleaner(CleanContent, "")
	if err != nil {
		return nil, err
	}
	for _, task := range [][]generated.Document{generated.Reviews(), generated.News()} {
		for _, d := range task {
			for _, sentence := range d.Sentences {
				sentences = append(sentences, cleaner.Tokens(sentence))
			}
		}
	}
	return sentences, nil
}
