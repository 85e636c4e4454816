package datasets

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/datasets/fetch"
)

// labelledTable is a data set in one CSV file with a column "text" and one of
// labels.
type labelledTable struct {
	part    string     // of the catalogue's entry, which has the data set's name
	column  string     // of labels
	labels  [][]string // as written in the file, by class
	private bool       // the class is the private label as well
}

func init() {
	for _, d := range []struct {
		Definition
		table labelledTable
	}{
		{Definition{Name: "disaster-tweets", Title: "Disaster tweets", Doc: "tweets, about a disaster or not",
			Citation: "Kaggle, Natural Language Processing with Disaster Tweets",
			Classes:  []string{"no disaster", "disaster"}},
			labelledTable{"tweets", "target", [][]string{{"0"}, {"1"}}, false}},
		{Definition{Name: "spooky-authors", Title: "Spooky authors",
			Doc:      "sentences of three authors of horror; the author is class and private label at once",
			Citation: "Kaggle, Spooky Author Identification",
			Classes:  []string{"Poe", "Lovecraft", "Shelley"}},
			labelledTable{"sentences", "author", [][]string{{"0", "EAP"}, {"1", "HPL"}, {"2", "MWS"}}, true}},
	} {
		d.Needs, d.Cleaning = []string{d.Name}, CleanWords
		d.Read = func(ctx context.Context, q Request) (Rows, error) { return d.table.read(ctx, q, d.Name, d.Classes) }
		Register(d.Definition)
	}
}

func (t labelledTable) read(ctx context.Context, q Request, name string, classes []string) (Rows, error) {
	path := q.File
	if path == "" {
		var err error
		if path, err = fetch.Locate(q.Root, name, t.part); err != nil {
			return Rows{}, err
		}
	}
	table, err := readTable(ctx, source{file: path, format: "csv"}, tableColumns{text: []string{"text"}, label: t.column})
	if err != nil {
		return Rows{}, err
	}
	out := Rows{Source: path}
	for i, text := range table.texts {
		class := slices.IndexFunc(t.labels, func(l []string) bool { return slices.Contains(l, table.labels[i]) })
		if class < 0 {
			return Rows{}, fmt.Errorf("%s: row %d: %s %q: must be one of %q", path, i+1, t.column, table.labels[i],
				slices.Concat(t.labels...))
		}
		row := Row{Text: text, Label: class}
		if t.private {
			row.Private, out.Privates = class, classes
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
