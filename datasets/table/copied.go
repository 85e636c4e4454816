package table

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Copied is a column that is written as it was read.
type Copied struct {
	Column string `json:"column"`
	At     uint64 `json:"values_with_at"`   // of the rows that were read
	Unread bool   `json:"unread,omitempty"` // its values could not be looked at
}

// Copied are the columns that are not chosen, in their order, after the last row.
func (t *Reader) Copied() []Copied {
	if c, ok := t.source.(*columns); ok {
		return c.copied()
	}
	return t.copied
}

// lookAt counts what a row has in the columns that are not chosen.
func (t *Reader) lookAt(row Row) {
	switch rest := row.rest.(type) {
	case []string:
		t.lookAtFields(rest)
	case []member:
		t.lookAtMembers(rest)
	}
}

// lookAtFields counts those of a row of CSV or TSV.
func (t *Reader) lookAtFields(fields []string) {
	s := t.source.(*separated)
	if t.copied == nil {
		t.copied = s.others()
	}
	n := 0
	for i, field := range fields {
		if slices.Contains(s.columns, i) {
			continue
		}
		if strings.IndexByte(field, '@') >= 0 {
			t.copied[n].At++
		}
		n++
	}
}

// lookAtMembers counts those of an object of JSON.
func (t *Reader) lookAtMembers(members []member) {
	if t.copiedAt == nil {
		t.copiedAt = map[string]int{}
	}
	for _, m := range members {
		if slices.Contains(t.options.Columns, m.name) {
			continue
		}
		at, met := t.copiedAt[m.name]
		if !met {
			at = len(t.copied)
			t.copied = append(t.copied, Copied{Column: m.name})
			t.copiedAt[m.name] = at
		}
		if bytes.IndexByte(m.raw, '@') >= 0 {
			t.copied[at].At++
		}
	}
}

// others are the columns that are not chosen, by name or number.
func (s *separated) others() []Copied {
	all := []Copied{}
	for i := range s.width {
		if slices.Contains(s.columns, i) {
			continue
		}
		name := strconv.Itoa(i + 1)
		if s.header != nil {
			name = strings.TrimSpace(unmarked(s.header[i]))
		}
		all = append(all, Copied{Column: name})
	}
	return all
}

// copied reads the columns that are not chosen. What the library cannot read of one is no
// error: its bytes are copied.
func (c *columns) copied() (all []Copied) {
	for _, column := range c.file.Root().Columns() {
		if slices.Contains(c.t.options.Columns, column.Name()) {
			continue
		}
		found := Copied{Column: column.Name()}
		for _, leaf := range leavesOf(column) {
			if leaf.Type().Kind() != parquet.ByteArray {
				continue
			}
			n, err := countAt(c.file, leaf.Index())
			found.At += n
			found.Unread = found.Unread || err != nil
		}
		all = append(all, found)
	}
	return all
}

// leavesOf are the columns with values in a column.
func leavesOf(column *parquet.Column) (leaves []*parquet.Column) {
	if column.Leaf() {
		return []*parquet.Column{column}
	}
	for _, inside := range column.Columns() {
		leaves = append(leaves, leavesOf(inside)...)
	}
	return leaves
}

// countAt counts the values of a column that have an @.
func countAt(file *parquet.File, leaf int) (n uint64, err error) {
	defer guarded("a column", &err)
	buffer := make([]parquet.Value, 256)
	for _, group := range file.RowGroups() {
		pages := group.ColumnChunks()[leaf].Pages()
		found, err := countAtPages(pages, buffer)
		n += found
		_ = pages.Close() // everything was read
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// countAtPages counts them in the pages of a row group.
func countAtPages(pages parquet.Pages, buffer []parquet.Value) (n uint64, err error) {
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		found, err := countAtValues(page.Values(), buffer)
		parquet.Release(page)
		n += found
		if err != nil {
			return n, err
		}
	}
}

// countAtValues counts them in the values of a page.
func countAtValues(values parquet.ValueReader, buffer []parquet.Value) (n uint64, err error) {
	for {
		read, err := values.ReadValues(buffer)
		for _, v := range buffer[:read] {
			if !v.IsNull() && bytes.IndexByte(v.ByteArray(), '@') >= 0 {
				n++
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
