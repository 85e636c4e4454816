package datasets

import (
	"context"

	"mldpbench/datasets/generated"
	"mldpbench/internal/list"
)

func init() {
	const source = "built in"
	note := "generated corpus: for tests and machines without data, not for findings"
	sizes := Sizes{Train: 1600, Validation: 400, Test: 800}
	for _, d := range []struct {
		Definition
		documents func() []generated.Document
		privates  []string
	}{
		{Definition{Name: "generated-reviews", Title: "Reviews (generated)", Doc: "reviews in 2 classes of sentiment",
			Classes: generated.Sentiments, Sizes: sizes}, generated.Reviews, nil},
		{Definition{Name: "generated-news", Title: "News (generated)", Doc: "news in 4 topics",
			Classes: generated.Topics, Sizes: sizes}, generated.News, nil},
		{Definition{Name: "generated-styles", Title: "News with a style (generated)",
			Doc:     "news in 4 topics; the writer's style is the private label",
			Classes: generated.Topics}, generated.Styled, generated.Styles},
		{Definition{Name: "generated-users", Title: "News of users (generated)",
			Doc:     "news in 4 topics by users with a style and habits of their own",
			Classes: generated.Topics}, generated.Users, generated.Styles},
	} {
		d.Doc += "; " + note
		d.Generated, d.Cleaning = true, CleanContent
		d.Read = func(context.Context, Request) (Rows, error) {
			rows := list.Map(d.documents(), func(d generated.Document) Row {
				return Row{Text: d.Text(), Label: d.Label, Private: d.Style, User: d.User}
			})
			return Rows{Rows: rows, Privates: d.privates, Source: source}, nil
		}
		Register(d.Definition)
	}
	Register(Definition{
		Name: "generated-words", Title: "Words (generated)", Doc: "the words of judgement, label = polarity; " + note,
		Classes: generated.Sentiments, Generated: true, WordLevel: true, Cleaning: CleanNone,
		Read: func(context.Context, Request) (Rows, error) {
			var rows []Row
			for _, s := range generated.Slots() {
				for _, w := range s.Words {
					if s.Polarity != 0 {
						rows = append(rows, Row{Text: w, Label: max(0, s.Polarity)})
					}
				}
			}
			return Rows{Rows: rows, Source: source}, nil
		},
	})
}

// GeneratedCorpus returns the tokens of all sentences of the generated corpus,
// cleaned as its data sets are: what its word vectors are learned from.
func GeneratedCorpus(ctx context.Context) ([][]string, error) {
	cleaner, err := NewCleaner(CleanContent, "")
	if err != nil {
		return nil, err
	}
	var sentences []Document
	for _, task := range [][]generated.Document{generated.Reviews(), generated.News()} {
		for _, d := range task {
			for _, sentence := range d.Sentences {
				sentences = append(sentences, Document{Text: sentence})
			}
		}
	}
	if err := clean(ctx, cleaner.Tokens, sentences); err != nil {
		return nil, err
	}
	return Tokens(sentences), nil
}

// GeneratedThesaurus returns the synonyms of the generated corpus.
func GeneratedThesaurus() generated.Thesaurus { return generated.Thesaurus{} }
