package table

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// The order of rows by a chosen column is lost, and so is what says it.
func TestParquetOrder(t *testing.T) {
	t.Parallel()
	data, _ := typedFile(t, 4)
	order := func(columns ...int32) series {
		s := series{kind: thrift.STRUCT}
		for _, c := range columns {
			s.values = append(s.values, &structure{[]field{{1, thrift.I32, c}, {2, thrift.FALSE, false},
				{3, thrift.FALSE, false}}})
		}
		return s
	}
	for _, c := range []struct {
		before series
		want   int
	}{{order(0, 2), 2}, {order(0, 1, 2), 1}, {order(1, 0), 0}} {
		in := withFooter(t, data, func(f *structure) {
			f.structures(fileRowGroups)[0].set(groupSorting, thrift.LIST, c.before)
		})
		out, err := upper(t, in, Options{Columns: []string{"text"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := footerOf(t, []byte(out)).structures(fileRowGroups)[0].structures(groupSorting); len(got) != c.want {
			t.Errorf("wanted %d columns by which rows are sorted, got %d", c.want, len(got))
		}
	}
}

// The values of an Enum of polars stand in the schema that Arrow keeps: refused, for the
// chosen column only.
func TestParquetEnum(t *testing.T) {
	t.Parallel()
	data, _ := typedFile(t, 4)
	for column, refused := range map[string]bool{"text": true, "other": false} {
		in := withFooter(t, data, func(f *structure) {
			pair := &structure{[]field{{1, thrift.BINARY, []byte("ARROW:schema")},
				{2, thrift.BINARY, arrowSchema(column)}}}
			f.set(5, thrift.LIST, series{thrift.STRUCT, []any{pair}})
		})
		if _, err := upper(t, in, Options{Columns: []string{"text"}}); (err != nil) != refused {
			t.Errorf("Enum %s: wanted an error: %v, got %v", column, refused, err)
		}
	}
	for _, broken := range []string{"", "!", "AAAA", strings.Repeat("////", 9)} {
		in := withFooter(t, data, func(f *structure) {
			pair := &structure{[]field{{1, thrift.BINARY, []byte("ARROW:schema")}, {2, thrift.BINARY, []byte(broken)}}}
			f.set(5, thrift.LIST, series{thrift.STRUCT, []any{pair}})
		})
		_, _ = upper(t, in, Options{Columns: []string{"text"}}) // does not panic
	}
}

// arrowSchema is a schema of Arrow with a column that has the metadata of an Enum.
func arrowSchema(column string) []byte {
	b := flatbuffers.NewBuilder(0)
	vector := func(element flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, 1, 4)
		b.PrependUOffsetT(element)
		return b.EndVector(1)
	}
	table := func(slots map[int]flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartObject(8)
		for slot, value := range slots {
			b.PrependUOffsetTSlot(slot, value, 0)
		}
		return b.EndObject()
	}
	key, value, name := b.CreateString("_PL_ENUM_VALUES2"), b.CreateString("1;a"), b.CreateString(column)
	metadata := vector(table(map[int]flatbuffers.UOffsetT{metadataKey: key, 1: value}))
	fields := vector(table(map[int]flatbuffers.UOffsetT{fieldName: name, fieldMetadata: metadata}))
	schema := table(map[int]flatbuffers.UOffsetT{schemaFields: fields})
	b.Finish(table(map[int]flatbuffers.UOffsetT{messageHeader: schema}))
	data := append([]byte{255, 255, 255, 255, 0, 0, 0, 0}, b.FinishedBytes()...)
	return []byte(base64.StdEncoding.EncodeToString(data))
}

// What is kept in memory does not grow with the texts, of one column or of two.
func TestParquetMemory(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(1<<16))
	long := strings.Repeat("some text ", 200)
	for i := range 16_000 { // 64 MB
		if _, err := w.Write([]row{{fmt.Sprint(i, long), fmt.Sprint(long, i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	b = bytes.Buffer{}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	r, err := NewReader(in, Options{Name: "in", Format: Parquet, Columns: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	start, most, out := heap(), uint64(0), filepath.Join(t.TempDir(), "y.parquet")
	to, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	writer := r.NewWriter(to)
	for i := range 16_000 {
		row, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Write(row); err != nil {
			t.Fatal(err)
		}
		if i%2000 == 1999 {
			most = max(most, heap())
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if grown := (int64(most) - int64(start)) >> 20; grown > 32 {
		t.Errorf("wanted at most 32 MiB in memory for 64 MB of text, got %d", grown)
	}
	f, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[row](bytes.NewReader(f), int64(len(f)))
	if err != nil || len(got) != 16_000 || got[15_999].B != fmt.Sprint(long, 15_999) {
		t.Errorf("wanted 16000 rows as they were, got %d, %v", len(got), err)
	}
}
