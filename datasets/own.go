package datasets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// ownDefinition is the definition of a table of the user's own.
func ownDefinition(q Request) (Definition, error) {
	switch {
	case q.Name == "":
		return Definition{}, errors.New("data set: a table of your own needs a name")
	case q.File == "":
		return Definition{}, fmt.Errorf("data set %s: text or label columns are given, but no file", q.Name)
	case len(q.TextColumns) == 0:
		return Definition{}, fmt.Errorf("data set %s: %s needs the name of at least one text column", q.Name, q.File)
	}
	if definitions.Has(q.Name) {
		return Definition{}, fmt.Errorf("data set %s: the name is that of a built-in data set; give your table another",
			q.Name)
	}
	d := Definition{Name: q.Name, Title: q.Name, Cleaning: CleanWords, WordLevel: q.WordLevel, Read: readOwn}
	if q.WordLevel {
		d.Cleaning = CleanNone
	}
	return d, nil
}

// readOwn reads a table of the user's own. Classes and private labels are named
// after the distinct labels, sorted; without labels there is one class.
func readOwn(ctx context.Context, q Request) (Rows, error) {
	columns, texts := slices.Clone(q.TextColumns), len(q.TextColumns)
	var kinds []string // of the columns after the texts
	for _, c := range [][2]string{{"label", q.LabelColumn}, {"private label", q.PrivateColumn}, {"user", q.UserColumn}} {
		if c[1] != "" {
			kinds, columns = append(kinds, c[0]), append(columns, c[1])
		}
	}
	var values [][]string
	err := table.Each(ctx, q.File, table.Options{Format: table.Format(q.Format), Columns: columns,
		Delimiter: q.Delimiter, Encoding: q.Encoding}, func(r table.Row) error {
		row, err := r.Strings(columns)
		if err != nil {
			return err
		}
		values = append(values, row)
		for i, kind := range kinds {
			v := &row[texts+i]
			if *v = strings.TrimSpace(*v); *v == "" {
				return fmt.Errorf("empty %s in column %q", kind, columns[texts+i])
			}
		}
		return nil
	})
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("%s: no rows", q.File)
	}
	if err != nil {
		return Rows{}, err
	}
	rows := list.Map(values, func(row []string) Row { return Row{Text: strings.Join(row[:texts], " ")} })
	out := Rows{Rows: rows, Classes: []string{"all"}, Source: q.File}
	for i, kind := range kinds {
		of := list.Map(values, func(row []string) string { return row[texts+i] })
		var err error
		switch kind {
		case "label":
			out.Classes, err = numbered(q.File, of, func(i, class int) { rows[i].Label = class })
		case "private label":
			out.Privates, err = numbered(q.File+": "+kind, of, func(i, class int) { rows[i].Private = class })
		default:
			for i, v := range of {
				rows[i].User = v
			}
		}
		if err != nil {
			return Rows{}, err
		}
	}
	return out, nil
}

// manyLabels is the number of classes from which on they are looked at.
const manyLabels = 20

// numbered returns the distinct labels, sorted, and sets the number of each
// row's.
func numbered(source string, labels []string, set func(row, class int)) ([]string, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(classes) < 2 {
		return nil, fmt.Errorf("%s: %d distinct labels %q: a task needs at least 2", source, len(classes), classes)
	}
	if len(classes) > manyLabels && 2*len(classes) > len(labels) && !slices.ContainsFunc(classes, func(c string) bool {
		_, err := strconv.ParseFloat(c, 64)
		return err != nil
	}) {
		return nil, fmt.Errorf("%s: %d distinct numbers as labels of %d rows: a label is a class, not a quantity or an id",
			source, len(classes), len(labels))
	}
	for _, c := range classes {
		if err := check.Name("label", c); err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
	}
	for i, l := range labels {
		class, _ := slices.BinarySearch(classes, l)
		set(i, class)
	}
	return classes, nil
}
