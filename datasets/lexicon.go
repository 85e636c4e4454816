package datasets

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/internal/list"
)

func init() {
	Register(Definition{
		Name: "product-reviews", Title: "Product Reviews", Doc: "the opinion lexicon word by word, label = polarity",
		Needs:     []string{"opinion-lexicon"},
		Classes:   []string{"negative", "positive"},
		WordLevel: true, Cleaning: CleanNone,
		Read: readProductReviews,
	})
}

// readProductReviews lists the positive words, then the negative ones. Words
// that are in both files come twice.
func readProductReviews(ctx context.Context, q Request) (Rows, error) {
	if q.File != "" {
		return Rows{}, fmt.Errorf("product-reviews are two files: give the data folder that has opinion-lexicon/ in "+
			"it, not file = %q", q.File)
	}
	var out Rows
	var sources []string
	for i, part := range []string{"positive", "negative"} {
		path, err := fetch.Locate(q.Root, "opinion-lexicon", part)
		if err != nil {
			return Rows{}, err
		}
		words, err := readWords(path)
		if err != nil {
			return Rows{}, err
		}
		out.Rows = append(out.Rows, list.Map(words, func(w string) Row { return Row{Text: w, Label: 1 - i} })...)
		sources = append(sources, path)
	}
	out.Source = strings.Join(sources, " + ")
	return out, ctx.Err()
}

// readWords reads a list of the opinion lexicon: one word a line, comments
// start with a semicolon, ISO-8859-1 (as published) or UTF-8.
func readWords(path string) ([]string, error) {
	var words []string
	err := table.LinesOf(path, func(line string) error {
		line = strings.ToLower(strings.TrimSpace(table.Latin1(line)))
		switch {
		case line == "" || line[0] == ';':
			return nil
		case strings.ContainsAny(line, " \t"):
			return fmt.Errorf("%q: one word a line", line)
		}
		words = append(words, line)
		return nil
	})
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("%s: no word in it", path)
	}
	return words, err
}
