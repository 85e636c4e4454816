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
)

// commas reads CSV.
type commas struct {
	t      *Reader
	parser *csv.Reader
	head
}

func newCSV(t *Reader) (*commas, error) {
	c := &commas{t: t, parser: csv.NewReader(t.text)}
	c.parser.Comma = rune(cmp.Or(t.options.Delimiter, ",")[0])
	fields, line, err := c.read()
	if err != nil {
		return nil, t.empty(err)
	}
	c.head, err = t.chosen(fields, fields, line)
	return c, err
}

func (c *commas) read() ([]string, int, error) {
	fields, err := c.parser.Read()
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return nil, 0, fmt.Errorf("%s:%d: column %d: %w", c.t.options.Name, wrong.Line, wrong.Column, wrong.Err)
	}
	if err != nil {
		return nil, 0, err
	}
	line, _ := c.parser.FieldPos(0)
	return fields, line, nil
}

func (c *commas) next() (Row, error) {
	fields, line := c.first, 1
	var err error
	if c.first = nil; fields == nil {
		fields, line, err = c.read()
	}
	if err != nil {
		return Row{}, err
	}
	row := Row{Values: make([]Value, len(c.columns)), Line: line, rest: fields}
	for i, f := range c.columns {
		row.Values[i].Text = fields[f]
	}
	for _, f := range fields {
		row.Size += len(f) + 1
	}
	c.t.count(&row, c.columns)
	return row, nil
}

func (c *commas) writer(b *bufio.Writer) Writer {
	w := csv.NewWriter(b) // writes to b as it is
	w.Comma = c.parser.Comma
	write := func(fields []string) error {
		if len(fields) == 1 && fields[0] == "" { // an empty line would be no row
			_, err := b.WriteString("\"\"\n")
			return err
		}
		return w.Write(fields)
	}
	if c.header != nil {
		_ = write(c.header) // errors stay until Flush
	}
	return &writer{Writer: b, row: func(r Row) error {
		fields := r.rest.([]string)
		for i, f := range c.columns {
			fields[f] = r.Values[i].Text
		}
		return write(fields)
	}}
}

// head is the first row of CSV or TSV.
type head struct {
	header  []string // nil: there is none
	first   []string // the row that is data, until it is read
	columns []int    // the chosen fields
}

// chosen finds the chosen fields in the first row, whose fields are names, if
// there is a header.
func (t *Reader) chosen(first, names []string, line int) (h head, err error) {
	o := t.options
	for _, name := range names {
		// A header with a line break is a table whose lines end in a way that is not
		// read: its texts would be taken for names. Without a header it is the first row
		// that has them, unless they are in quotes, as only LF can be.
		if at := strings.IndexAny(name, lineBreaks); at >= 0 && (!o.NoHeader || name[at] != '\n') {
			return h, check.Wrong("%s:%d: the first row has a line break in %.60q: lines must end with LF, CR LF or CR",
				o.Name, line, name)
		}
	}
	var missing []string
	for _, name := range o.Columns {
		at := -1
		for i, n := range names {
			switch {
			case o.NoHeader || strings.TrimSpace(n) != name:
			case at >= 0:
				return h, check.Wrong("%s:%d: two columns are called %q", o.Name, line, name)
			default:
				at = i
			}
		}
		if n, err := strconv.Atoi(name); o.NoHeader && err == nil && n >= 1 && n <= len(first) {
			at = n - 1
		} else if o.NoHeader {
			return h, check.Wrong("column = %q: must be a number in [1, %d] where there is no header", name, len(first))
		}
		if at < 0 {
			missing = append(missing, name)
		}
		h.columns = append(h.columns, at)
	}
	if len(missing) > 0 {
		return h, t.noColumn(missing, names, line)
	}
	if o.NoHeader {
		h.first = first
		return h, nil
	}
	h.header = first
	t.number++
	return h, nil
}

// empty is the error of a table that has no first row.
func (t *Reader) empty(err error) error {
	if errors.Is(err, io.EOF) {
		return check.Wrong("%s: empty", t.options.Name)
	}
	return err
}

func (t *Reader) noColumn(missing, header []string, line int) error {
	hint := ""
	if len(header) == 1 {
		if i := strings.IndexAny(header[0], ";,|\t"); i >= 0 {
			hint = fmt.Sprintf("; give --delimiter %q (in a study: delimiter)", header[0][i:i+1])
		}
	}
	what := fmt.Sprintf("column %q", missing[0])
	if len(missing) > 1 {
		what = fmt.Sprintf("columns %q", missing)
	}
	return check.Wrong("%s:%d: no %s: the header has %q%s", t.options.Name, line, what, header, hint)
}
