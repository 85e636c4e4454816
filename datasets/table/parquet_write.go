package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"mldpbench/internal/check"
)

// columnsWriter writes a Parquet file in which the chosen columns have new values. All
// other columns are copied as bytes, row group by row group, so that whatever they are
// (types, encodings, order of categories, statistics) stays. The chosen ones are written
// by the library as PLAIN, with the compression that they had, and without statistics,
// dictionaries, page indexes and Bloom filters, which would show the original texts.
//
// In memory is what flushBytes says; a column of a row group that is larger waits in a
// temporary file until the columns before it are written.
type columnsWriter struct {
	source *columns
	out    *bufio.Writer
	offset int64 // of out
	footer *structure
	groups []*structure // row groups of the footer
	group  int          // the one that is written
	rows   int64        // of it, written
	texts  []*textColumn
	err    error // stays
}

// flushBytes is about what is kept in memory of a column.
const flushBytes = 4 << 20

// textColumn is a chosen column of the row group that is written: a Parquet file of one
// column, whose pages are taken over.
type textColumn struct {
	leaf    *parquet.Column
	value   int // its place in Row.Values
	spool   spool
	to      *parquet.GenericWriter[any]
	pending int // bytes since the last flush
}

// writer returns what writes rows with their texts changed, all other columns copied.
func (c *columns) writer(w *bufio.Writer) Writer {
	out := &columnsWriter{source: c, out: w}
	out.footer, out.err = c.footer()
	if out.err == nil {
		out.err = c.checkValues()
	}
	if out.err != nil {
		return out
	}
	out.groups = out.footer.structures(fileRowGroups)
	for i, leaf := range c.leaves {
		same := func(t *textColumn) bool { return t.leaf == leaf }
		if leaf.Type().Kind() == parquet.ByteArray && !slices.ContainsFunc(out.texts, same) {
			text := &textColumn{leaf: leaf, value: i}
			text.start()
			out.texts = append(out.texts, text)
		}
	}
	out.write([]byte("PAR1"))
	return out
}

// footer is the footer of the file that is read.
func (c *columns) footer() (*structure, error) {
	wrong := func(err error) error {
		return fmt.Errorf("%s: broken Parquet: %w", c.t.options.Name, err)
	}
	var end [8]byte
	if _, err := c.in.ReadAt(end[:], c.size-8); err != nil {
		return nil, wrong(err)
	}
	data := make([]byte, binary.LittleEndian.Uint32(end[:4]))
	if _, err := c.in.ReadAt(data, c.size-8-int64(len(data))); err != nil {
		return nil, wrong(err)
	}
	footer, err := parseStructure(data)
	if err != nil {
		return nil, wrong(err)
	}
	elsewhere := func(chunk *structure) bool { return chunk.has(chunkFile) }
	secret := func(chunk *structure) bool {
		return chunk.has(chunkCrypto) || chunk.has(chunkEncrypted)
	}
	for _, group := range footer.structures(fileRowGroups) {
		chunks := group.structures(groupColumns)
		if slices.ContainsFunc(chunks, elsewhere) {
			return nil, check.Wrong("%s: its columns are in other files", c.t.options.Name)
		}
		if footer.has(fileEncryption) || slices.ContainsFunc(chunks, secret) {
			return nil, check.Wrong("%s: is encrypted", c.t.options.Name)
		}
	}
	return footer, nil
}

// checkValues refuses a chosen column whose values stand outside its rows, too.
func (c *columns) checkValues() (err error) {
	defer guarded(c.t.options.Name, &err)
	schema, _ := c.file.Lookup("ARROW:schema")
	for _, leaf := range c.leaves {
		if listsItsValues(schema, leaf.Name()) {
			return check.Wrong("%s: column %q is an Enum, whose values stand in the schema of the file: write it as "+
				"text",
				c.t.options.Name, leaf.Name())
		}
	}
	return nil
}

// start begins the column of a row group.
func (t *textColumn) start() {
	node := parquet.Leaf(parquet.ByteArrayType)
	if t.leaf.Optional() {
		node = parquet.Optional(node)
	}
	node = parquet.Encoded(node, &parquet.Plain)
	if codec := t.leaf.Compression(); codec != nil {
		node = parquet.Compressed(node, codec)
	}
	t.to = parquet.NewGenericWriter[any](&t.spool, parquet.NewSchema("text", parquet.Group{"text": node}),
		parquet.DataPageVersion(1), parquet.DataPageStatistics(false))
}

// write adds a text; a row group of the library ends where flushBytes are waiting.
func (t *textColumn) write(v Value) error {
	value := parquet.NullValue().Level(0, 0, 0)
	if !v.Null {
		value = parquet.ByteArrayValue([]byte(v.Text)).Level(0, t.leaf.MaxDefinitionLevel(), 0)
	}
	if _, err := t.to.WriteRows([]parquet.Row{{value}}); err != nil {
		return err
	}
	t.pending += len(v.Text) + 8
	if t.pending < flushBytes {
		return nil
	}
	t.pending = 0
	return t.to.Flush()
}

// Write writes a row; a row group is written when it is complete.
func (w *columnsWriter) Write(r Row) error {
	w.complete()
	for _, t := range w.texts {
		if w.err == nil {
			w.err = t.write(r.Values[t.value])
		}
	}
	w.rows++
	return w.err
}

// complete writes all row groups that have their rows.
func (w *columnsWriter) complete() {
	for w.err == nil && w.group < len(w.groups) && w.rows == w.groups[w.group].number(groupRows) {
		w.writeGroup(w.groups[w.group])
		w.group++
		w.rows = 0
	}
}

// writeGroup writes the columns of a row group in their order, and changes what its
// part of the footer says of where they are and how large.
func (w *columnsWriter) writeGroup(group *structure) {
	start := w.offset
	grown := int64(0) // uncompressed
	for i, chunk := range group.structures(groupColumns) {
		meta := chunk.structure(chunkMeta)
		at := slices.IndexFunc(w.texts, func(t *textColumn) bool {
			return t.leaf.Index() == i
		})
		before := meta.number(metaBytes)
		if at >= 0 {
			w.writeText(w.texts[at], meta)
		} else {
			w.copyChunk(meta)
		}
		grown += meta.number(metaBytes) - before
		if chunk.number(chunkOffset) != 0 {
			chunk.set(chunkOffset, thrift.I64, meta.number(metaDataPage))
		}
		chunk.drop(chunkIndexFirst, chunkIndexLast)
	}
	group.set(groupBytes, thrift.I64, group.number(groupBytes)+grown)
	if group.has(groupOffset) {
		group.set(groupOffset, thrift.I64, start)
	}
	if group.has(groupCompressed) {
		group.set(groupCompressed, thrift.I64, w.offset-start)
	}
	w.dropOrder(group)
}

// copyChunk copies the pages of a column.
func (w *columnsWriter) copyChunk(meta *structure) {
	from := meta.number(metaDataPage)
	dictionary := meta.number(metaDictionaryPage)
	if dictionary > 0 && (from == 0 || dictionary < from) { // without rows there may be no page of data
		from = dictionary
	}
	shift := w.offset - from
	w.copy(w.source.in, from, meta.number(metaCompressed))
	for _, offset := range []int16{metaDataPage, metaIndexPage, metaDictionaryPage} {
		if at := meta.number(offset); at > 0 {
			meta.set(offset, thrift.I64, at+shift)
		}
	}
	meta.drop(metaBloomOffset, metaBloomLength)
}

// writeText writes the pages of a chosen column.
func (w *columnsWriter) writeText(t *textColumn, meta *structure) {
	if w.err == nil {
		w.err = t.to.Close()
	}
	if w.err != nil {
		return
	}
	pages, err := parquet.OpenFile(&t.spool, t.spool.size)
	if err != nil {
		w.err = err
		return
	}
	start := w.offset
	size := int64(0)
	for _, part := range pages.Metadata().RowGroups {
		own := part.Columns[0].MetaData
		w.copy(&t.spool, own.DataPageOffset, own.TotalCompressedSize)
		size += own.TotalUncompressedSize
	}
	encodings := series{thrift.I32, []any{int32(format.Plain), int32(format.RLE)}}
	meta.set(metaEncodings, thrift.LIST, encodings)
	meta.set(metaBytes, thrift.I64, size)
	meta.set(metaCompressed, thrift.I64, w.offset-start)
	meta.set(metaDataPage, thrift.I64, start)
	meta.drop(metaKeyValues, metaKeyValues)
	meta.drop(metaIndexPage, metaGeospatial)
	w.err = t.spool.reset()
	t.pending = 0
	t.start()
}

// dropOrder drops the order of rows from the first chosen column on: its values are
// others now.
func (w *columnsWriter) dropOrder(group *structure) {
	order := group.structures(groupSorting)
	chosen := func(s *structure) bool {
		return slices.ContainsFunc(w.texts, func(t *textColumn) bool {
			return int64(t.leaf.Index()) == s.number(sortingColumn)
		})
	}
	end := slices.IndexFunc(order, chosen)
	if end < 0 {
		return
	}
	kept := series{kind: thrift.STRUCT}
	for _, s := range order[:end] {
		kept.values = append(kept.values, s)
	}
	group.drop(groupSorting, groupSorting)
	if end > 0 {
		group.set(groupSorting, thrift.LIST, kept)
	}
}

func (w *columnsWriter) copy(from io.ReaderAt, offset, length int64) {
	if w.err != nil {
		return
	}
	n, err := io.Copy(w.out, io.NewSectionReader(from, offset, length))
	w.offset += n
	if err == nil && n < length {
		err = fmt.Errorf("%s: broken Parquet: a column ends early", w.source.t.options.Name)
	}
	w.err = err
}

func (w *columnsWriter) write(data []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(data)
	w.offset += int64(n)
	w.err = err
}

// Flush does nothing: a row group is written as a whole.
func (w *columnsWriter) Flush() error { return nil }

// Close writes the footer.
func (w *columnsWriter) Close() error {
	w.complete()
	for _, t := range w.texts {
		if err := t.spool.reset(); w.err == nil {
			w.err = err
		}
	}
	if w.err == nil && w.group < len(w.groups) {
		w.err = fmt.Errorf("%s: row group %d lacks rows", w.source.t.options.Name, w.group+1)
	}
	if w.err != nil {
		return w.err
	}
	footer, err := w.footer.bytes()
	if err != nil {
		return err
	}
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte("PAR1"))
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// spool keeps what is written in memory, and in a temporary file what is more.
type spool struct {
	memory bytes.Buffer
	file   *os.File // nil: all is in memory
	size   int64
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (n int, err error) {
	switch {
	case s.file == nil && s.memory.Len()+len(p) <= flushBytes:
		n, err = s.memory.Write(p)
	case s.file == nil:
		if s.file, err = os.CreateTemp("", "mldp-*"); err != nil {
			return 0, err
		}
		_ = os.Remove(s.file.Name()) // it goes when it is closed; where that is not possible, reset removes it
		fallthrough
	default:
		n, err = s.file.Write(p)
	}
	s.size += int64(n)
	return n, err
}

func (s *spool) ReadAt(p []byte, offset int64) (n int, err error) {
	if kept := s.memory.Bytes(); offset < int64(len(kept)) {
		n = copy(p, kept[offset:])
	}
	if n < len(p) && s.file != nil {
		more, err := s.file.ReadAt(p[n:], offset+int64(n)-int64(s.memory.Len()))
		return n + more, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// reset empties the spool.
func (s *spool) reset() error {
	s.memory.Reset()
	s.size = 0
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // where an open file cannot be removed
	s.file = nil
	return err
}
