package datasets

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
)

func init() {
	Register(Definition{
		Name: "agnews", Title: "AG News", Doc: "news titles and descriptions, 4 topics", Needs: []string{"agnews"},
		Classes:  []string{"world", "sports", "business", "science"},
		Sizes:    Sizes{Train: 16000, Validation: 4000, Test: 4000}, // Meisenbacher et al. 2024, Table 2
		Cleaning: CleanTopic,
		Read:     readAGNews,
	})
}

// readAGNews reads the official train.csv and test.csv, or any part of them,
// train rows first; with q.File, that one file as a pool.
func readAGNews(ctx context.Context, q Request) (Rows, error) {
	if q.File != "" {
		rows, err := readNewsTable(ctx, q.File, "")
		return Rows{Rows: rows, Source: q.File}, err
	}
	var out Rows
	for _, part := range []string{"train", "test"} {
		path, err := fetch.Locate(q.Root, "agnews", part)
		if err != nil {
			return Rows{}, err
		}
		rows, err := readNewsTable(ctx, path, part)
		if err != nil {
			return Rows{}, err
		}
		out.Rows = append(out.Rows, rows...)
		if out.Source != "" {
			out.Source += " + "
		}
		out.Source += path
	}
	return out, nil
}

// readNewsTable reads rows "class","title","description" without a header;
// classes are 1 to 4.
func readNewsTable(ctx context.Context, name, split string) ([]Row, error) {
	var rows []Row
	err := table.Each(ctx, name, table.Options{Format: table.CSV, NoHeader: true, Columns: []string{"1", "2", "3"}},
		func(r table.Row) error {
			class := r.Values[0].Text
			if len(class) != 1 || class[0] < '1' || class[0] > '4' {
				return fmt.Errorf("class %q: must be 1, 2, 3 or 4", class)
			}
			text := repairNews(r.Values[1].Text + " " + r.Values[2].Text)
			rows = append(rows, Row{Text: text, Label: int(class[0] - '1'), Split: split})
			return nil
		})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no news", name)
	}
	return rows, err
}

// brokenEntity matches the damaged HTML entities of the official files: "
// #36;10 million" for "$10 million", " quot;" for a quotation mark. Names that are also words are not matched.
var brokenEntity = regexp.MustCompile(` ?#(x[0-9a-fA-F]+|[0-9]+);| (quot|amp|lt|gt|nbsp|hellip|lsquo|rsquo|ldquo|rdquo|mdash|ndash);`)

// repairNews undoes the two damages of the official files: a backslash where
// a line ended, and HTML entities without their ampersand. Tags stay.
func repairNews(text string) string {
	text = strings.ReplaceAll(text, `\`, " ")
	if strings.IndexByte(text, ';') < 0 {
		return text
	}
	return brokenEntity.ReplaceAllStringFunc(text, func(s string) string {
		entity := html.UnescapeString("&" + strings.TrimPrefix(s, " "))
		if s[0] == ' ' && s[1] != '#' {
			return " " + entity
		}
		return entity
	})
}
