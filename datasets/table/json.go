package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// next returns the next object, and io.EOF after the last. Nothing but white space may
// stand behind it on its line, or behind the array.
func (j *objects) next() (row Row, err error) {
	switch {
	case j.array == nil:
		text, err := j.full()
		if err != nil {
			return row, err
		}
		row, err = j.onlyRow(text)
		return j.placed(row, err)
	case j.array.More():
		j.line++ // the number of the object
		row, err = j.row(j.array)
		return j.placed(row, err)
	default:
		return row, j.end()
	}
}

// onlyRow reads the object that is all of a text.
func (j *objects) onlyRow(text string) (Row, error) {
	d := json.NewDecoder(strings.NewReader(text))
	row, err := j.row(d)
	if err != nil {
		return row, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return row, errors.New("more after the JSON object")
	}
	return row, nil
}

// placed says of a row, and of its error, where they are.
func (j *objects) placed(row Row, err error) (Row, error) {
	row.Line = j.line
	if err != nil {
		err = fmt.Errorf("%s: %w", j.t.Place(row), err)
	}
	return row, err
}

// end reads the end of the array: io.EOF, if nothing follows it.
func (j *objects) end() error {
	_, bracket := j.array.Token()
	_, after := j.array.Token()
	if bracket != nil || !errors.Is(after, io.EOF) {
		return fmt.Errorf("%s: after %d objects: the array does not end there", j.t.options.Name, j.line)
	}
	return after
}

// row reads the object that d is at.
func (j *objects) row(d *json.Decoder) (row Row, err error) {
	o := j.t.options
	members, err := object(d)
	if err != nil {
		return row, err
	}
	row.Values = make([]Value, len(o.Columns))
	row.rest = members
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
	if err == nil && o.ID != "" {
		row.ID, err = idOf(members, o.ID)
	}
	return row, err
}

// idOf is the member that is the id of an object.
func idOf(members []member, name string) (id string, err error) {
	at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if at < 0 {
		return "", check.Wrong("no field %q: each object needs an id", name)
	}
	raw := members[at].raw
	switch {
	case raw[0] == '"':
		return id, json.Unmarshal(raw, &id)
	case raw[0] == 'n':
		return "", nil
	case wholeNumber.Match(raw):
		return string(raw), nil
	}
	return "", check.Wrong("field %q = %.40s: an id is a text or a whole number", name, raw)
}

var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// value is a member's text: a text, or a number as it is written where texts are not
// asked for.
func (j *objects) value(m member) (v Value, err error) {
	c := m.raw[0]
	switch {
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
	first, err := d.Token()
	switch {
	case err == nil && first == json.Delim('['):
		return nil, errors.New("is not a JSON object: --format json reads an array")
	case err != nil || first != json.Delim('{'):
		return nil, errors.New("is not a JSON object")
	}
	for err == nil && d.More() {
		var name json.Token
		var m member
		if name, err = d.Token(); err == nil {
			err = d.Decode(&m.raw)
		}
		m.name = fmt.Sprint(name)
		if slices.ContainsFunc(members, func(o member) bool { return o.name == m.name }) {
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

// writer writes lines, or an array with an object a line.
func (j *objects) writer(b *bufio.Writer) Writer {
	if j.array == nil {
		return &writer{
			Writer: b,
			row: func(r Row) error {
				_, err := b.WriteString(j.written(r) + "\n")
				return err
			},
		}
	}
	_, _ = b.WriteString("[") // errors stay until Flush
	before := "\n"
	return &writer{
		Writer: b,
		row: func(r Row) error {
			_, err := b.WriteString(before + j.written(r))
			before = ",\n"
			return err
		},
		end: "\n]\n",
	}
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
