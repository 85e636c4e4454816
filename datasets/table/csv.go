package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/transform"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// separated reads CSV and TSV. Fields of CSV have their marks.
type separated struct {
	t       *Reader
	header  []string // nil: there is none
	first   []string // the row that is data, until it is read
	columns []int    // the chosen fields
	id      int      // that of Row.ID, -1 for none
	width   int      // fields of a row, 0 until the first is read
	before  int      // empty lines before the first row that are rows, until they are read
	// read returns the fields of the next row, and its line; nil for an empty line.
	read func() ([]string, int, error)
	// to returns what writes a row.
	to func(b *bufio.Writer) func(fields []string) error
	// hint says what may be wrong with the fields of the first row, or "".
	hint func(first []string) string
}

// start reads the first row.
func (s *separated) start() (source, error) {
	empty := 0
	for {
		fields, line, err := s.read()
		if errors.Is(err, io.EOF) {
			return nil, check.Wrong("%s: empty", s.t.options.Name)
		}
		if err != nil {
			return nil, err
		}
		if fields == nil {
			empty++
			continue
		}
		s.width = len(fields)
		if s.width == 1 && s.t.options.NoHeader {
			s.before = empty
		}
		return s, s.choose(fields, line)
	}
}

// next returns the next row. In a table of one column an empty line is a row without
// text; in others it is none.
func (s *separated) next() (Row, error) {
	fields, line, err := s.fields()
	if err != nil {
		return Row{}, err
	}
	row := Row{
		Values: make([]Value, len(s.columns)),
		Line:   line,
		rest:   fields,
	}
	for i, f := range s.columns {
		row.Values[i].Text = unmarked(fields[f])
		row.Values[i].quoted = isQuoted(fields[f])
	}
	if s.id >= 0 {
		row.ID = unmarked(fields[s.id])
	}
	for _, f := range fields {
		row.Size += len(f) + 1
	}
	return row, nil
}

// fields returns the fields of the next row, and its line.
func (s *separated) fields() ([]string, int, error) {
	if s.before > 0 {
		s.before--
		return []string{""}, 1, nil
	}
	if first := s.first; first != nil {
		s.first = nil
		return first, 1, nil
	}
	for {
		fields, line, err := s.read()
		if err != nil {
			return nil, 0, err
		}
		if fields == nil && s.width == 1 {
			fields = []string{""}
		}
		if fields != nil {
			return fields, line, nil
		}
	}
}

// writer writes rows with their other fields as they were read.
func (s *separated) writer(b *bufio.Writer) Writer {
	write := s.to(b)
	if s.header != nil {
		_ = write(s.header) // errors stay until Flush
	}
	return &writer{
		Writer: b,
		row: func(r Row) error {
			fields := r.rest.([]string)
			for i, v := range r.Values {
				old := &fields[s.columns[i]]
				if s.t.options.Format == CSV && *old != "" && (v.quoted || v.Text == "") {
					*old = mark + v.Text // an empty text is not a missing one
				} else {
					*old = v.Text
				}
			}
			return write(fields)
		},
	}
}

// newCSV reads and writes CSV by encoding/csv, with marks.
func newCSV(t *Reader) (source, error) {
	found := &marks{}
	parser := csv.NewReader(transform.NewReader(t.text, found))
	parser.Comma = rune(cmp.Or(t.options.Delimiter, ",")[0])
	parser.FieldsPerRecord = -1 // an empty line has one
	s := &separated{t: t}
	s.read = func() ([]string, int, error) {
		fields, err := parser.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s:%d: %w%s", t.options.Name, wrong.Line, wrong.Err, found.hint())
		}
		if err != nil || isEmptyLine(fields) {
			return nil, 0, err
		}
		line, _ := parser.FieldPos(0)
		if s.width != 0 && len(fields) != s.width {
			return nil, 0, fmt.Errorf("%s:%d: %d fields, want %d%s", t.options.Name, line, len(fields), s.width,
				found.hint())
		}
		return fields, line, nil
	}
	s.to = func(b *bufio.Writer) func([]string) error {
		return func(fields []string) error { return writeCSV(b, parser.Comma, fields) }
	}
	s.hint = func(first []string) string {
		if i := strings.IndexAny(first[0], ";,|\t"); len(first) == 1 && i >= 0 {
			return fmt.Sprintf("; give --delimiter %q (in a study: delimiter)", first[0][i:i+1])
		}
		return ""
	}
	return s.start()
}

// hint says what to do about quotes after a backslash.
func (m *marks) hint() string {
	if !m.escaped {
		return ""
	}
	return `: quotes stand after a backslash here, which CSV does not know: write them twice (Spark: escape='"'; ` +
		`R: qmethod="double"; pandas: doublequote=True; MySQL: ESCAPED BY '"')`
}

// writeCSV writes a row. A field that has a mark stands in quotes: encoding/csv quotes one
// that begins with a space, which then is taken out with its mark.
func writeCSV(to io.Writer, comma rune, fields []string) error {
	const forced = " " + mark
	plain := make([]string, len(fields))
	for i, f := range fields {
		plain[i] = unmarked(f)
		if isQuoted(f) {
			plain[i] = forced + plain[i]
		}
	}
	var row bytes.Buffer
	w := csv.NewWriter(&row)
	w.Comma = comma
	if err := w.Write(plain); err != nil {
		return err
	}
	w.Flush()
	_, err := to.Write(bytes.ReplaceAll(row.Bytes(), []byte(forced), nil))
	return err
}

// newTabs reads TSV as IANA registered it: a quote is an ordinary character.
func newTabs(t *Reader) (source, error) {
	l := lines{t: t}
	s := &separated{t: t}
	s.read = func() ([]string, int, error) {
		line, _, err := l.read()
		line = strings.TrimRight(line, "\r")
		if err != nil || line == "" {
			return nil, 0, err
		}
		fields := strings.Split(line, "\t")
		if s.width != 0 && len(fields) != s.width {
			return nil, 0, fmt.Errorf("%s:%d: %d fields, want %d: where quoted fields hold tabs or line breaks, give "+
				"the format csv and a tab as its delimiter", t.options.Name, l.line, len(fields), s.width)
		}
		return fields, l.line, nil
	}
	s.to = func(b *bufio.Writer) func([]string) error {
		return func(fields []string) error {
			_, err := b.WriteString(strings.Join(fields, "\t") + "\n")
			return err
		}
	}
	s.hint = func(first []string) string {
		if strings.HasPrefix(first[0], `"`) {
			return `; its names stand in quotes, which are text in TSV: give --format csv --delimiter "\t" ` +
				"(in a study: format, delimiter)"
		}
		return ""
	}
	return s.start()
}

// choose finds the chosen fields in the first row, whose fields are names, if there
// is a header.
func (s *separated) choose(first []string, line int) error {
	o := s.t.options
	s.first = first
	first = list.Map(first, unmarked)
	for i, name := range first {
		// A header with a line break is a table whose lines end in a way that is not
		// read: its texts would be taken for names. Without a header it is the first row
		// that has them, unless they are in quotes.
		mayBreak := o.NoHeader && isQuoted(s.first[i])
		if strings.ContainsAny(name, lineBreaks) && !mayBreak {
			return check.Wrong("%s:%d: the first row has a line break in %.60q: lines must end with LF or CR LF",
				o.Name, line, name)
		}
	}
	if !o.NoHeader {
		s.header = s.first
		s.first = nil
	}
	for _, name := range o.Columns {
		at, err := s.find(name, first, line)
		if err != nil {
			return err
		}
		s.columns = append(s.columns, at)
	}
	s.id = -1
	if o.ID == "" {
		return nil
	}
	var err error
	s.id, err = s.find(o.ID, first, line)
	return err
}

// find returns the place of a column: by its name, or without a header by its number.
func (s *separated) find(name string, first []string, line int) (int, error) {
	if s.t.options.NoHeader {
		return s.numbered(first, name)
	}
	return s.named(first, name, line)
}

// numbered is the place of a column that is given by its number, from 1.
func (s *separated) numbered(first []string, name string) (int, error) {
	number, err := strconv.Atoi(name)
	if err != nil || number < 1 || number > len(first) {
		return 0, check.Wrong("column = %q: must be a number in [1, %d] where there is no header", name, len(first))
	}
	return number - 1, nil
}

// named is the place of the column that the header, on a line, calls so.
func (s *separated) named(header []string, name string, line int) (int, error) {
	called := func(n string) bool { return strings.TrimSpace(n) == name }
	at := slices.IndexFunc(header, called)
	if at < 0 {
		return 0, check.Wrong("%s:%d: no column %q: the header has %q%s", s.t.options.Name, line, name, header,
			s.hint(header))
	}
	if slices.ContainsFunc(header[at+1:], called) {
		return 0, check.Wrong("%s:%d: two columns are called %q", s.t.options.Name, line, name)
	}
	return at, nil
}
