package datasets

import (
	"context"
	"fmt"
	"io"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/internal/textfile"
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
	positive, negative, source, err := lexiconFiles(q.Root)
	if err != nil {
		return Rows{}, err
	}
	out := Rows{Source: source}
	for _, w := range positive {
		out.Rows = append(out.Rows, Row{Text: w, Label: 1})
	}
	for _, w := range negative {
		out.Rows = append(out.Rows, Row{Text: w, Label: 0})
	}
	return out, ctx.Err()
}

func lexiconFiles(root string) (positive, negative []string, source string, err error) {
	var words [2][]string
	var paths [2]string
	for i, part := range []string{"positive", "negative"} {
		if paths[i], err = fetch.Locate(root, "opinion-lexicon", part); err != nil {
			return nil, nil, "", err
		}
		f, err := textfile.Open(paths[i])
		if err != nil {
			return nil, nil, "", err
		}
		words[i], err = readWords(f, paths[i])
		f.Close()
		if err != nil {
			return nil, nil, "", err
		}
	}
	return words[0], words[1], paths[0] + " + " + paths[1], nil
}

// readWords reads a list of the opinion lexicon: one word a line, comments
// start with a semicolon, ISO-8859-1 (as published) or UTF-8.
func readWords(r io.Reader, name string) ([]string, error) {
	var words []string
	err := textfile.Lines(r, name, func(line string) error {
		line = strings.ToLower(strings.TrimSpace(textfile.Latin1(line)))
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
		err = fmt.Errorf("%s: no word in it", name)
	}
	return words, err
}
