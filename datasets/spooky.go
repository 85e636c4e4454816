package datasets

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/internal/textfile"
)

// spookyAuthors are the authors 0, 1 and 2 of the table.
var spookyAuthors = []string{"Poe", "Lovecraft", "Shelley"}

func init() {
	Register(Definition{
		Name: "spooky-authors", Title: "Spooky authors",
		Doc:      "sentences of three authors of horror; the author is class and private label at once",
		Citation: "Kaggle, Spooky Author Identification", Needs: []string{"spooky-authors"},
		Classes: spookyAuthors, Cleaning: CleanWords,
		Read: readSpooky,
	})
}

// readSpooky reads a table with the columns text and author: 0 to 2, or the
// authors' initials in the file of the competition.
func readSpooky(ctx context.Context, q Request) (Rows, error) {
	path := q.File
	if path == "" {
		var err error
		if path, err = fetch.Locate(q.Root, "spooky-authors", "sentences"); err != nil {
			return Rows{}, err
		}
	}
	f, err := textfile.Open(path)
	if err != nil {
		return Rows{}, err
	}
	defer f.Close()
	t, err := readTable(ctx, f, path, "csv", tableColumns{text: []string{"text"}, label: "author"})
	if err != nil {
		return Rows{}, err
	}
	rows := make([]Row, len(t.texts))
	for i, text := range t.texts {
		author := max(slices.Index([]string{"0", "1", "2"}, t.labels[i]), slices.Index([]string{"EAP", "HPL",
			"MWS"}, t.labels[i]))
		if author < 0 {
			return Rows{}, fmt.Errorf("%s: sentence %d: author %q: must be 0, 1 or 2, or EAP, HPL or MWS", path,
				i+1, t.labels[i])
		}
		rows[i] = Row{Text: text, Label: author, Private: author}
	}
	return Rows{Rows: rows, Privates: spookyAuthors, Source: path}, nil
}
