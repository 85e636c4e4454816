package textio

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/gunzip"
)

// csvRows reads CSV: encoding/csv finds where fields begin and end, and the
// bytes are copied from its input.
type csvRows struct {
	parser  *csv.Reader
	tape    *tape
	options Options
	before  string // the byte order mark
	columns []int  // chosen fields, in order; nil before the header
	line    int    // of the next byte of the tape
	record  uint64
}

func newCSV(r *bufio.Reader, o Options) *csvRows {
	c := &csvRows{options: o, before: gunzip.SkipMark(r), tape: &tape{r: r, options: o}, line: 1}
	c.parser = csv.NewReader(c.tape)
	c.parser.ReuseRecord = true
	if o.Delimiter != "" {
		c.parser.Comma = rune(o.Delimiter[0])
	}
	return c
}

func (c *csvRows) waiting() bool {
	return bytes.IndexByte(c.tape.rest(), '\n') >= 0 || c.tape.r.Buffered() > 0 && hasLine(c.tape.r)
}

func (c *csvRows) next(dst []Piece) ([]Piece, error) {
	row, err := c.parser.Read()
	if errors.Is(err, io.EOF) {
		if rest := c.before + string(c.tape.rest()); rest != "" { // empty lines
			dst = append(dst, Piece{Before: rest})
		}
		if c.columns == nil {
			return dst, fmt.Errorf("%s: empty", c.options.Name)
		}
		return dst, io.EOF
	}
	if err != nil {
		return dst, CSVError(c.options.Name, err)
	}
	raw := string(c.tape.advance(c.parser.InputOffset()))
	first := c.line
	c.line += strings.Count(raw, "\n")
	if c.columns == nil {
		if c.columns, err = chosen(c.options, row, first); err != nil {
			return dst, err
		}
		if !c.options.NoHeader {
			dst = append(dst, Piece{Before: c.before + raw})
			c.before = ""
			return dst, nil
		}
	}
	lineStarts := []int{0}
	if n := strings.IndexByte(raw, '\n'); n >= 0 && n < len(raw)-1 {
		for i := range len(raw) {
			if raw[i] == '\n' {
				lineStarts = append(lineStarts, i+1)
			}
		}
	}
	start := func(field int) int {
		line, column := c.parser.FieldPos(field)
		return lineStarts[line-first] + column - 1
	}
	done := 0
	for i, f := range c.columns {
		from, to := start(f), len(strings.TrimSuffix(strings.TrimSuffix(raw, "\n"), "\r"))
		if f+1 < len(row) {
			to = start(f+1) - 1
		}
		p := Piece{Before: raw[done:from], Text: raw[from:to], Record: c.record, quote: csvBare,
			comma: byte(c.parser.Comma)}
		if strings.HasPrefix(p.Text, `"`) {
			p.Text, p.quote = strings.ReplaceAll(p.Text[1:len(p.Text)-1], `""`, `"`), csvQuoted
		}
		if done = to; i == len(c.columns)-1 {
			p.After = raw[done:]
		}
		if i == 0 {
			p.Before = c.before + p.Before
			c.before = ""
		}
		dst = append(dst, p)
	}
	c.record++
	return dst, nil
}

// CSVError converts an error of encoding/csv to the form "file:line: what".
func CSVError(name string, err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s:%d: column %d: %w", name, p.Line, p.Column, p.Err)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: empty", name)
	}
	return err // of an underlying reader, which includes the file name
}

// others are the line breaks that no row may begin with where there is no
// header: it would be all of the table.
const others = "\r\v\f\u0085\u2028\u2029"

// chosen returns the numbers of the chosen fields in order.
func chosen(o Options, first []string, line int) ([]int, error) {
	if err := CheckHeader(first); err != nil && (!o.NoHeader || strings.ContainsAny(strings.Join(first, ""), others)) {
		return nil, check.Wrong("%s:%d: %v", o.Name, line, err)
	}
	var columns []int
	for _, name := range o.Columns {
		at := -1
		if o.NoHeader {
			if n, err := strconv.Atoi(name); err != nil || n < 1 || n > len(first) {
				return nil, fmt.Errorf("column = %q: must be a number in [1, %d] where there is no header", name,
					len(first))
			} else {
				at = n - 1
			}
		}
		for i, h := range first {
			if o.NoHeader || strings.TrimSpace(h) != name {
				continue
			}
			if at >= 0 {
				return nil, fmt.Errorf("%s:%d: two columns are called %q", o.Name, line, name)
			}
			at = i
		}
		if at < 0 {
			return nil, check.Wrong("%s:%d: no column %q: the header has %q", o.Name, line, name, first)
		}
		columns = append(columns, at)
	}
	slices.Sort(columns)
	return slices.Compact(columns), nil
}

// appendCSV writes a field, in quotes if it was or if it needs them.
func appendCSV(dst []byte, text string, comma byte, quoted bool) []byte {
	if !quoted && !strings.ContainsAny(text, "\"\n") && strings.IndexByte(text, comma) < 0 {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// tape keeps bytes that were read but not requested yet.
type tape struct {
	r       *bufio.Reader
	options Options
	buf     []byte
	from    int   // of the first byte kept in buf
	base    int64 // offset in the stream of buf[from]
}

func (t *tape) Read(p []byte) (int, error) {
	if longest := t.options.longestRecord(); len(t.buf)-t.from > longest {
		return 0, fmt.Errorf("%s: a row longer than %d MiB begins at byte %d: is a quote missing?", t.options.Name,
			longest>>20, t.base+1)
	}
	n, err := t.r.Read(p)
	if t.from > 1<<16 && t.from > len(t.buf)/2 {
		t.buf = t.buf[:copy(t.buf, t.buf[t.from:])]
		t.from = 0
	}
	t.buf = append(t.buf, p[:n]...)
	return n, err
}

func (t *tape) rest() []byte { return t.buf[t.from:] }

// advance returns the bytes up to an offset in the stream, valid until the
// next read.
func (t *tape) advance(to int64) []byte {
	n := min(int(to-t.base), len(t.buf)-t.from)
	out := t.buf[t.from : t.from+n]
	t.from += n
	t.base += int64(n)
	return out
}
