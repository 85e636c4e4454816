package datasets

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mldpbench/datasets/internal/textfile"
	"mldpbench/datasets/textio"
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

// readOwn reads a table with a header (CSV, TSV), JSON objects or Parquet.
// Classes and private labels are named after the distinct labels, sorted;
// without labels there is one class.
func readOwn(ctx context.Context, q Request) (Rows, error) {
	format, err := formatOf(q.File, q.Format)
	if err != nil {
		return Rows{}, err
	}
	columns, texts := slices.Clone(q.TextColumns), len(q.TextColumns)
	var kinds []string // of the columns after the texts
	for _, c := range [][2]string{{"label", q.LabelColumn}, {"private label", q.PrivateColumn}, {"user", q.UserColumn}} {
		if c[1] != "" {
			kinds, columns = append(kinds, c[0]), append(columns, c[1])
		}
	}
	table, err := readTable(ctx, source{q.File, format, q.Delimiter}, columns, false, func(row []string) error {
		for i, kind := range kinds {
			v := &row[texts+i]
			if *v = strings.TrimSpace(*v); *v == "" {
				return fmt.Errorf("empty %s in column %q", kind, columns[texts+i])
			}
		}
		return nil
	})
	if err != nil {
		return Rows{}, err
	}
	rows := list.Map(table, func(row []string) Row { return Row{Text: strings.Join(row[:texts], " ")} })
	out := Rows{Rows: rows, Classes: []string{"all"}, Source: q.File}
	for i, kind := range kinds {
		values := list.Map(table, func(row []string) string { return row[texts+i] })
		var err error
		switch kind {
		case "label":
			out.Classes, err = numbered(q.File, values, func(i, class int) { rows[i].Label = class })
		case "private label":
			out.Privates, err = numbered(q.File+": "+kind, values, func(i, class int) { rows[i].Private = class })
		default:
			for i, v := range values {
				rows[i].User = v
			}
		}
		if err != nil {
			return Rows{}, err
		}
	}
	return out, nil
}

// numbered returns the distinct labels, sorted, and sets the number of each
// row's.
func numbered(source string, labels []string, set func(row, class int)) ([]string, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(classes) < 2 {
		return nil, fmt.Errorf("%s: %d distinct labels %q: a task needs at least 2", source, len(classes), classes)
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

func formatOf(file, format string) (string, error) {
	format = cmp.Or(format, string(textio.FormatOf(file)))
	if slices.Contains([]string{"csv", "tsv", "jsonl", "json", "parquet"}, format) {
		return format, nil
	}
	return "", fmt.Errorf("%s: read as %s: must be csv, tsv, jsonl, json or parquet (told by the suffix, or by the "+
		"format setting)", file, format)
}

// readTable returns the values of columns for each row that check accepts. With
// nulls a row that has a null is nil; it is an error without.
func readTable(ctx context.Context, s source, columns []string, nulls bool, check func(row []string) error) (
	[][]string, error) {
	var rows [][]string
	err := s.each(ctx, columns, func(fields func(column string) (string, error)) error {
		row := make([]string, len(columns))
		for i, c := range columns {
			var err error
			if row[i], err = fields(c); nulls && errors.Is(err, textio.ErrNull) {
				rows = append(rows, nil)
				return nil
			} else if err != nil {
				return err
			}
			if !utf8.ValidString(row[i]) {
				return fmt.Errorf("column %q is not UTF-8", c)
			}
		}
		rows = append(rows, row)
		return check(row)
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no rows", s.file)
	}
	return rows, err
}

// source is a table: its file, its format, and the delimiter of CSV and TSV, ""
// for that of the format.
type source struct{ file, format, delimiter string }

// each calls add with every row of the table, which must have the needed
// columns.
func (s source) each(ctx context.Context, needed []string, add addRow) error {
	if err := textio.CheckDelimiter(s.delimiter); err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if s.delimiter != "" && s.format != "csv" && s.format != "tsv" {
		return fmt.Errorf("%s: %s has no delimiter", s.file, s.format)
	}
	if s.format == "parquet" {
		return textio.EachParquet(ctx, s.file, needed, add)
	}
	f, err := textfile.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	switch s.format {
	case "jsonl":
		return eachObject(ctx, f, s.file, add)
	case "json":
		return eachInArray(ctx, f, s.file, add)
	}
	comma := map[string]rune{"csv": ',', "tsv": '\t'}[s.format]
	if s.delimiter != "" {
		comma = rune(s.delimiter[0])
	}
	return eachRow(ctx, f, s.file, comma, s.format == "tsv", needed, add)
}

// addRow takes one row, given a function from a column to its value.
type addRow = func(fields func(column string) (string, error)) error

// eachRow reads CSV with a header. lazy, for TSV, takes a quote inside a field as
// an ordinary character; a field that begins with one ends with one, on the same
// line.
func eachRow(ctx context.Context, r io.Reader, name string, comma rune, lazy bool, needed []string,
	add addRow) error {
	t := csv.NewReader(textio.LineEnds(bufio.NewReader(r)))
	t.Comma, t.ReuseRecord = comma, true
	t.LazyQuotes = lazy
	header, err := t.Read()
	if err != nil {
		return textio.CSVError(name, err)
	}
	if err := textio.CheckHeader(header); err != nil {
		return check.Wrong("%s:1: %v", name, err)
	}
	columns := map[string]int{}
	for i, h := range header {
		h = strings.TrimSpace(h)
		if _, twice := columns[h]; twice && slices.Contains(needed, h) {
			return fmt.Errorf("%s:1: two columns are called %q", name, h)
		}
		columns[h] = i
	}
	hint := ""
	if len(header) == 1 {
		if i := strings.IndexAny(header[0], ";,|\t"); i >= 0 {
			hint = fmt.Sprintf("; give --delimiter %q (in a study: delimiter)", header[0][i:i+1])
		}
	}
	missing := slices.DeleteFunc(slices.Clone(needed), func(c string) bool { _, ok := columns[c]; return ok })
	if len(missing) == 1 {
		return check.Wrong("%s:1: no column %q: the header has %q%s", name, missing[0], header, hint)
	}
	if len(missing) > 1 {
		return check.Wrong("%s:1: no columns %q: the header has %q%s", name, missing, header, hint)
	}
	return eachRecord(ctx, t, name, func(row []string) error {
		if lazy && slices.ContainsFunc(row, func(v string) bool { return strings.Contains(v, "\n") }) {
			return errors.New("a quote at the start of a field is not closed on its line: where fields are quoted, " +
				"give the format csv and a tab as its delimiter")
		}
		return add(func(c string) (string, error) { return strings.Clone(row[columns[c]]), nil })
	})
}

// eachRecord calls take with every remaining record of t; the record is
// overwritten by the next. Errors, also those of take, begin with "file:line:
// ".
func eachRecord(ctx context.Context, t *csv.Reader, name string, take func(row []string) error) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, err := t.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return textio.CSVError(name, err)
		}
		line, _ := t.FieldPos(0)
		if err := take(row); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

func eachObject(ctx context.Context, r io.Reader, name string, add addRow) error {
	return textfile.Lines(r, name, func(line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var object jsonObject
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		return add(object.field)
	})
}

// eachInArray reads an array of objects.
func eachInArray(ctx context.Context, r io.Reader, name string, add addRow) error {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fmt.Errorf("%s: is no JSON array of objects", name)
	}
	for n := 1; d.More(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var object jsonObject
		if err := d.Decode(&object); err != nil {
			return fmt.Errorf("%s: object %d: not a JSON object: %w", name, n, err)
		}
		if err := add(object.field); err != nil {
			return fmt.Errorf("%s: object %d: %w", name, n, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: the array does not end", name)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: more after the JSON array", name)
	}
	return nil
}

type jsonObject map[string]json.RawMessage

// field returns a text, or a number or a truth value as written.
func (o jsonObject) field(c string) (string, error) {
	raw, ok := o[c]
	if !ok {
		return "", fmt.Errorf("no field %q", c)
	}
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case 'n':
		return "", fmt.Errorf("field %q %w", c, textio.ErrNull)
	case '{', '[':
		return "", fmt.Errorf("field %q is neither text nor a number", c)
	}
	return string(raw), nil
}
