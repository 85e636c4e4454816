package table

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
)

// separated reads CSV and TSV.
type separated struct {
	t       *Reader
	header  []string // nil: there is none
	first   []string // the row that is data, until it is read
	columns []int    // the chosen fields
	// read returns the fields of the next row, and its line.
	read func() ([]string, int, error)
	// to returns what writes a row.
	to func(b *bufio.Writer) func(fields []string) error
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
	return s, s.choose(fields, line)
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
		row.Values[i].Text = fields[f]
	}
	for _, f := range fields {
		row.Size += len(f) + 1
	}
	return row, nil
}

func (s *separated) writer(b *bufio.Writer) Writer {
	write := s.to(b)
	if s.header != nil {
		_ = write(s.header) // errors stay until Flush
	}
	return &writer{Writer: b, row: func(r Row) error {
		fields := r.rest.([]string)
		for i, v := range r.Values {
			fields[s.columns[i]] = v.Text
		}
		return write(fields)
	}}
}

func newCSV(t *Reader) (source, error) {
	parser := csv.NewReader(t.text)
	parser.Comma = rune(cmp.Or(t.options.Delimiter, ",")[0])
	s := &separated{t: t}
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
	s.to = func(b *bufio.Writer) func([]string) error {
		w := csv.NewWriter(b) // writes to b as it is
		w.Comma = parser.Comma
		return func(fields []string) error {
			if len(fields) == 1 && fields[0] == "" { // an empty line would be no row
				_, err := b.WriteString("\"\"\n")
				return err
			}
			return w.Write(fields)
		}
	}
	return s.start()
}

// newTabs reads TSV as IANA registered it: a quote is an ordinary character.
func newTabs(t *Reader) (source, error) {
	l, width := lines{t: t}, 0
	s := &separated{t: t}
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
		return fields, l.line, nil
	}
	s.to = func(b *bufio.Writer) func([]string) error {
		return func(fields []string) error {
			_, err := b.WriteString(strings.Join(fields, "\t") + "\n")
			return err
		}
	}
	return s.start()
}

// choose finds the chosen fields in the first row, whose fields are names, if there
// is a header.
func (s *separated) choose(first []string, line int) error {
	o := s.t.options
	for _, name := range first {
		// A header with a line break is a table whose lines end in a way that is not
		// read: its texts would be taken for names. Without a header it is the first row
		// that has them, unless they are in quotes, as only LF can be.
		if at := strings.IndexAny(name, lineBreaks); at >= 0 && (!o.NoHeader || name[at] != '\n') {
			return check.Wrong("%s:%d: the first row has a line break in %.60q: lines must end with LF or CR LF", o.Name,
				line, name)
		}
	}
	if s.first = first; !o.NoHeader {
		s.header, s.first = first, nil
	}
	for _, name := range o.Columns {
		at, err := strconv.Atoi(name)
		if o.NoHeader && (err != nil || at < 1 || at > len(first)) {
			return check.Wrong("column = %q: must be a number in [1, %d] where there is no header", name, len(first))
		}
		if at--; !o.NoHeader {
			called := func(n string) bool { return strings.TrimSpace(n) == name }
			if at = slices.IndexFunc(first, called); at < 0 {
				hint := ""
				if i := strings.IndexAny(first[0], ";,|\t"); len(first) == 1 && i >= 0 {
					hint = fmt.Sprintf("; give --delimiter %q (in a study: delimiter)", first[0][i:i+1])
				}
				return check.Wrong("%s:%d: no column %q: the header has %q%s", o.Name, line, name, first, hint)
			}
			if slices.ContainsFunc(first[at+1:], called) {
				return check.Wrong("%s:%d: two columns are called %q", o.Name, line, name)
			}
		}
		s.columns = append(s.columns, at)
	}
	return nil
}
