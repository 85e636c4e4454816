// Package textio splits text streams (plain lines, CSV, TSV, JSON) into
// the pieces to change and the bytes around them, so a program can replace the
// pieces and copy everything else byte for byte.
//
// A file is never rewritten by parsing and printing it: the library's parser
// only finds where a field begins and ends, and the rest is copied. Input that
// is not text is rejected, with line and byte. Memory is bounded whatever the
// length of a line. The caller decides what to do with a text.
package textio

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mldpbench/internal/check"
	"mldpbench/internal/gunzip"
)

// Format is the format of a stream.
type Format string

const (
	Lines     Format = "lines" // every line is a text
	CSV       Format = "csv"   // RFC 4180
	TSV       Format = "tsv"   // text/tab-separated-values: no quotes, no line breaks in fields
	JSONLines Format = "jsonl" // one JSON object per line
	JSON      Format = "json"  // an array of JSON objects
	// Parquet is no stream of text: see RewriteParquet.
	Parquet Format = "parquet"
)

// Limits on what is held in memory at once.
const (
	// LongestPiece is the largest size of one piece of Lines in bytes. A longer
	// line is split at white space into several.
	LongestPiece = 1 << 20
	// LongestRecord is the longest row of a table, and the longest line where
	// lines may not be cut.
	LongestRecord = 64 << 20
)

// Options are the options for reading a stream.
type Options struct {
	Name   string // of the stream, for errors
	Format Format // "" means Lines
	// Columns are the names of the fields to change: at least one for a table,
	// none for Lines. Without a header they are numbers from 1.
	Columns  []string
	NoHeader bool // the first row of CSV or TSV is data
	// Delimiter separates the fields of CSV; see CheckDelimiter. "" is that of the
	// format, and TSV with another one is CSV.
	Delimiter string
	// Whole keeps lines in one piece, up to LongestRecord; a longer one is an error.
	Whole bool
	// Encoding is one of Encodings; "" means UTF-8, which is checked.
	Encoding string
	// KeepMissing copies JSON objects that lack a chosen field; they are an error
	// without.
	KeepMissing bool

	longest int // replaces LongestRecord in tests
}

func (o Options) longestRecord() int { return cmp.Or(o.longest, LongestRecord) }

// Check returns an error for wrong options, before anything is opened.
func (o Options) Check() error {
	if err := checkEncoding(o.Encoding); err != nil {
		return err
	}
	if o.Format == "" {
		o.Format = Lines
	}
	if err := check.OneOf("format", string(o.Format), string(Lines), string(CSV), string(TSV),
		string(JSONLines), string(JSON), string(Parquet)); err != nil {
		return err
	}
	if err := CheckDelimiter(o.Delimiter); err != nil {
		return err
	}
	switch {
	case o.Format == Lines && len(o.Columns) > 0:
		return errors.New("plain lines have no columns: say what is read with the suffix .csv, .tsv or .jsonl " +
			"(.gz may follow), or with --format")
	case o.Format != Lines && len(o.Columns) == 0:
		return fmt.Errorf("%s: no column named", o.Format)
	case o.Delimiter != "" && o.Format != CSV && o.Format != TSV:
		return fmt.Errorf("%s has no delimiter", o.Format)
	case o.NoHeader && o.Format != CSV && o.Format != TSV:
		return fmt.Errorf("%s has no header", o.Format)
	}
	return nil
}

// CheckDelimiter accepts one ASCII character that is neither a quote nor a line
// end, and "" for the default.
func CheckDelimiter(s string) error {
	if s != "" && (len(s) > 1 || s[0] >= utf8.RuneSelf || strings.ContainsAny(s, "\"\r\n\x00")) {
		return fmt.Errorf("delimiter = %q: must be one ASCII character, no quote and no line end", s)
	}
	return nil
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

// unread are the suffixes of formats that hold text but are not read: as plain
// lines they would be privatised with their markup.
var unread = []string{".xlsx", ".xls", ".ods", ".html", ".xml", ".pdf", ".docx"}

// CheckName returns an error for the name of a file whose format is not read.
func CheckName(name string) error {
	ext := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	if !slices.Contains(unread, ext) {
		return nil
	}
	return check.Wrong("%s: %s is not read: plain lines, CSV, TSV, JSON and Parquet are", name, ext)
}

// Compressed lets fill write through gzip if name ends in .gz.
func Compressed(w io.Writer, name string, fill func(io.Writer) error) error {
	if !strings.HasSuffix(strings.ToLower(name), ".gz") {
		return fill(w)
	}
	z := gzip.NewWriter(w)
	if err := fill(z); err != nil {
		return err
	}
	return z.Close()
}

// Piece is a text and the bytes around it: Before, Text and After of all
// pieces, one after the other, are the stream.
type Piece struct {
	Before string // copied unchanged
	Text   string // decoded: without quotes and escapes
	After  string // copied unchanged
	// Record is the number of the line or row that the text is part of, from 0.
	// A row has a piece per chosen field, a long line several.
	Record uint64
	// Missing is set at the last piece of a record that lacks a chosen field.
	Missing bool
	quote   quoting
	comma   byte // of CSV
}

// Empty reports whether a piece has no text: a header, or a row without the
// field.
func (p Piece) Empty() bool { return p.quote == verbatim }

// Holds reports whether the field of a piece can hold a character.
func (p Piece) Holds(r rune) bool {
	return p.quote != plain || !strings.ContainsRune("\t\n\r\v\f\u0085\u2028\u2029", r)
}

// quoting is the way a text is written in its stream.
type quoting uint8

const (
	verbatim  quoting = iota // there is no text
	plain                    // as it is
	csvBare                  // CSV, without quotes unless it needs them
	csvQuoted                // CSV, in quotes
	jsonText                 // JSON
)

// source reads the pieces of one format.
type source interface {
	// next appends the pieces of the next record to dst. It returns io.EOF, and
	// no pieces, at the end.
	next(dst []Piece) ([]Piece, error)
	// waiting reports whether a whole line has been read but not returned yet.
	waiting() bool
}

// Reader splits a stream.
type Reader struct {
	source
	err error
}

// NewReader starts reading r, gzipped or not, with or without a byte order
// mark, which is copied.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.Format == "" {
		o.Format = Lines
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Format == Parquet {
		return nil, errors.New("parquet is no stream of text: give it as a file")
	}
	text, err := decode(r, o)
	if err != nil {
		return nil, err
	}
	if o.Format == TSV && o.Delimiter != "" && o.Delimiter != "\t" {
		o.Format = CSV
	}
	switch o.Format {
	case JSON:
		return &Reader{source: newArray(text, o)}, nil
	case CSV:
		return &Reader{source: newCSV(text, o)}, nil
	case TSV:
		return &Reader{source: newRows(text, o, &tsvFields{options: o})}, nil
	case JSONLines:
		return &Reader{source: newRows(text, o, newJSONFields(o))}, nil
	}
	return &Reader{source: newLines(text, o)}, nil
}

// Next appends the pieces of the next record to dst. At the end it returns
// io.EOF and, for a table in which no row had one of the chosen fields, an
// error. After an error there is nothing more to read.
func (r *Reader) Next(dst []Piece) ([]Piece, error) {
	if r.err != nil {
		return dst, r.err
	}
	dst, r.err = r.next(dst)
	return dst, r.err
}

// Waiting reports whether Next can return without waiting for input.
func (r *Reader) Waiting() bool { return r.err != nil || r.waiting() }

// Append writes a piece with its text replaced.
func Append(dst []byte, p Piece, text string) []byte {
	dst = append(dst, p.Before...)
	switch p.quote {
	case plain:
		dst = append(dst, text...)
	case csvBare, csvQuoted:
		dst = appendCSV(dst, text, p.comma, p.quote == csvQuoted)
	case jsonText:
		dst = appendJSON(dst, text)
	}
	return append(dst, p.After...)
}

// Plain reads a text as a whole: unzipped, checked to be UTF-8, and without a
// byte order mark. name is for errors.
func Plain(r io.Reader, name string) (io.Reader, error) {
	text, err := decode(r, Options{Name: name})
	if err != nil {
		return nil, err
	}
	gunzip.SkipMark(text)
	return text, nil
}

// decode unzips r if its first bytes are those of gzip and converts it to
// UTF-8.
func decode(r io.Reader, o Options) (*bufio.Reader, error) {
	b, _, err := gunzip.Open(r, o.Name, bufferSize)
	if err != nil {
		return nil, err
	}
	text := bufio.NewReaderSize(toUTF8(b, o), bufferSize)
	if o.Format == CSV || o.Format == TSV {
		return LineEnds(text), nil
	}
	return text, nil
}

// LineEnds reads a table whose lines end with CR alone (old Mac, Excel's "CSV
// Macintosh") as if they ended with LF: what is read first decides.
func LineEnds(b *bufio.Reader) *bufio.Reader {
	_, _ = b.Peek(1) // fills the buffer; an error comes back when it is read
	head, _ := b.Peek(b.Buffered())
	if bytes.IndexByte(head, '\n') >= 0 || bytes.IndexByte(head, '\r') < 0 {
		return b
	}
	if head[len(head)-1] == '\r' { // LF may follow
		if head, _ = b.Peek(len(head) + 1); head[len(head)-1] == '\n' {
			return b
		}
	}
	return bufio.NewReaderSize(carriage{b}, bufferSize)
}

// carriage turns CR into LF.
type carriage struct{ r io.Reader }

func (c carriage) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := range n {
		if p[i] == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// CheckHeader returns an error for a name in a header that holds a line break of
// any kind: the lines of such a table end in a way that is not read, and their
// texts would be taken for names.
func CheckHeader(names []string) error {
	for _, n := range names {
		if strings.ContainsAny(n, "\n\r\v\f\u0085\u2028\u2029") {
			return check.Wrong("the header has a line break in %.60q: lines must end with LF, CR LF or CR", n)
		}
	}
	return nil
}

const bufferSize = 1 << 18
