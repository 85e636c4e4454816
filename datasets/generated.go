package datasets

import (
	"context"

	"mldpbench/datasets/generated"
	"mldpbench/internal/list"
)

func init() {
	const source = "built in"
	note := "generated corpus: for tests and machines without data, not for findings"
	Register(Definition{
		Name: "generated-reviews", Title: "Reviews (generated)", Doc: "reviews in 2 classes of sentiment; " + note,
		Classes: generated.Sentiments, Generated: true, Cleaning: CleanContent,
		Sizes: Sizes{Train: 1600, Validation: 400, Test: 800},
		Read: func(context.Context, Request) (Rows, error) {
			return Rows{Rows: generatedRows(generated.Reviews()), Source: source}, nil
		},
	})
	Register(Definition{
		Name: "generated-news", Title: "News (generated)", Doc: "news in 4 topics; " + note,
		Classes: generated.Topics, Generated: true, Cleaning: CleanContent,
		Sizes: Sizes{Train: 1600, Validation: 400, Test: 800},
		Read: func(context.Context, Request) (Rows, error) {
			return Rows{Rows: generatedRows(generated.News()), Source: source}, nil
		},
	})
	for _, d := range []struct {
		name, title, doc string
		documents        func() []generated.Document
	}{
		{"generated-styles", "News with a style (generated)",
			"news in 4 topics; the writer's style is the private label", generated.Styled},
		{"generated-users", "News of users (generated)",
			"news in 4 topics by users with a style and habits of their own", generated.Users},
	} {
		Register(Definition{
			Name: d.name, Title: d.title, Doc: d.doc + "; " + note,
			Classes: generated.Topics, Generated: true, Cleaning: CleanContent,
			Read: func(context.Context, Request) (Rows, error) {
				return Rows{Rows: generatedRows(d.documents()), Privates: generated.Styles, Source: source}, nil
			},
		})
	}
	Register(Definition{
		Name: "generated-words", Title: "Words (generated)", Doc: "the words of judgement, label = polarity; " + note,
		Classes: generated.Sentiments, Generated: true, WordLevel: true, Cleaning: CleanNone,
		Read: func(context.Context, Request) (Rows, error) {
			var rows []Row
			for _, s := range generated.Slots() {
				for _, w := range s.Words {
					switch s.Polarity {
					case +1:
						rows = append(rows, Row{Text: w, Label: 1})
					case -1:
						rows = append(rows, Row{Text: w, Label: 0})
					}
				}
			}
			return Rows{Rows: rows, Source: source}, nil
		},
	})
}

func generatedRows(docs []generated.Document) []Row {
	return list.Map(docs, func(d generated.Document) Row {
		return Row{Text: d.Text(), Label: d.Label, Private: d.Style, User: d.User}
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
	if err := clean(ctx, cleaner.Tokens, 0, [][]Document{sentences}); err != nil {
		return nil, err
	}
	return Tokens(sentences), nil
}

// GeneratedThesaurus returns the synonyms of the generated corpus.
func GeneratedThesaurus() generated.Thesaurus { return generated.Thesaurus{} }
