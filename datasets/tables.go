package datasets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
)

// labelledCSV is a CSV file with a column of texts and one of labels.
type labelledCSV struct {
	text, label string
	labels      [][]string // as written in the file, by class
}

func (t labelledCSV) read(ctx context.Context, file string) ([]Row, error) {
	var rows []Row
	err := table.Each(ctx, file, table.Options{Format: table.CSV, Columns: []string{t.text, t.label}},
		func(r table.Row) error {
			label := strings.TrimSpace(r.Values[1].Text)
			class := slices.IndexFunc(t.labels, func(l []string) bool { return slices.Contains(l, label) })
			if class < 0 {
				return fmt.Errorf("%s %q: must be one of %q", t.label, label, slices.Concat(t.labels...))
			}
			rows = append(rows, Row{Text: r.Values[0].Text, Label: class})
			return nil
		})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no texts", file)
	}
	return rows, err
}

// readFile reads a file, or that part of an entry of the catalogue.
func (t labelledCSV) readFile(ctx context.Context, file, root, entry, part string) ([]Row, string, error) {
	if file == "" {
		var err error
		if file, err = fetch.Locate(root, entry, part); err != nil {
			return nil, "", err
		}
	}
	rows, err := t.read(ctx, file)
	return rows, file, err
}

// Data sets in one such file.
func init() {
	for _, d := range []struct {
		Definition
		part    string // of the catalogue's entry, which has the data set's name
		table   labelledCSV
		private bool // the class is the private label as well
	}{
		{Definition{Name: "disaster-tweets", Title: "Disaster tweets", Doc: "tweets, about a disaster or not",
			Classes: []string{"no disaster", "disaster"}},
			"tweets", labelledCSV{"text", "target", [][]string{{"0"}, {"1"}}}, false},
		{Definition{Name: "spooky-authors", Title: "Spooky authors",
			Doc:     "sentences of three authors of horror; the author is class and private label at once",
			Classes: []string{"Poe", "Lovecraft", "Shelley"}},
			"sentences", labelledCSV{"text", "author", [][]string{{"0", "EAP"}, {"1", "HPL"}, {"2", "MWS"}}}, true},
	} {
		d.Needs, d.Cleaning = []string{d.Name}, CleanWords
		d.Read = func(ctx context.Context, q Request) (Rows, error) {
			rows, source, err := d.table.readFile(ctx, q.File, q.Root, d.Name, d.part)
			out := Rows{Rows: rows, Source: source}
			if d.private {
				out.Privates = d.Classes
				for i, r := range rows {
					rows[i].Private = r.Label
				}
			}
			return out, err
		}
		Register(d.Definition)
	}
}
