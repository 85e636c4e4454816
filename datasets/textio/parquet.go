package textio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// ErrNull is the error of a value that is null.
var ErrNull = errors.New("has no value")

// EachParquet calls take with every row of a Parquet file, as a function from
// a column to its value as text. Columns must be flat; an empty value of a
// needed one is an error.
func EachParquet(ctx context.Context, name string, columns []string,
	take func(field func(column string) (string, error)) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := openParquet(f, name)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for _, c := range columns {
		leaf, err := flat(p, name, c)
		if err != nil {
			return err
		}
		at[c] = leaf.ColumnIndex
	}
	n := 0
	return eachParquetRow(ctx, p, name, func(_ int, row parquet.Row) error {
		n++
		err := take(func(c string) (string, error) {
			v := valueOf(row, at[c])
			if v.IsNull() {
				return "", fmt.Errorf("column %q %w", c, ErrNull)
			}
			return v.String(), nil
		})
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", name, n, err)
		}
		return nil
	})
}

func openParquet(f *os.File, name string) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: not Parquet: %w", name, err)
	}
	return p, nil
}

// flat finds a column that is no part of a list.
func flat(p *parquet.File, name, column string) (parquet.LeafColumn, error) {
	leaf, ok := p.Schema().Lookup(column)
	if !ok {
		names := list.Map(p.Schema().Fields(), func(f parquet.Field) string { return f.Name() })
		return leaf, check.Wrong("%s: no column %q: the file has %q", name, column, names)
	}
	if leaf.MaxRepetitionLevel > 0 {
		return leaf, fmt.Errorf("%s: column %q holds lists", name, column)
	}
	return leaf, nil
}

// valueOf is the value of a flat column.
func valueOf(row parquet.Row, column int) parquet.Value {
	for _, v := range row {
		if v.Column() == column {
			return v
		}
	}
	return parquet.Value{}
}

// eachParquetRow calls take with the rows of every row group; a row is valid
// until take returns.
func eachParquetRow(ctx context.Context, p *parquet.File, name string, take func(group int, row parquet.Row) error) (
	err error) {
	defer func() { // the library panics on some broken files
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: broken Parquet: %v", name, r)
		}
	}()
	buffer := make([]parquet.Row, 64)
	for i, group := range p.RowGroups() {
		rows := group.Rows()
		for {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, rows.Close())
			}
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				if err := take(i, row); err != nil {
					return errors.Join(err, rows.Close())
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return errors.Join(fmt.Errorf("%s: %w", name, err), rows.Close())
			}
		}
		if err := rows.Close(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// RewriteParquet copies a Parquet file with the columns of o replaced by what run
// writes for the pieces of its reader. Other columns, the schema, row groups
// and metadata stay the same; empty values stay empty.
func RewriteParquet(ctx context.Context, in *os.File, out io.Writer, o Options,
	run func(r *Reader, w io.Writer) error) error {
	p, err := openParquet(in, o.Name)
	if err != nil {
		return err
	}
	changed := map[int]parquet.LeafColumn{}
	for _, c := range o.Columns {
		leaf, err := flat(p, o.Name, c)
		if err != nil {
			return err
		}
		if leaf.Node.Type().Kind() != parquet.ByteArray {
			return fmt.Errorf("%s: column %q is no text", o.Name, c)
		}
		changed[leaf.ColumnIndex] = leaf
	}
	// Texts go through run as lines of JSON. The file is read twice: for the texts
	// and for everything else.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(chan []Piece, 64)
	read := make(chan error, 1)
	go func() {
		defer close(pieces)
		record := uint64(0)
		read <- eachParquetRow(ctx, p, o.Name, func(_ int, row parquet.Row) error {
			var list []Piece
			for _, v := range row {
				if _, ok := changed[v.Column()]; ok && !v.IsNull() {
					list = append(list, Piece{Text: string(v.ByteArray()), After: "\n", Record: record, quote: jsonText})
				}
			}
			record++
			if list == nil {
				return nil
			}
			select {
			case pieces <- list:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	written, from := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		err := copyParquet(ctx, p, written, out, o, changed)
		written.CloseWithError(err)
		copied <- err
	}()
	err = run(&Reader{source: parquetTexts{pieces, read}}, from)
	from.CloseWithError(err) // io.EOF of nil
	if err != nil {
		cancel()
		<-copied
		return err
	}
	return <-copied
}

// copyParquet writes the file with the texts of lines.
func copyParquet(ctx context.Context, p *parquet.File, lines io.Reader, out io.Writer, o Options,
	changed map[int]parquet.LeafColumn) error {
	options := []parquet.WriterOption{p.Schema()}
	for _, kv := range p.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	w := parquet.NewWriter(out, options...)
	texts := json.NewDecoder(bufio.NewReader(lines))
	last := 0
	err := eachParquetRow(ctx, p, o.Name, func(group int, row parquet.Row) error {
		if group != last {
			if err := w.Flush(); err != nil {
				return err
			}
			last = group
		}
		for i, v := range row {
			if _, ok := changed[v.Column()]; !ok || v.IsNull() {
				continue
			}
			var text string
			if err := texts.Decode(&text); err != nil {
				return err
			}
			row[i] = parquet.ByteArrayValue([]byte(text)).Level(v.RepetitionLevel(), v.DefinitionLevel(), v.Column())
		}
		_, err := w.WriteRows([]parquet.Row{row})
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, lines) // the end of what is written
	return err
}

// parquetTexts are the texts of a Parquet file as a source.
type parquetTexts struct {
	pieces <-chan []Piece
	read   <-chan error
}

func (p parquetTexts) waiting() bool { return len(p.pieces) > 0 }

func (p parquetTexts) next(dst []Piece) ([]Piece, error) {
	list, ok := <-p.pieces
	if ok {
		return append(dst, list...), nil
	}
	if err := <-p.read; err != nil {
		return dst, err
	}
	return dst, io.EOF
}
