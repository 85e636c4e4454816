package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// upper privatises columns of a Parquet file as strings.ToUpper does.
func upper(t testing.TB, data []byte, o Options) (string, error) {
	t.Helper()
	out, _, err := upperRead(t, data, o)
	return out, err
}

// upperRead is upper, with the reader of the file.
func upperRead(t testing.TB, data []byte, o Options) (string, *Reader, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	o.Name = "in"
	o.Format = Parquet
	o.Text = true
	return apply(t, in, o, strings.ToUpper)
}

// footerOf is the footer of a file.
func footerOf(t testing.TB, data []byte) *structure {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	footer, err := parseStructure(data[len(data)-8-size : len(data)-8])
	if err != nil {
		t.Fatal(err)
	}
	return footer
}

// withFooter is a file with another footer.
func withFooter(t testing.TB, data []byte, change func(footer *structure)) []byte {
	t.Helper()
	footer := footerOf(t, data)
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	change(footer)
	b, err := footer.bytes()
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(data[:len(data)-8-size]), b...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), "PAR1"...)
}

const (
	fileSchema, elementType, elementLength, elementFieldID, elementLogical = 2, 1, 2, 9, 10
	logicalDecimal, logicalNull, logicalHalf, logicalVariant               = 5, 11, 15, 16
)

type typedRow struct {
	ID    int64    `parquet:"id,delta"`
	Text  *string  `parquet:"text,optional,snappy"`
	Half  [2]byte  `parquet:"half"`
	Score float64  `parquet:"score,split"`
	Tags  []string `parquet:"tags,list,dict"`
}

func typedFile(t testing.TB, rows int, options ...parquet.WriterOption) ([]byte, []typedRow) {
	t.Helper()
	all := make([]typedRow, rows)
	for i := range all {
		all[i] = typedRow{ID: int64(i), Half: [2]byte{0, byte(i)}, Score: float64(i) / 3, Tags: []string{"x", fmt.Sprint(i)}}
		if text := fmt.Sprint("secret ", i); i%3 > 0 {
			all[i].Text = &text
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[typedRow](&b, options...)
	if _, err := w.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), all
}

// What the library does not know, or takes for something else, stays: only the chosen
// column is written by it.
func TestParquetKeepsOtherColumns(t *testing.T) {
	t.Parallel()
	data, rows := typedFile(t, 100, parquet.MaxRowsPerRowGroup(30))
	logical := func(number int16, value *structure) *structure {
		return &structure{[]field{{number, thrift.STRUCT, value}}}
	}
	for name, change := range map[string]func(schema []*structure, groups []*structure){
		"as written": func(_, _ []*structure) {},
		"levels first among the encodings, as Spark has them": func(_, groups []*structure) {
			for _, g := range groups {
				for _, c := range g.structures(groupColumns) {
					c.structure(chunkMeta).set(metaEncodings, thrift.LIST, series{thrift.I32, []any{int32(3), int32(0)}})
				}
			}
		},
		"half floats": func(schema, _ []*structure) {
			schema[3].set(elementLogical, thrift.STRUCT, logical(logicalHalf, &structure{}))
		},
		"a column of the type Null": func(schema, _ []*structure) {
			schema[1].set(elementLogical, thrift.STRUCT, logical(logicalNull, &structure{}))
		},
		"a variant with a version": func(schema, _ []*structure) {
			version := &structure{[]field{{1, thrift.I8, int8(1)}}}
			schema[5].set(elementLogical, thrift.STRUCT, logical(logicalVariant, version))
		},
		"a type of the future": func(schema, _ []*structure) {
			schema[3].set(elementLogical, thrift.STRUCT, logical(99, &structure{}))
		},
		"a field of the future": func(schema, _ []*structure) {
			schema[3].set(32767, thrift.BINARY, []byte("x"))
		},
		"a field number 0": func(schema, _ []*structure) { schema[1].set(elementFieldID, thrift.I32, int32(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			in := withFooter(t, data, func(f *structure) { change(f.structures(fileSchema), f.structures(fileRowGroups)) })
			out, err := upper(t, in, Options{Columns: []string{"text"}})
			if err != nil {
				t.Fatalf("wanted it to be written, got %v", err)
			}
			before, after := footerOf(t, in), footerOf(t, []byte(out))
			if !reflect.DeepEqual(before.structures(fileSchema), after.structures(fileSchema)) {
				t.Error("wanted the schema as it was, got another")
			}
			plain := withFooter(t, []byte(out), func(f *structure) { // what the library can read
				at, _ := f.find(fileSchema)
				f.fields[at] = footerOf(t, data).fields[at]
			})
			got, err := parquet.Read[typedRow](bytes.NewReader(plain), int64(len(plain)))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range rows {
				if want.Text != nil {
					text := strings.ToUpper(*want.Text)
					want.Text = &text
				}
				if !reflect.DeepEqual(want, got[i]) {
					t.Fatalf("row %d: wanted %+v, got %+v", i, want, got[i])
				}
			}
			if strings.Contains(out, "secret") {
				t.Error("wanted no original text, as statistics or otherwise, and it is there")
			}
		})
	}
}

// The bytes of other columns are copied, so whatever encoding they have can stay.
func TestParquetEncodings(t *testing.T) {
	t.Parallel()
	type row struct {
		Plain  string `parquet:"plain"`
		Delta  string `parquet:"delta,delta"`
		Dict   string `parquet:"dict,dict,zstd"`
		Number int32  `parquet:"number,delta,gzip"`
	}
	rows := make([]row, 500)
	for i := range rows {
		text := fmt.Sprint("some ", i%7)
		rows[i] = row{text, text, text, int32(i)}
	}
	for _, version := range []int{1, 2} {
		var b bytes.Buffer
		if err := parquet.Write(&b, rows, parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(200)); err != nil {
			t.Fatal(err)
		}
		for _, column := range []string{"plain", "delta", "dict"} {
			out, err := upper(t, b.Bytes(), Options{Columns: []string{column}})
			if err != nil {
				t.Fatalf("%s, pages of version %d: %v", column, version, err)
			}
			got, err := parquet.Read[row](strings.NewReader(out), int64(len(out)))
			if err != nil || len(got) != len(rows) {
				t.Fatalf("%s: wanted %d rows, got %d, %v", column, len(rows), len(got), err)
			}
			for i, want := range rows {
				changed := strings.ToUpper(want.Plain)
				switch column {
				case "plain":
					want.Plain = changed
				case "delta":
					want.Delta = changed
				default:
					want.Dict = changed
				}
				if got[i] != want {
					t.Fatalf("%s, pages of version %d, row %d: wanted %v, got %v", column, version, i, want, got[i])
				}
			}
		}
	}
}

func TestParquetIsRefused(t *testing.T) {
	t.Parallel()
	data, _ := typedFile(t, 4)
	var b bytes.Buffer
	foreign := "caf\xe9 bar"
	if err := parquet.Write(&b, []typedRow{{Text: nil}, {Text: &foreign}}); err != nil {
		t.Fatal(err)
	}
	latin := b.Bytes()
	chunk := func(f *structure) *structure { return f.structures(fileRowGroups)[0].structures(groupColumns)[0] }
	decimal := &structure{[]field{{1, thrift.I32, int32(0)}, {2, thrift.I32, int32(2)}}}
	text := Options{Columns: []string{"text"}}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"not UTF-8": {latin, `in: row 2: column "text" is not UTF-8: if the text is Latin-1`},
		"a type at which the library panics": {withFooter(t, data, func(f *structure) {
			half := f.structures(fileSchema)[3]
			half.drop(elementLength, elementLength)
			half.set(elementLogical, thrift.STRUCT, &structure{[]field{{logicalDecimal, thrift.STRUCT, decimal}}})
		}), "in: broken Parquet: DECIMAL using FIXED_LEN_BYTE_ARRAY must specify a length"},
		"pages elsewhere": {withFooter(t, data, func(f *structure) {
			chunk(f).set(chunkFile, thrift.BINARY, []byte("other.parquet"))
		}), "in: its columns are in other files"},
		"encrypted": {withFooter(t, data, func(f *structure) {
			chunk(f).set(chunkEncrypted, thrift.BINARY, []byte("x"))
		}), "in: is encrypted"},
		"more rows than values": {withFooter(t, data, func(f *structure) {
			f.structures(fileRowGroups)[0].set(groupRows, thrift.I64, int64(9))
		}), "in: row 5: unexpected EOF"},
		"offsets outside of the file": {withFooter(t, data, func(f *structure) {
			chunk(f).structure(chunkMeta).set(metaCompressed, thrift.I64, int64(1)<<40)
		}), "in: broken Parquet: a column ends early"},
		"bytes that are a number": {withFooter(t, data, func(f *structure) {
			f.structures(fileSchema)[2].set(elementLogical, thrift.STRUCT,
				&structure{[]field{{logicalDecimal, thrift.STRUCT, decimal}}})
		}), `in: column "text" is no text`},
	} {
		if _, err := upper(t, c.data, text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: wanted the error %s, got %v", name, c.want, err)
		}
	}
	text.Encoding = "latin1"
	out, err := upper(t, latin, text)
	if err != nil || !strings.Contains(out, "CAFÉ BAR") {
		t.Errorf("latin1: wanted CAFÉ BAR in UTF-8, got %v", err)
	}
	for at := 0; at < len(data); at += 3 { // whatever is broken, nothing panics
		broken := bytes.Clone(data)
		broken[at] ^= 0x15
		_, _ = upper(t, broken, Options{Columns: []string{"text"}})
	}
}

// Row groups without rows stay, first, between and last, and a file may have no other.
func TestParquetRowGroupsWithoutRows(t *testing.T) {
	t.Parallel()
	data, _ := typedFile(t, 30, parquet.MaxRowsPerRowGroup(20))
	empty := func(groups []*structure) *structure { // a copy of the first group, without rows
		g := &structure{append([]field(nil), groups[0].fields...)}
		columns := series{kind: thrift.STRUCT}
		for _, c := range g.structures(groupColumns) {
			meta := &structure{append([]field(nil), c.structure(chunkMeta).fields...)}
			meta.set(5, thrift.I64, int64(0))
			columns.values = append(columns.values, &structure{[]field{{chunkOffset, thrift.I64, int64(0)},
				{chunkMeta, thrift.STRUCT, meta}}})
		}
		g.set(groupColumns, thrift.LIST, columns)
		g.set(groupRows, thrift.I64, int64(0))
		return g
	}
	for _, pattern := range []string{"e", "ee", "ear", "aer", "are", "eaeere", ""} {
		rows := int64(0)
		in := withFooter(t, data, func(f *structure) {
			groups := f.structures(fileRowGroups)
			list := series{kind: thrift.STRUCT}
			for _, g := range groups {
				g.drop(7, 7) // their ordinal numbers
			}
			for _, kind := range pattern {
				switch kind {
				case 'e':
					list.values = append(list.values, empty(groups))
				case 'a':
					list.values = append(list.values, groups[0])
					rows += 20
				default:
					list.values = append(list.values, groups[1])
					rows += 10
				}
			}
			f.set(3, thrift.I64, rows)
			f.set(fileRowGroups, thrift.LIST, list)
		})
		out, err := upper(t, in, Options{Columns: []string{"text"}})
		if err != nil {
			t.Errorf("%q: wanted it to be written, got %v", pattern, err)
			continue
		}
		groups := footerOf(t, []byte(out)).structures(fileRowGroups)
		got := int64(0)
		for _, g := range groups {
			got += g.number(groupRows)
		}
		if len(groups) != len(pattern) || got != rows {
			t.Errorf("%q: wanted %d row groups with %d rows, got %d with %d", pattern, len(pattern), rows, len(groups), got)
		}
		if strings.Contains(out, "secret") {
			t.Errorf("%q: the original text is there", pattern)
		}
	}
}
