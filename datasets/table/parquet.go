package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/parquet-go/parquet-go"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// columns reads Parquet. Lists, maps and groups are copied, not read.
type columns struct {
	t      *Reader
	file   *parquet.File
	leaves []parquet.LeafColumn // of the chosen columns

	groups []parquet.RowGroup // not read yet
	rows   parquet.Rows       // of the group being read
	buffer []parquet.Row
	ready  []parquet.Row
}

// columnsRow is the rest of a row: its values and the number of its group.
type columnsRow struct {
	values parquet.Row
	group  int
}

func newColumns(t *Reader, r io.Reader) (*columns, error) {
	name := t.options.Name
	f, ok := r.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		return nil, check.Wrong("%s: Parquet is no stream of text: give it as a file", name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: not Parquet: %w", name, err)
	}
	c := &columns{t: t, file: p, groups: p.RowGroups(), buffer: make([]parquet.Row, 64)}
	for _, column := range t.options.Columns {
		leaf, ok := p.Schema().Lookup(column)
		if !ok || leaf.MaxRepetitionLevel > 0 {
			for _, field := range p.Schema().Fields() {
				if field.Name() == column {
					return nil, check.Wrong("%s: column %q holds lists or groups, no text", name, column)
				}
			}
			names := list.Map(p.Schema().Fields(), func(f parquet.Field) string { return f.Name() })
			return nil, check.Wrong("%s: no column %q: the file has %q", name, column, names)
		}
		if t.options.Text && leaf.Node.Type().Kind() != parquet.ByteArray {
			return nil, check.Wrong("%s: column %q is no text", name, column)
		}
		c.leaves = append(c.leaves, leaf)
	}
	return c, nil
}

func (c *columns) next() (row Row, err error) {
	defer func() { // the library panics on some broken files
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: broken Parquet: %v", c.t.options.Name, r)
		}
	}()
	for len(c.ready) == 0 {
		if c.rows == nil {
			if len(c.groups) == 0 {
				return row, io.EOF
			}
			c.rows, c.groups = c.groups[0].Rows(), c.groups[1:]
		}
		n, err := c.rows.ReadRows(c.buffer)
		c.ready = c.buffer[:n]
		if errors.Is(err, io.EOF) {
			err, c.rows = c.rows.Close(), nil
		}
		if err != nil {
			return row, fmt.Errorf("%s: %w", c.t.options.Name, err)
		}
	}
	values := c.ready[0].Clone()
	c.ready = c.ready[1:]
	group := len(c.file.RowGroups()) - len(c.groups)
	row = Row{Values: make([]Value, len(c.leaves)), Line: int(c.t.rows) + 1, rest: columnsRow{values, group}}
	for _, v := range values {
		row.Size += 8
		for i, leaf := range c.leaves {
			if leaf.ColumnIndex == v.Column() {
				row.Values[i] = Value{Text: v.String(), Null: v.IsNull()}
				row.Size += len(row.Values[i].Text)
			}
		}
	}
	before := c.t.number
	c.t.count(&row, list.Map(c.leaves, func(l parquet.LeafColumn) int { return l.ColumnIndex }))
	if !slices.ContainsFunc(row.Values, func(v Value) bool { return !v.Null }) {
		c.t.number = before // a row of nulls has no number here
	}
	return row, nil
}

func (c *columns) writer(w *bufio.Writer) Writer {
	options := []parquet.WriterOption{c.file.Schema()}
	for _, kv := range c.file.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	return &columnsWriter{out: w, to: parquet.NewGenericWriter[any](w, options...), leaves: c.leaves, group: 1}
}

// columnsWriter keeps schema, row groups and metadata.
type columnsWriter struct {
	out    *bufio.Writer
	to     *parquet.GenericWriter[any]
	leaves []parquet.LeafColumn
	group  int
}

func (w *columnsWriter) Write(r Row) error {
	rest := r.rest.(columnsRow)
	if rest.group != w.group {
		if err := w.to.Flush(); err != nil {
			return err
		}
		w.group = rest.group
	}
	for n, v := range rest.values {
		for i, leaf := range w.leaves {
			if leaf.ColumnIndex == v.Column() && !v.IsNull() && leaf.Node.Type().Kind() == parquet.ByteArray {
				rest.values[n] = parquet.ByteArrayValue([]byte(r.Values[i].Text)).Level(v.RepetitionLevel(),
					v.DefinitionLevel(), v.Column())
			}
		}
	}
	_, err := w.to.WriteRows([]parquet.Row{rest.values})
	return err
}

func (w *columnsWriter) Flush() error { return nil } // a row group is written as a whole
func (w *columnsWriter) Close() error { return errors.Join(w.to.Close(), w.out.Flush()) }
