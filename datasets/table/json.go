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
	array *json.Decoder // nil for JSON lines
}

// newArray starts at the first object.
func newArray(t *Reader) (*objects, error) {
	j := &objects{lines{t: t}, json.NewDecoder(t.text)}
	if first, err := j.array.Token(); err != nil || first != json.Delim('[') {
		hint := ""
		if first == json.Delim('{') {
			hint = ": --format jsonl reads one object a line"
		}
		return nil, check.Wrong("%s: is no JSON array of objects%s", t.options.Name, hint)
	}
	return j, nil
}

func (j *objects) next() (row Row, err error) {
	if d := j.array; d == nil {
		var text string
		if text, err = j.full(); err != nil {
			return row, err
		}
		d = json.NewDecoder(strings.NewReader(text))
		row, err = j.row(d)
		if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("more after the JSON object")
		}
	} else if d.More() {
		j.line++ // the number of the object
		row, err = j.row(d)
	} else {
		_, end := d.Token()
		if _, err = d.Token(); end != nil || !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: after %d objects: the array does not end there", j.t.options.Name, j.line)
		}
		return row, err
	}
	if row.Line = j.line; err != nil {
		err = fmt.Errorf("%s: %w", j.t.Place(row), err)
	}
	return row, err
}

// row reads the object that d is at.
func (j *objects) row(d *json.Decoder) (row Row, err error) {
	o := j.t.options
	members, err := object(d)
	if err != nil {
		return row, err
	}
	row.Values, row.rest = make([]Value, len(o.Columns)), members
	for _, m := range members {
		row.Size += len(m.name) + len(m.raw)
	}
	for i, c := range o.Columns {
		at := slices.IndexFunc(members, func(m member) bool { return m.name == c })
		if at < 0 {
			return row, check.Wrong("no field %q: where there is no text, write null (Spark: ignoreNullFields=false)",
				c)
		}
		if err == nil {
			row.Values[i], err = j.value(members[at])
		}
	}
	return row, err
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
	switch t, err := d.Token(); {
	case err == nil && t == json.Delim('['):
		return nil, errors.New("is not a JSON object: --format json reads an array")
	case err != nil || t != json.Delim('{'):
		return nil, errors.New("is not a JSON object")
	}
	for err == nil && d.More() {
		var name json.Token
		var m member
		if name, err = d.Token(); err == nil {
			err = d.Decode(&m.raw)
		}
		if m.name = fmt.Sprint(name); slices.ContainsFunc(members, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("field %q stands twice", m.name)
		}
		members = append(members, m)
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		var wrong *json.SyntaxError
		if errors.As(err, &wrong) && (strings.Contains(err.Error(), "'N'") || strings.Contains(err.Error(), "'I'")) {
			return nil, errors.New("not a JSON object: NaN and Infinity are no numbers of JSON: write null")
		}
		return nil, fmt.Errorf("not a JSON object: %v", err) // an end is none of the table
	}
	return members, nil
}

func (j *objects) writer(b *bufio.Writer) Writer {
	if j.array == nil {
		return &writer{Writer: b, row: func(r Row) error {
			_, err := b.WriteString(j.written(r) + "\n")
			return err
		}}
	}
	_, _ = b.WriteString("[") // errors stay until Flush
	before := "\n"
	return &writer{Writer: b, row: func(r Row) error {
		_, err := b.WriteString(before + j.written(r))
		before = ",\n"
		return err
	}, end: "\n]\n"}
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
