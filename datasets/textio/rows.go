package textio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/gunzip"
)

// rows reads formats with one record per line.
type rows struct {
	r       *bufio.Reader
	options Options
	fields  fields
	before  string
	line    int
	record  uint64
	buf     []byte
}

// fields finds the chosen fields of a line.
type fields interface {
	// split appends the pieces of a line, which has no line end.
	split(dst []Piece, line string, number int) ([]Piece, error)
	// end returns an error if no line had one of the chosen fields.
	end() error
}

func newRows(r *bufio.Reader, o Options, f fields) *rows {
	return &rows{r: r, options: o, fields: f, before: gunzip.SkipMark(r)}
}

func (t *rows) waiting() bool { return hasLine(t.r) }

func (t *rows) next(dst []Piece) ([]Piece, error) {
	line, err := t.read()
	if err != nil {
		return dst, err
	}
	t.line++
	content := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	from := len(dst)
	if strings.TrimSpace(content) == "" {
		dst = append(dst, Piece{Before: content})
	} else if dst, err = t.fields.split(dst, content, t.line); err != nil {
		return dst[:from], fmt.Errorf("%s:%d: %w", t.options.Name, t.line, err)
	}
	for i := from; i < len(dst); i++ {
		dst[i].Record = t.record
	}
	dst[from].Before = t.before + dst[from].Before
	t.before = ""
	last := &dst[len(dst)-1]
	last.After += line[len(content):]
	t.record++
	return dst, nil
}

// read returns the next line with its end.
func (t *rows) read() (string, error) {
	t.buf = t.buf[:0]
	for {
		part, err := t.r.ReadSlice('\n')
		t.buf = append(t.buf, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(t.buf) > 0:
			return string(t.buf), nil
		case errors.Is(err, io.EOF):
			if failed := t.fields.end(); failed != nil {
				return "", fmt.Errorf("%s: %w", t.options.Name, failed)
			}
			return "", err
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case len(t.buf) > t.options.longestRecord():
			return "", tooLong(t.options, t.line+1)
		}
	}
}

// tsvFields finds the fields between tabs. A quote is an ordinary character.
type tsvFields struct {
	options Options
	columns []int
	width   int
}

func (t *tsvFields) split(dst []Piece, line string, number int) ([]Piece, error) {
	width := strings.Count(line, "\t") + 1
	if t.columns == nil {
		var err error
		if t.columns, err = chosen(t.options, strings.Split(line, "\t"), number); err != nil {
			// chosen includes the position in its error.
			return dst, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", t.options.Name, number)))
		}
		t.width = width
		if !t.options.NoHeader {
			return append(dst, Piece{Before: line}), nil
		}
	}
	if width != t.width {
		return dst, fmt.Errorf("%d fields, want %d (quotes have no meaning in TSV)", width, t.width)
	}
	done, at, field := 0, 0, 0
	for i, f := range t.columns {
		for ; field < f; field++ {
			at += strings.IndexByte(line[at:], '\t') + 1
		}
		to := len(line)
		if n := strings.IndexByte(line[at:], '\t'); n >= 0 {
			to = at + n
		}
		p := Piece{Before: line[done:at], Text: line[at:to], quote: plain}
		if done = to; i == len(t.columns)-1 {
			p.After = line[done:]
		}
		dst = append(dst, p)
	}
	return dst, nil
}

func (t *tsvFields) end() error {
	if t.columns == nil {
		return errors.New("empty")
	}
	return nil
}

// jsonFields finds the values of the chosen keys of an object.
type jsonFields struct {
	options Options
	seen    map[string]bool
}

func newJSONFields(o Options) *jsonFields { return &jsonFields{options: o, seen: map[string]bool{}} }

func (j *jsonFields) split(dst []Piece, line string, _ int) ([]Piece, error) {
	d := json.NewDecoder(strings.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return dst, errors.New("is not a JSON object")
	}
	done, from := 0, len(dst)
	var found []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return dst, jsonError(err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return dst, jsonError(err)
		}
		name, ok := key.(string)
		if !ok || !slices.Contains(j.options.Columns, name) {
			continue
		}
		found = append(found, name)
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return dst, fmt.Errorf("field %q is no text in quotes", name)
		}
		to := int(d.InputOffset())
		dst = append(dst, Piece{Before: line[done : to-len(raw)], Text: text, quote: jsonText})
		done = to
	}
	if _, err := d.Token(); err != nil {
		return dst, jsonError(err)
	}
	if strings.TrimSpace(line[d.InputOffset():]) != "" {
		return dst, errors.New("more after the JSON object")
	}
	missing := false
	for _, c := range j.options.Columns {
		if slices.Contains(found, c) {
			j.seen[c] = true
		} else if missing = true; !j.options.KeepMissing {
			return dst, check.Wrong("no field %q; objects without it are copied with --missing keep", c)
		}
	}
	if len(dst) == from {
		return append(dst, Piece{Before: line, Missing: missing}), nil
	}
	dst[len(dst)-1].After, dst[len(dst)-1].Missing = line[done:], missing
	return dst, nil
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON object does not end")
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

func (j *jsonFields) end() error {
	for _, c := range j.options.Columns {
		if !j.seen[c] {
			return fmt.Errorf("no object has a field %q", c)
		}
	}
	return nil
}

// appendJSON writes a string as JSON.
func appendJSON(dst []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string cannot fail
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
