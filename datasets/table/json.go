package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mldpbench/internal/check"
)

// member is a field of a JSON object; all but chosen texts are kept as written.
type member struct {
	name string
	raw  json.RawMessage
}

// objects reads JSON objects.
type objects struct {
	t    *Reader
	seen map[string]bool // columns
}

// row reads the object that d is at.
func (j *objects) row(d *json.Decoder, line int) (row Row, err error) {
	o := j.t.options
	members, err := object(d)
	if err != nil {
		return row, err
	}
	row = Row{Values: make([]Value, len(o.Columns)), Line: line, rest: members}
	at := make(map[string]int, len(members))
	for i, m := range members {
		at[m.name] = i
		row.Size += len(m.name) + len(m.raw)
	}
	if j.seen == nil {
		j.seen = map[string]bool{}
	}
	for i, c := range o.Columns {
		m, ok := at[c]
		if !ok {
			if !o.KeepMissing {
				return row, check.Wrong("no field %q", c)
			}
			row.Values[i] = Value{Missing: true, Null: true}
			continue
		}
		j.seen[c] = true
		if row.Values[i], err = j.value(members[m]); err != nil {
			return row, err
		}
	}
	positions := make([]int, len(o.Columns))
	for i, c := range o.Columns {
		positions[i] = at[c]
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
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, jsonError(err)
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.raw); err != nil {
			return nil, jsonError(err)
		}
		if names[m.name] {
			return nil, fmt.Errorf("field %q stands twice", m.name)
		}
		names[m.name] = true
		members = append(members, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, jsonError(err)
	}
	return members, nil
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON object does not end")
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

// end returns io.EOF, or an error for a column that no row has.
func (j *objects) end() error {
	for _, c := range j.t.options.Columns {
		if j.t.rows > 0 && !j.seen[c] {
			return check.Wrong("%s: no object has a field %q", j.t.options.Name, c)
		}
	}
	return io.EOF
}

// objectLines reads JSON lines.
type objectLines struct {
	lines
	objects
}

func (j *objectLines) next() (Row, error) {
	line, err := j.full()
	if errors.Is(err, io.EOF) {
		return Row{}, j.end()
	}
	if err != nil {
		return Row{}, err
	}
	d := json.NewDecoder(strings.NewReader(line))
	row, err := j.row(d, int(j.line))
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more after the JSON object")
	}
	if err != nil {
		err = fmt.Errorf("%s:%d: %w", j.lines.t.options.Name, j.line, err)
	}
	return row, err
}

// array reads a JSON array of objects.
type array struct {
	objects
	decoder *json.Decoder
}

func (a *array) next() (Row, error) {
	name := a.t.options.Name
	if a.decoder == nil {
		a.decoder = json.NewDecoder(a.t.text)
		if t, err := a.decoder.Token(); err != nil || t != json.Delim('[') {
			return Row{}, fmt.Errorf("%s: is no JSON array of objects", name)
		}
	}
	wrong := func(format string, args ...any) (Row, error) {
		return Row{}, fmt.Errorf("%s: "+format, append([]any{name}, args...)...)
	}
	if !a.decoder.More() {
		a.t.number++
		if _, err := a.decoder.Token(); err != nil {
			return wrong("after %d objects: the array does not end", a.t.rows)
		}
		if _, err := a.decoder.Token(); !errors.Is(err, io.EOF) {
			return wrong("after %d objects: more after the JSON array", a.t.rows)
		}
		return Row{}, a.end()
	}
	row, err := a.row(a.decoder, int(a.t.rows)+1)
	if err != nil {
		return wrong("object %d: %w", a.t.rows+1, err)
	}
	return row, nil
}

func (j *objectLines) writer(b *bufio.Writer) Writer {
	return &writer{Writer: b, row: func(r Row) error {
		_, err := b.WriteString(j.written(r) + "\n")
		return err
	}}
}

func (a *array) writer(b *bufio.Writer) Writer {
	before := "[\n"
	return &writer{Writer: b, row: func(r Row) error {
		_, err := b.WriteString(before + a.written(r))
		before = ",\n"
		return err
	}, end: func() {
		if before == "[\n" {
			_, _ = b.WriteString("[")
		}
		_, _ = b.WriteString("\n]\n") // errors stay until Flush
	}}
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
	b.WriteByte('{')
	for n, m := range r.rest.([]member) {
		if n > 0 {
			b.WriteByte(',')
		}
		text(m.name)
		b.WriteByte(':')
		raw := true
		for i, c := range j.t.options.Columns {
			if raw && c == m.name && m.raw[0] == '"' {
				text(r.Values[i].Text)
				raw = false
			}
		}
		if raw {
			b.Write(m.raw)
		}
	}
	b.WriteByte('}')
	return b.String()
}
