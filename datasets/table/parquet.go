package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"golang.org/x/text/encoding"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// columns reads the chosen columns of Parquet; the library decodes no other. Lists,
// maps and groups are copied, not read.
type columns struct {
	t       *Reader
	in      io.ReaderAt
	size    int64
	file    *parquet.File
	leaves  []*parquet.Column // the chosen columns
	id      *parquet.Column   // nil: none
	decoder *encoding.Decoder // nil: texts are UTF-8
	group   int               // number of the row group, from 0
	row     int64             // of the group, of the next one
	cursors []cursor          // of the leaves in the group
}

// guarded turns a panic of the library into an error of the file: it panics on some
// broken ones, while it opens them as well as while it reads.
func guarded(name string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: broken Parquet: %v", name, r)
	}
}

// newColumns opens a file of Parquet and finds the chosen columns.
func newColumns(t *Reader, r io.Reader) (c *columns, err error) {
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
	defer guarded(name, &err)
	// Neither page indexes nor Bloom filters are used, and of the schema only the chosen
	// columns are: what the library does not know of the others is no error.
	p, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.FileSchema(parquet.NewSchema("unused", parquet.Group{})), parquet.ReadBufferSize(bufferSize))
	if err != nil {
		head := make([]byte, 16)
		_, _ = f.ReadAt(head, 0) // of a short file it is all
		if other := checkKind(name, strings.TrimPrefix(string(head), "PAR1")); other != nil {
			return nil, other
		}
		return nil, fmt.Errorf("%s: not Parquet: %w", name, err)
	}
	c = &columns{
		t:    t,
		in:   f,
		size: info.Size(),
		file: p,
	}
	for _, column := range t.options.Columns {
		leaf, err := c.find(column)
		if err != nil {
			return nil, err
		}
		c.leaves = append(c.leaves, leaf)
	}
	if t.options.ID != "" {
		if c.id, err = c.column(t.options.ID); err != nil {
			return nil, err
		}
		if !isText(c.id) && !isWhole(c.id) {
			return nil, check.Wrong("%s: column %q: an id is a text or a whole number", name, t.options.ID)
		}
	}
	encoded, err := encodingOf(t.options.Encoding)
	if encoded != nil {
		c.decoder = encoded.NewDecoder()
	}
	return c, err
}

// find returns the chosen column of a name.
func (c *columns) find(column string) (*parquet.Column, error) {
	leaf, err := c.column(column)
	if err == nil && c.t.options.Text && !isText(leaf) {
		return nil, check.Wrong("%s: column %q is no text", c.t.options.Name, column)
	}
	return leaf, err
}

// column returns the column of a name, of values that stand alone.
func (c *columns) column(column string) (*parquet.Column, error) {
	name := c.t.options.Name
	all := c.file.Root().Columns()
	called := func(f *parquet.Column) bool { return f.Name() == column }
	switch list.Count(all, called) {
	case 0:
		names := list.Map(all, func(f *parquet.Column) string { return f.Name() })
		return nil, check.Wrong("%s: no column %q: the file has %q", name, column, names)
	case 1:
	default:
		return nil, check.Wrong("%s: two columns are called %q", name, column)
	}
	leaf := all[slices.IndexFunc(all, called)]
	if !leaf.Leaf() || leaf.MaxRepetitionLevel() > 0 {
		return nil, check.Wrong("%s: column %q holds lists or groups, no text", name, column)
	}
	return leaf, nil
}

// isWhole reports whether a column has whole numbers, which are no dates or decimals.
func isWhole(leaf *parquet.Column) bool {
	kind := leaf.Type().Kind()
	if kind != parquet.Int32 && kind != parquet.Int64 {
		return false
	}
	logical := leaf.Type().LogicalType()
	if logical == nil || logical.Value == nil {
		return true
	}
	_, whole := logical.Value.(*format.IntType)
	return whole
}

// isUnsigned reports whether whole numbers have no sign.
func isUnsigned(leaf *parquet.Column) bool {
	logical := leaf.Type().LogicalType()
	if logical == nil {
		return false
	}
	whole, ok := logical.Value.(*format.IntType)
	return ok && !whole.IsSigned
}

// isText reports whether a column has bytes that can be text: those of a number, a
// binary document or a shape are none.
func isText(leaf *parquet.Column) bool {
	if leaf.Type().Kind() != parquet.ByteArray {
		return false
	}
	logical := leaf.Type().LogicalType()
	if logical == nil || logical.Value == nil {
		return true
	}
	switch logical.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return true
	}
	return false
}

// cursor reads the values of a column in a row group.
type cursor struct {
	pages  parquet.Pages
	page   parquet.Page // nil: none is read yet
	values parquet.ValueReader
	buffer []parquet.Value
	ready  []parquet.Value
}

// next returns the next value, which is valid until the next call.
func (c *cursor) next() (parquet.Value, error) {
	for len(c.ready) == 0 {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // the group has more rows
			}
			if err != nil {
				return parquet.Value{}, err
			}
			c.page = page
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buffer)
		c.ready = c.buffer[:n]
		if n == 0 && err != nil {
			if !errors.Is(err, io.EOF) {
				return parquet.Value{}, err
			}
			parquet.Release(c.page)
			c.page = nil
			c.values = nil
		}
	}
	v := c.ready[0]
	c.ready = c.ready[1:]
	return v, nil
}

// close ends a row group.
func (c *cursor) close() error {
	if c.page != nil {
		parquet.Release(c.page)
	}
	return c.pages.Close()
}

// nextGroup starts the first row group that has a row which is not read; io.EOF says
// that none has.
func (c *columns) nextGroup() error {
	groups := c.file.RowGroups()
	for c.group < len(groups) && c.row == groups[c.group].NumRows() {
		for i := range c.cursors {
			if err := c.cursors[i].close(); err != nil {
				return err
			}
		}
		c.cursors = nil
		c.group++
		c.row = 0
	}
	if c.group == len(groups) {
		return io.EOF
	}
	if c.cursors == nil {
		chunks := groups[c.group].ColumnChunks()
		leaves := c.leaves
		if c.id != nil {
			leaves = append(slices.Clip(leaves), c.id)
		}
		for _, leaf := range leaves {
			pages := chunks[leaf.Index()].Pages()
			c.cursors = append(c.cursors, cursor{pages: pages, buffer: make([]parquet.Value, 64)})
		}
	}
	return nil
}

// next returns the next row: the next value of each chosen column.
func (c *columns) next() (row Row, err error) {
	name := c.t.options.Name
	defer guarded(name, &err)
	if err := c.nextGroup(); err != nil {
		return row, err
	}
	c.row++
	row = Row{
		Values: make([]Value, len(c.leaves)),
		Line:   int(c.t.rows) + 1,
		Size:   8 * len(c.leaves),
	}
	for i := range c.leaves {
		v, err := c.cursors[i].next()
		if err != nil {
			return row, fmt.Errorf("%s: row %d: %w", name, row.Line, err)
		}
		row.Values[i], err = c.value(v)
		if err != nil {
			return row, fmt.Errorf("%s: row %d: column %q %w", name, row.Line, c.leaves[i].Name(), err)
		}
		row.Size += len(row.Values[i].Text)
	}
	if c.id == nil {
		return row, nil
	}
	v, err := c.cursors[len(c.leaves)].next()
	if err != nil {
		return row, fmt.Errorf("%s: row %d: %w", name, row.Line, err)
	}
	row.ID, err = c.idOf(v)
	if err != nil {
		err = fmt.Errorf("%s: row %d: column %q %w", name, row.Line, c.id.Name(), err)
	}
	return row, err
}

// idOf is a value of the column of ids, "" for a null.
func (c *columns) idOf(v parquet.Value) (string, error) {
	if v.IsNull() {
		return "", nil
	}
	if v.Kind() == parquet.ByteArray {
		text, err := c.value(v)
		return text.Text, err
	}
	number := v.Int64()
	if v.Kind() == parquet.Int32 {
		number = int64(v.Int32())
	}
	if !isUnsigned(c.id) {
		return strconv.FormatInt(number, 10), nil
	}
	if v.Kind() == parquet.Int32 {
		return strconv.FormatUint(uint64(v.Uint32()), 10), nil
	}
	return strconv.FormatUint(v.Uint64(), 10), nil
}

// value is a value as text.
func (c *columns) value(v parquet.Value) (Value, error) {
	text := Value{Text: v.String(), Null: v.IsNull()}
	if v.Kind() != parquet.ByteArray {
		return text, nil
	}
	if c.decoder != nil {
		var err error
		text.Text, err = c.decoder.String(text.Text)
		return text, err
	}
	if !utf8.ValidString(text.Text) {
		return text, check.Wrong("is not UTF-8: if the text is Latin-1 or the like, say so with --encoding " +
			"(in a study: encoding)")
	}
	return text, nil
}
