package datasets

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mldpbench/datasets/internal/textfile"
	"mldpbench/datasets/textio"
	"mldpbench/internal/check"
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
func readOwn(ctx context.Context, q Request) (Rows, error) {
	format, err := formatOf(q.File, q.Format)
	if err != nil {
		return Rows{}, err
	}
	columns := tableColumns{text: q.TextColumns, label: q.LabelColumn, private: q.PrivateColumn, user: q.UserColumn}
	table, err := readTable(ctx, source{q.File, format, q.Delimiter}, columns)
	if err != nil {
		return Rows{}, err
	}
	return table.rows(q.File)
}

// tableColumns are the columns of a table; private and user may be "".
type tableColumns struct {
	text                 []string // joined by a space
	label, private, user string
}

// table holds the columns of a file, one entry per row; privates and users are
// nil where there is no such column.
type table struct{ texts, labels, privates, users []string }

// rows names the classes after the distinct labels, sorted, and the private
// labels likewise. Without labels there is one class.
func (t table) rows(source string) (Rows, error) {
	out := Rows{Classes: []string{"all"}, Source: source}
	for _, text := range t.texts {
		out.Rows = append(out.Rows, Row{Text: text})
	}
	if t.labels != nil {
		var err error
		if out, err = labelled(source, t.texts, t.labels); err != nil {
			return Rows{}, err
		}
	}
	if t.privates != nil {
		private, err := labelled(source, t.texts, t.privates)
		if err != nil {
			return Rows{}, fmt.Errorf("private label: %w", err)
		}
		out.Privates = private.Classes
		for i, r := range private.Rows {
			out.Rows[i].Private = r.Label
		}
	}
	for i, u := range t.users {
		out.Rows[i].User = u
	}
	return out, nil
}

// labelled turns label names into classes.
func labelled(source string, texts, labels []string) (Rows, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(classes) < 2 {
		return Rows{}, fmt.Errorf("%s: %d distinct labels %q: a task needs at least 2", source, len(classes), classes)
	}
	for _, c := range classes {
		if err := check.Name("label", c); err != nil {
			return Rows{}, fmt.Errorf("%s: %w", source, err)
		}
	}
	rows := make([]Row, len(texts))
	for i := range rows {
		class, _ := slices.BinarySearch(classes, labels[i])
		rows[i] = Row{Text: texts[i], Label: class}
	}
	return Rows{Rows: rows, Classes: classes, Source: source}, nil
}

func formatOf(file, format string) (string, error) {
	format = cmp.Or(format, string(textio.FormatOf(file)))
	if slices.Contains([]string{"csv", "tsv", "jsonl", "json", "parquet"}, format) {
		return format, nil
	}
	return "", fmt.Errorf("%s: read as %s: must be csv, tsv, jsonl, json or parquet (told by the suffix, or by the "+
		"format setting)", file, format)
}

// readTable reads the columns of every row.
func readTable(ctx context.Context, s source, columns tableColumns) (table, error) {
	var t table
	add := func(fields func(column string) (string, error)) error {
		var parts []string
		for _, c := range columns.text {
			v, err := fields(c)
			if err != nil {
				return err
			}
			parts = append(parts, v)
		}
		t.texts = append(t.texts, strings.Join(parts, " "))
		for _, c := range []struct {
			what, name string
			to         *[]string
		}{{"label", columns.label, &t.labels}, {"private label", columns.private, &t.privates},
			{"user", columns.user, &t.users}} {
			if c.name == "" {
				continue
			}
			v, err := fields(c.name)
			if err != nil {
				return err
			}
			if v = strings.TrimSpace(v); v == "" {
				return fmt.Errorf("empty %s in column %q", c.what, c.name)
			}
			*c.to = append(*c.to, v)
		}
		return nil
	}
	needed := slices.DeleteFunc(append(slices.Clone(columns.text), columns.label, columns.private, columns.user),
		func(c string) bool { return c == "" })
	err := s.each(ctx, needed, add)
	if err == nil && len(t.texts) == 0 {
		err = fmt.Errorf("%s: no rows", s.file)
	}
	return t, err
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
	return eachRow(ctx, f, s.file, comma, needed, add)
}

// addRow takes one row, given a function from a column to its value.
type addRow = func(fields func(column string) (string, error)) error

func eachRow(ctx context.Context, r io.Reader, name string, comma rune, needed []string, add addRow) error {
	t := csv.NewReader(r)
	t.Comma, t.ReuseRecord = comma, true
	t.LazyQuotes = comma == '\t' // a quote is an ordinary character in most TSV files
	header, err := t.Read()
	if err != nil {
		return csvError(name, err)
	}
	columns := map[string]int{}
	for i, h := range header {
		columns[strings.TrimSpace(h)] = i
	}
	missing := slices.DeleteFunc(slices.Clone(needed), func(c string) bool { _, ok := columns[c]; return ok })
	if len(missing) == 1 {
		return fmt.Errorf("%s:1: no column %q: the header has %q", name, missing[0], header)
	}
	if len(missing) > 1 {
		return fmt.Errorf("%s:1: no columns %q: the header has %q", name, missing, header)
	}
	return eachRecord(ctx, t, name, func(row []string) error {
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
			return csvError(name, err)
		}
		line, _ := t.FieldPos(0)
		if err := take(row); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

// csvError converts an error of encoding/csv to the form "file:line: what".
func csvError(name string, err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s:%d: column %d: %w", name, p.Line, p.Column, p.Err)
	}
	if err == io.EOF {
		return fmt.Errorf("%s: empty", name)
	}
	return fmt.Errorf("%s: %w", name, err)
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
	case '{', '[', 'n':
		return "", fmt.Errorf("field %q is neither text nor a number", c)
	}
	return string(raw), nil
}
