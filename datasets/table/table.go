// Package table reads and writes the texts and tables of users: plain lines, CSV,
// TSV, JSON lines, JSON arrays and Parquet. Every door of the program reads with
// it, so a file is the same table wherever it is given.
//
// Values come back equal, bytes need not: a table is parsed, and written again by
// the library that knows its format. Input that is not text is refused, with its
// line. Memory is bounded: a row of more than 64 MiB is refused.
package table

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mldpbench/internal/check"
)

// Format is the format of a table.
type Format string

// The formats. Any of them may be gzipped, but for Parquet.
const (
	Lines     Format = "lines" // every line is a text
	CSV       Format = "csv"   // RFC 4180
	TSV       Format = "tsv"   // a row is a line, and quotes are text
	JSONLines Format = "jsonl" // one JSON object a line
	JSON      Format = "json"  // an array of JSON objects
	Parquet   Format = "parquet"
)

var formats = []Format{Lines, CSV, TSV, JSONLines, JSON, Parquet}

// longestRecord is the longest row, in bytes.
const longestRecord = 64 << 20

// LineID is the ID of Lines: the number of the line, from 1.
const LineID = "line"

// Options say what is read, and how it is written.
type Options struct {
	Name   string // of the table, for errors
	Format Format // "" means that of the suffix of the name
	// Columns are the names of the fields that are read: at least one for a table,
	// none for Lines. Without a header they are numbers from 1.
	Columns  []string
	NoHeader bool // the first row of CSV or TSV is data
	// Delimiter separates the fields of CSV: one ASCII character, or "" for that of
	// the format. TSV with another one is CSV.
	Delimiter string
	// Encoding is a name of the IANA, as latin1; "" means UTF-8, which is checked.
	Encoding string
	// Text refuses values that are no text: numbers of JSON, columns of Parquet.
	Text bool
	// ID is the column of Row.ID, which is copied: of texts or whole numbers. Of Lines it is LineID. "": none.
	ID string

	unchecked bool // the encoding is not looked at
	longest   int  // replaces longestRecord in tests
}

// Check returns an error for wrong options, before anything is opened.
func (o Options) Check() error {
	format := cmp.Or(o.Format, FormatOf(o.Name))
	separated := format == CSV || format == TSV
	d := o.Delimiter
	prefix := strings.TrimPrefix(o.Name+": ", ": ")
	switch {
	case !slices.Contains(formats, format):
		return check.Wrong("format = %q: must be one of %q", format, formats)
	case d != "" && (len(d) > 1 || d[0] >= utf8.RuneSelf || strings.ContainsAny(d, "\"\r\n\x00")):
		return check.Wrong("delimiter = %q: must be one ASCII character, no quote and no line end", d)
	case format == Lines && len(o.Columns) > 0:
		return check.Wrong("%splain lines have no columns: say what is read with the suffix .csv, .tsv, .jsonl, "+
			".json or .parquet (.gz may follow), or with --format", prefix)
	case format != Lines && len(o.Columns) == 0:
		return check.Wrong("%s%s needs the name of a column", prefix, format)
	case d != "" && !separated:
		return check.Wrong("%s%s has no delimiter", prefix, format)
	case o.NoHeader && !separated:
		return check.Wrong("%s%s has no header", prefix, format)
	case o.ID != "" && format == Lines && o.ID != LineID:
		return check.Wrong("%splain lines have no column %q: their id is \"line\", their number", prefix, o.ID)
	case o.ID != "" && slices.Contains(o.Columns, o.ID):
		return check.Wrong("%scolumn %q is privatised: the id is another column, which is copied", prefix, o.ID)
	}
	_, err := encodingOf(o.Encoding)
	return err
}

// FormatOf returns the format by the suffix of a name.
func FormatOf(name string) Format {
	switch filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".csv":
		return CSV
	case ".tsv":
		return TSV
	case ".jsonl", ".ndjson":
		return JSONLines
	case ".json":
		return JSON
	case ".parquet":
		return Parquet
	}
	return Lines
}

// CheckOutput returns an error for the name of a file that says another format:
// what is written has the format of what is read.
func (o Options) CheckOutput(name string) error {
	is := cmp.Or(o.Format, FormatOf(o.Name))
	says := FormatOf(name)
	if name != "" && says != Lines && says != is && !(o.Delimiter != "" && (says == CSV || says == TSV)) {
		return check.Wrong("%s: the output has the format of the input, %s: choose a name that ends so", name, is)
	}
	return nil
}

// Row is a row of a table, or a line.
type Row struct {
	Values []Value // of Options.Columns, in their order; one of Lines
	ID     string  // of Options.ID, "" where it has none
	Record uint64  // number of the row or line, from 0
	Line   int     // of the file, from 1; of JSON and Parquet the number of the row
	Size   int     // in bytes, about
	rest   any     // the other fields, as the writer of the format needs them
}

// Value is a field of a row.
type Value struct {
	Text string
	Null bool // there is no text

	quoted bool // in CSV
}

// Strings are the texts of the columns; a row that lacks one is an error.
func (r Row) Strings(columns []string) ([]string, error) {
	out := make([]string, len(r.Values))
	for i, v := range r.Values {
		if v.Null {
			return nil, fmt.Errorf("column %q has no value", columns[i])
		}
		out[i] = v.Text
	}
	return out, nil
}

// Reader reads a table row by row.
type Reader struct {
	options Options
	source
	text  *bufio.Reader // of all formats but Parquet
	input *checked      // that it reads
	mark  string        // byte order mark
	rows  uint64        // that were read
	// Suspects are the texts so far that look like missing ones. In quotes of CSV they do
	// not: who writes NA for a missing one writes it without.
	Suspects Suspects
	copied   []Copied       // so far, of all formats but Parquet
	copiedAt map[string]int // in copied, by name, of JSON
	err      error
}

// source reads the rows of one format.
type source interface {
	// next returns the next row, and io.EOF at the end.
	next() (Row, error)
	writer(w *bufio.Writer) Writer
}

// Writer writes rows of a table with the texts that they have now.
type Writer interface {
	Write(Row) error
	Flush() error // passes on what was written
	Close() error // the end of the table; what is written to stays open
}

// NewWriter returns the writer of what t reads: in its format, with its header,
// in UTF-8.
func (t *Reader) NewWriter(w io.Writer) Writer {
	b := bufio.NewWriterSize(w, bufferSize)
	_, _ = b.WriteString(t.mark) // errors stay until Flush
	return t.writer(b)
}

// writer writes rows of text.
type writer struct {
	*bufio.Writer
	row func(Row) error
	end string // written last
}

func (w *writer) Write(r Row) error { return w.row(r) }

func (w *writer) Close() error {
	_, _ = w.WriteString(w.end) // errors stay until Flush
	return w.Flush()
}

// NewReader starts reading r, gzipped or not, with or without a byte order mark.
// Parquet must be a file.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Format = cmp.Or(o.Format, FormatOf(o.Name))
	if o.Format == TSV && o.Delimiter != "" && o.Delimiter != "\t" {
		o.Format = CSV
	}
	t := &Reader{options: o, Suspects: Suspects{}}
	if o.Format == Parquet {
		var err error
		t.source, err = newColumns(t, r)
		return t, err
	}
	if err := t.decode(r); err != nil {
		return nil, err
	}
	var err error
	switch {
	case o.Format == CSV:
		t.source, err = newCSV(t)
	case o.Format == TSV:
		t.source, err = newTabs(t)
	case o.Format == JSON:
		t.source, err = newArray(t)
	case o.Format == JSONLines:
		t.source = &objects{lines: lines{t: t}}
	default:
		t.source = &lines{t: t}
	}
	return t, err
}

// Column is the name of a value of every row, "" of Lines.
func (t *Reader) Column(i int) string {
	if len(t.options.Columns) == 0 {
		return ""
	}
	return t.options.Columns[i]
}

// Next returns the next row, and io.EOF at the end. After an error there is nothing
// more to read.
func (t *Reader) Next() (Row, error) {
	if t.err != nil {
		return Row{}, t.err
	}
	var row Row
	row, t.err = t.next()
	row.Record = t.rows
	if t.err == nil {
		t.rows++
		t.lookAt(row)
	}
	for _, v := range row.Values {
		if !v.quoted {
			t.Suspects.Add(v.Text)
		}
	}
	if t.input != nil {
		t.input.n = 0
	}
	return row, t.err
}

// Holds reports whether a field can hold a character: a line holds no line break,
// a field of TSV no tab.
func (t *Reader) Holds(r rune) bool {
	switch t.options.Format {
	case Lines, TSV:
		return !strings.ContainsRune(lineBreaks+mark, r) && (r != '\t' || t.options.Format == Lines)
	case CSV:
		return r != rune(mark[0])
	}
	return true
}

// Place says where a row is, for errors.
func (t *Reader) Place(r Row) string {
	switch t.options.Format {
	case JSON:
		return fmt.Sprintf("%s: object %d", t.options.Name, r.Line)
	case Parquet:
		return fmt.Sprintf("%s: row %d", t.options.Name, r.Line)
	}
	return fmt.Sprintf("%s:%d", t.options.Name, r.Line)
}

// Each calls take with every row of a file; errors of take say where the row is.
func Each(ctx context.Context, file string, o Options, take func(Row) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	o.Name = file
	r, err := NewReader(f, o)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && n%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := take(row); err != nil {
			return fmt.Errorf("%s: %w", r.Place(row), err)
		}
	}
}

// Read returns the columns of all rows of a file, in their order. A null is an error.
func Read(ctx context.Context, file string, o Options) ([][]string, error) {
	return readAll(ctx, file, o, func(r Row) ([]string, error) { return r.Strings(o.Columns) })
}

// ReadNulls is Read of a file that may have nulls: a row with one is nil.
func ReadNulls(ctx context.Context, file string, o Options) ([][]string, error) {
	return readAll(ctx, file, o, func(r Row) ([]string, error) {
		if slices.ContainsFunc(r.Values, func(v Value) bool { return v.Null }) {
			return nil, nil
		}
		return r.Strings(o.Columns)
	})
}

// readAll returns what of makes of each row of a file, which must have some.
func readAll(ctx context.Context, file string, o Options, of func(Row) ([]string, error)) (rows [][]string, err error) {
	err = Each(ctx, file, o, func(r Row) error {
		row, err := of(r)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no rows", file)
	}
	return rows, err
}
