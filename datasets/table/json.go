package table

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
)

// member is a field of a JSON object; all but chosen texts are kept as written.
type member struct {
	name string
	raw  json.RawMessage
}

// objects reads JSON lines, or an array of objects.
type objects struct {
	lines
	array *json.Decoder   // nil for JSON lines
	seen  map[string]bool // columns
}

// newArray starts at the first object.
func newArray(t *Reader) (*objects, error) {
	j := &objects{lines: lines{t: t}, array: json.NewDecoder(t.text), seen: map[string]bool{}}
	if first, err := j.array.Token(); err != nil || first != json.Delim('[') {
		return nil, fmt.Errorf("%s: is no JSON array of objects", t.options.Name)
	}
	return j, nil
}

func (j *objects) next() (Row, error) {
	name := j.t.options.Name
	if j.array == nil {
		line, err := j.full()
		if err != nil {
			return Row{}, j.end(err)
		}
		d := json.NewDecoder(strings.NewReader(line))
		row, err := j.row(d, int(j.line))
		if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("more after the JSON object")
		}
		if err != nil {
			err = fmt.Errorf("%s:%d: %w", name, j.line, err)
		}
		return row, err
	}
	if j.array.More() {
		row, err := j.row(j.array, int(j.t.rows)+1)
		if err != nil {
			err = fmt.Errorf("%s: object %d: %w", name, j.t.rows+1, err)
		}
		return row, err
	}
	j.t.number++
	if _, err := j.array.Token(); err != nil {
		return Row{}, fmt.Errorf("%s: after %d objects: the array does not end", name, j.t.rows)
	}
	if _, err := j.array.Token(); !errors.Is(err, io.EOF) {
		return Row{}, fmt.Errorf("%s: after %d objects: more after the JSON array", name, j.t.rows)
	}
	return Row{}, j.end(io.EOF)
}

// end is the error at the end of input: that of a column that no row has, if there
// is one.
func (j *objects) end(err error) error {
	for _, c := range j.t.options.Columns {
		if errors.Is(err, io.EOF) && j.t.rows > 0 && !j.seen[c] {
			return check.Wrong("%s: no object has a field %q", j.t.options.Name, c)
		}
	}
	return err
}

// row reads the object that d is at.
func (j *objects) row(d *json.Decoder, line int) (row Row, err error) {
	o := j.t.options
	members, err := object(d)
	if err != nil {
		return row, err
	}
	row = Row{Values: make([]Value, len(o.Columns)), Line: line, rest: members}
	for _, m := range members {
		row.Size += len(m.name) + len(m.raw)
	}
	positions := make([]int, len(o.Columns))
	for i, c := range o.Columns {
		positions[i] = slices.IndexFunc(members, func(m member) bool { return m.name == c })
		switch at := positions[i]; {
		case at >= 0:
			j.seen[c] = true
			if row.Values[i], err = j.value(members[at]); err != nil {
				return row, err
			}
		case !o.KeepMissing:
			return row, check.Wrong("no field %q", c)
		default:
			row.Values[i] = Value{Missing: true, Null: true}
		}
	}
	j.t.count(&row, positions)
	return row, nil
}

func (j *objects) value(m member) (v Value, err error) {
	switch c := m.raw[0]; {
	case c == '"':
		return v, json.Unmarshal(m.raw, &v.Text)
	case c == 'n':
		return Value{Null: true}, nil
	case j.t.options.Text:
		return v, check.Wrong("field %q is no text in quotes", m.name)
	case c == '{' || c == '[':
		return v, check.Wrong("field %q is neither text nor a number", m.name)
	}
	return Value{Text: string(m.raw)}, nil
}

// object reads the members of the next object.
func object(d *json.Decoder) (members []member, err error) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("is not a JSON object")
	}
	names := map[string]bool{}
	for err == nil && d.More() {
		var name json.Token
		var m member
		if name, err = d.Token(); err == nil {
			err = d.Decode(&m.raw)
		}
		if m.name = fmt.Sprint(name); names[m.name] {
			return nil, fmt.Errorf("field %q stands twice", m.name)
		}
		names[m.name] = true
		members = append(members, m)
	}
	if err == nil {
		_, err = d.Token()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the JSON object does not end")
	}
	if err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return members, nil
}

func (j *objects) writer(b *bufio.Writer) Writer {
	before, after := "", "\n"
	if j.array != nil {
		before, after = "[\n", ""
	}
	w := &writer{Writer: b, row: func(r Row) error {
		_, err := b.WriteString(before + j.written(r) + after)
		if j.array != nil {
			before = ",\n"
		}
		return err
	}}
	if j.array != nil {
		w.end = func() {
			if before == "[\n" {
				_, _ = b.WriteString("[")
			}
			_, _ = b.WriteString("\n]\n") // errors stay until Flush
		}
	}
	return w
}

// written is an object as it is written.
func (j *objects) written(r Row) string {
	var b bytes.Buffer
	text := func(s string) {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(s) // a string cannot fail
		b.Truncate(b.Len() - 1)
	}
	separator := byte('{')
	for _, m := range r.rest.([]member) {
		b.WriteByte(separator)
		separator = ','
		text(m.name)
		b.WriteByte(':')
		if i := slices.Index(j.t.options.Columns, m.name); i >= 0 && m.raw[0] == '"' {
			text(r.Values[i].Text)
		} else {
			b.Write(m.raw)
		}
	}
	if separator == '{' {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.String()
}
