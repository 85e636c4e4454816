package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/parquet-go/parquet-go"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// columns reads Parquet. Lists, maps and groups are copied, not read.
type columns struct {
	t      *Reader
	file   *parquet.File
	leaves []parquet.LeafColumn // of the chosen columns
	rows   parquet.Rows
	buffer []parquet.Row
	ready  []parquet.Row
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
	c := &columns{t: t, file: p, rows: parquet.MultiRowGroup(p.RowGroups()...).Rows(), buffer: make([]parquet.Row, 64)}
	for _, column := range t.options.Columns {
		if list.Count(p.Root().Columns(), func(f *parquet.Column) bool { return f.Name() == column }) > 1 {
			return nil, check.Wrong("%s: two columns are called %q", name, column)
		}
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
		n, err := c.rows.ReadRows(c.buffer)
		if c.ready = c.buffer[:n]; n > 0 {
			break // an error comes again
		}
		if errors.Is(err, io.EOF) {
			return row, errors.Join(c.rows.Close(), io.EOF)
		}
		if err != nil {
			return row, fmt.Errorf("%s: %w", c.t.options.Name, err)
		}
	}
	values := c.ready[0].Clone()
	c.ready = c.ready[1:]
	row = Row{Values: make([]Value, len(c.leaves)), Line: int(c.t.rows) + 1, rest: values}
	for _, v := range values {
		row.Size += 8
		for i, leaf := range c.leaves {
			if leaf.ColumnIndex == v.Column() {
				row.Values[i] = Value{Text: v.String(), Null: v.IsNull()}
				row.Size += len(row.Values[i].Text)
			}
		}
	}
	return row, nil
}

// rowsOfGroup bounds what a writer keeps in memory.
const rowsOfGroup = 100_000

func (c *columns) writer(w *bufio.Writer) Writer {
	options := []parquet.WriterOption{c.file.Schema(), parquet.MaxRowsPerRowGroup(rowsOfGroup)}
	for _, kv := range c.file.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	return &columnsWriter{out: w, to: parquet.NewGenericWriter[any](w, options...), leaves: c.leaves}
}

// columnsWriter keeps schema and metadata.
type columnsWriter struct {
	out    *bufio.Writer
	to     *parquet.GenericWriter[any]
	leaves []parquet.LeafColumn
}

func (w *columnsWriter) Write(r Row) error {
	values := r.rest.(parquet.Row)
	for n, v := range values {
		for i, leaf := range w.leaves {
			if leaf.ColumnIndex == v.Column() && !v.IsNull() && leaf.Node.Type().Kind() == parquet.ByteArray {
				values[n] = parquet.ByteArrayValue([]byte(r.Values[i].Text)).Level(v.RepetitionLevel(),
					v.DefinitionLevel(), v.Column())
			}
		}
	}
	_, err := w.to.WriteRows([]parquet.Row{values})
	return err
}

func (w *columnsWriter) Flush() error { return nil } // a row group is written as a whole
func (w *columnsWriter) Close() error { return errors.Join(w.to.Close(), w.out.Flush()) }
