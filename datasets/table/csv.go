package table

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// separated reads CSV and TSV.
type separated struct {
	t       *Reader
	header  []string // nil: there is none
	first   []string // the row that is data, until it is read
	columns []int    // the chosen fields
	// read returns the fields of the next row, and its line.
	read func() ([]string, int, error)
	// text is that of a field as read.
	text func(field string) string
	// to returns what writes a row, of which the columns have these values.
	to func(b *bufio.Writer) func(fields []string, columns []Value) error
}

// start reads the first row.
func (s *separated) start() (source, error) {
	fields, line, err := s.read()
	if errors.Is(err, io.EOF) {
		return nil, check.Wrong("%s: empty", s.t.options.Name)
	}
	if err != nil {
		return nil, err
	}
	return s, s.choose(fields, list.Map(fields, s.text), line)
}

func (s *separated) next() (Row, error) {
	fields, line := s.first, 1
	var err error
	if s.first = nil; fields == nil {
		fields, line, err = s.read()
	}
	if err != nil {
		return Row{}, err
	}
	row := Row{Values: make([]Value, len(s.columns)), Line: line, rest: fields}
	for i, f := range s.columns {
		row.Values[i].Text = s.text(fields[f])
	}
	for _, f := range fields {
		row.Size += len(f) + 1
	}
	s.t.count(&row, s.columns)
	return row, nil
}

func (s *separated) writer(b *bufio.Writer) Writer {
	write := s.to(b)
	if s.header != nil {
		_ = write(s.header, nil) // errors stay until Flush
	}
	return &writer{Writer: b, row: func(r Row) error { return write(r.rest.([]string), r.Values) }}
}

func newCSV(t *Reader) (source, error) {
	parser := csv.NewReader(t.text)
	parser.Comma = rune(cmp.Or(t.options.Delimiter, ",")[0])
	s := &separated{t: t, text: func(field string) string { return field }}
	s.read = func() ([]string, int, error) {
		fields, err := parser.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return nil, 0, fmt.Errorf("%s:%d: column %d: %w", t.options.Name, wrong.Line, wrong.Column, wrong.Err)
		}
		if err != nil {
			return nil, 0, err
		}
		line, _ := parser.FieldPos(0)
		return fields, line, nil
	}
	s.to = func(b *bufio.Writer) func([]string, []Value) error {
		w := csv.NewWriter(b) // writes to b as it is
		w.Comma = parser.Comma
		return func(fields []string, columns []Value) error {
			for i, v := range columns {
				fields[s.columns[i]] = v.Text
			}
			if len(fields) == 1 && fields[0] == "" { // an empty line would be no row
				_, err := b.WriteString("\"\"\n")
				return err
			}
			return w.Write(fields)
		}
	}
	return s.start()
}

// newTabs reads TSV. A quote is an ordinary character, but a field in quotes is the
// text between them, with each quote in it doubled, as spreadsheets write it.
func newTabs(t *Reader) (source, error) {
	l, width := lines{t: t}, 0
	s := &separated{t: t, text: func(field string) string { text, _ := unquote(field); return text }}
	s.read = func() ([]string, int, error) {
		line, err := l.full()
		if err != nil {
			return nil, 0, err
		}
		fields := strings.Split(line, "\t")
		if width = cmp.Or(width, len(fields)); len(fields) != width {
			return nil, 0, fmt.Errorf("%s:%d: %d fields, want %d: where quoted fields hold tabs or line breaks, give the "+
				"format csv and a tab as its delimiter", t.options.Name, l.line, len(fields), width)
		}
		return fields, int(l.line), nil
	}
	s.to = func(b *bufio.Writer) func([]string, []Value) error {
		return func(fields []string, columns []Value) error {
			for i, v := range columns {
				field := &fields[s.columns[i]]
				if _, quoted := unquote(*field); quoted {
					v.Text = `"` + strings.ReplaceAll(v.Text, `"`, `""`) + `"`
				}
				*field = v.Text
			}
			_, err := b.WriteString(strings.Join(fields, "\t") + "\n")
			return err
		}
	}
	return s.start()
}

// unquote returns the text of a field of TSV, and whether it is in quotes.
func unquote(f string) (string, bool) {
	if len(f) < 2 || f[0] != '"' || f[len(f)-1] != '"' {
		return f, false
	}
	inner := f[1 : len(f)-1]
	if text := strings.ReplaceAll(inner, `""`, `"`); !strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
		return text, true
	}
	return f, false
}

// choose finds the chosen fields in the first row, whose fields are names, if there
// is a header.
func (s *separated) choose(first, names []string, line int) error {
	o := s.t.options
	for _, name := range names {
		// A header with a line break is a table whose lines end in a way that is not
		// read: its texts would be taken for names. Without a header it is the first row
		// that has them, unless they are in quotes, as only LF can be.
		if at := strings.IndexAny(name, lineBreaks); at >= 0 && (!o.NoHeader || name[at] != '\n') {
			return check.Wrong("%s:%d: the first row has a line break in %.60q: lines must end with LF, CR LF or CR",
				o.Name, line, name)
		}
	}
	if o.NoHeader {
		for _, name := range o.Columns {
			n, err := strconv.Atoi(name)
			if err != nil || n < 1 || n > len(first) {
				return check.Wrong("column = %q: must be a number in [1, %d] where there is no header", name, len(first))
			}
			s.columns = append(s.columns, n-1)
		}
		s.first = first
		return nil
	}
	var missing []string
	for _, name := range o.Columns {
		at := -1
		for i, n := range names {
			if strings.TrimSpace(n) == name && at >= 0 {
				return check.Wrong("%s:%d: two columns are called %q", o.Name, line, name)
			} else if strings.TrimSpace(n) == name {
				at = i
			}
		}
		if at < 0 {
			missing = append(missing, name)
		}
		s.columns = append(s.columns, at)
	}
	if len(missing) > 0 {
		return s.noColumn(missing, names, line)
	}
	s.header = first
	s.t.number++
	return nil
}

func (s *separated) noColumn(missing, header []string, line int) error {
	hint, what := "", fmt.Sprintf("columns %q", missing)
	if i := strings.IndexAny(header[0], ";,|\t"); len(header) == 1 && i >= 0 {
		hint = fmt.Sprintf("; give --delimiter %q (in a study: delimiter)", header[0][i:i+1])
	}
	if len(missing) == 1 {
		what = fmt.Sprintf("column %q", missing[0])
	}
	return check.Wrong("%s:%d: no %s: the header has %q%s", s.t.options.Name, line, what, header, hint)
}
