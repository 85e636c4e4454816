package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"
)

// apply reads a table, changes its texts and writes it.
func apply(t testing.TB, r io.Reader, o Options, change func(string) string) (string, *Reader, error) {
	t.Helper()
	in, err := NewReader(r, o)
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	w := in.NewWriter(&out)
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			err := w.Close()
			return out.String(), in, err
		}
		if err != nil {
			return out.String(), in, err
		}
		for i, v := range row.Values {
			if !v.Null {
				row.Values[i].Text = change(v.Text)
			}
		}
		if err := w.Write(row); err != nil {
			return out.String(), in, err
		}
	}
}

func same(s string) string { return s }

const bom = "\ufeff"

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.Bytes()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	of := func(f Format, columns ...string) Options {
		return Options{Format: f, Columns: columns, Name: "in", Text: true}
	}
	for name, c := range map[string]struct {
		options  Options
		in, want string
		rows     uint64 // whose numbers the noise of a text depends on
	}{
		"lines":       {of(Lines), "ab\r\n\ncd", "AB\r\n\nCD", 3},
		"bom":         {of(Lines), bom + "ab\n", bom + "AB\n", 1},
		"csv":         {of(CSV, "b"), "a,b,c\nx,y,z\n", "a,b,c\nx,Y,z\n", 1},
		"csv, two":    {of(CSV, "c", "a", "c"), "a,b,c\nx,y,z", "a,b,c\nX,y,Z\n", 1},
		"csv, quotes": {of(CSV, "b"), "a,b\n\"1,\"\"2\",\"x\n\"\"y\"\" ,\"\n", "a,b\n\"1,\"\"2\",\"X\n\"\"Y\"\" ,\"\n", 1},
		"csv, CRLF":   {of(CSV, "a"), bom + "\"a\",b\r\nx,y\r\n", bom + "\"a\",b\nX,y\n", 1},
		"csv, empty":  {of(CSV, "a"), "a\n\"\"\n\nx\n", "a\n\"\"\n\nX\n", 3},
		"csv, numbered": {Options{Format: CSV, Columns: []string{"2"}, NoHeader: true}, bom + "x,y\np,q\n", bom +
			"x,Y\np,Q\n", 2},
		"tsv": {of(TSV, "b", "c"), "a\tb\tc\n1\t\"x \"\"y\"\"\"\t\"z\r\n\n", "a\tb\tc\n1\t\"X \"\"Y\"\"\"\t\"Z\n", 1},
		"jsonl": {of(JSONLines, "t"), `{"a":1.50,"e":1e400,"t" : "x\u00e9<\n","u":{"t": 12345678901234567890},"é\"":[true]}` + "\r\n\n" +
			`{"t":null}`, `{"a":1.50,"e":1e400,"t":"XÉ<\n","u":{"t": 12345678901234567890},"é\"":[true]}` + "\n" + `{"t":null}` + "\n", 2},
		"json":     {of(JSON, "t"), `[{"t":"x"}, {"id":1.0,"t":"y"}]`, "[\n{\"t\":\"X\"},\n{\"id\":1.0,\"t\":\"Y\"}\n]\n", 2},
		"latin1":   {Options{Encoding: "latin1"}, "caf\xe9\n", "CAFÉ\n", 1},
		"windows":  {Options{Encoding: "Windows-1252"}, "\x93caf\xe9\x94\n", "“CAFÉ”\n", 1},
		"utf-16":   {Options{Encoding: "utf-16"}, "\xff\xfea\x00\n\x00", "A\n", 1},
		"utf-16be": {Options{Encoding: "utf-16"}, "\xfe\xff\x00a\x00\n", "A\n", 1},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
			bytes.NewReader(gzipped(c.in))} {
			got, in, err := apply(t, r, c.options, strings.ToUpper)
			if err != nil || got != c.want || in.rows != c.rows {
				t.Errorf("%s: %q of %d rows, %v\nwant %q of %d", name, got, in.rows, err, c.want, c.rows)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	b := Options{Format: CSV, Columns: []string{"b"}}
	object := Options{Format: JSONLines, Columns: []string{"t"}, Text: true}
	array := Options{Format: JSON, Columns: []string{"t"}, Text: true}
	tsv := Options{Format: TSV, Columns: []string{"b"}}
	numbered := Options{Format: CSV, Columns: []string{"2"}, NoHeader: true}
	for _, c := range []struct {
		options  Options
		in, want string
	}{
		{Options{}, "ab\ncaf\xe9\n", "in:2: is not UTF-8: if the text is Latin-1 or the like, say so with --encoding"},
		{Options{}, "ab\xc3", "in:1: is not UTF-8"},
		{Options{}, "ab\nc\x00", "in:2: has a zero byte"},
		{b, "\xff\xfea\x00,\x00", "in is UTF-16: say so with --encoding utf-16"},
		{object, "\xfd7zXZ\x00\x00", "in: is packed by xz"},
		{Options{}, "\x28\xb5\x2f\xfd\x00\x00", "in: is packed by zstd"},
		{Options{}, "\x1f\x8bxyz", "in: damaged gzip file: "},
		{Options{}, string(gzipped("some text that is long enough")[:20]), "in: damaged gzip file: unexpected EOF"},
		{b, "a,c\n", `in:1: no column "b": the header has ["a" "c"]`},
		{b, "a;b\n", `in:1: no column "b": the header has ["a;b"]; give --delimiter ";"`},
		{b, "b,b\n", `in:1: two columns are called "b"`},
		{b, "a,b\n1,2\n\n1\n", "in:4: 1 fields, want 2"},
		{b, "a,b\n1,2\n1,\"2\n3,4\n", "in:4: extraneous or missing \" in quoted-field"},
		{b, "", "in: empty"},
		{numbered, "1\n", `column = "2": must be a number in [1, 1] where there is no header`},
		{tsv, "a\tb\n1\t2\t3\n", "in:2: 3 fields, want 2"},
		{object, "{\"t\":\"\"}\n[1]\n", "in:2: is not a JSON object"},
		{object, `{"t":"x"`, "in:1: not a JSON object: "},
		{object, `{"t":"x"} {}`, "in:1: more after the JSON object"},
		{object, `{"t":"x","t":"y"}`, `in:1: field "t" stands twice`},
		{object, `{"t":1}`, `in:1: field "t" is no text in quotes`},
		{object, "{\"t\":\"\"}\n{\"T\":\"x\"}", `in:2: no field "t"`},
		{object, `[{"t":"x"}]`, "in:1: is not a JSON object"},
		{array, `{"t":"x"}`, "in: is no JSON array of objects"},
		{array, `[{"t":"x"}`, "in: after 1 objects: the array does not end there"},
		{array, `[{"t":"x"}] 5`, "in: after 1 objects: the array does not end there"},
		{array, `[{"t":"x"}, {"s":"x"}]`, `in: object 2: no field "t"`},
		{Options{Format: CSV}, "a\n", "in: csv needs the name of a column"},
		{Options{Format: "xml"}, "", `format = "xml": must be one of `},
		{Options{Encoding: "ebcdic"}, "", `encoding = "ebcdic": must be a name of the IANA`},
		{Options{Format: Parquet, Columns: []string{"t"}}, "", "in: Parquet is no stream of text"},
		{Options{longest: 1 << 20}, "x\n" + strings.Repeat("y", 2<<20), "in:2: a row is longer than 1 MiB"},
		{Options{Format: CSV, Columns: []string{"a"}, longest: 1 << 20}, "a\n\"" + strings.Repeat("text\n", 1<<20),
			"in:262964: a row is longer than 1 MiB: is a quote missing?"},
	} {
		c.options.Name = "in"
		if _, _, err := apply(t, strings.NewReader(c.in), c.options, same); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.in[:min(len(c.in), 40)], err, c.want)
		}
	}
	// A line end that is not read is refused, with a header or without.
	for _, end := range []string{"\r", "\v", "\f", "\u0085", "\u2028", "\u2029"} {
		for _, o := range []Options{b, numbered, {Format: TSV, Columns: []string{"b"}}} {
			in := strings.NewReplacer("\n", end, ",", map[bool]string{true: "\t", false: ","}[o.Format == TSV]).
				Replace("a,b\n1,secret\n2,secret\n")
			if got, _, err := apply(t, strings.NewReader(in), o, same); err == nil || strings.Contains(got, "secret") {
				t.Errorf("%q, %v: %q, %v", end, o.Format, got, err)
			}
		}
	}
}

// Values come back equal, whatever stands in them, and every row once.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"a,b\n1,\"x\n\"\"\"\r\n", bom + "a\tb\n\"\t2\n", `{"a":"\ud800x"}`, `[{"a":"x"}, {"a":"1"}]`, "\xff",
		"a\r\n\n\r", "\n0", "\"\"\n\"\"", "a\n\"\"", "a\tb\n\"x\"\t\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		first := strings.FieldsFunc(strings.TrimPrefix(in, bom),
			func(r rune) bool { return strings.ContainsRune(",\t\r\n\"", r) })
		column := "a"
		if len(first) > 0 {
			column = strings.TrimSpace(first[0])
		}
		for _, o := range []Options{{}, {Format: CSV, Columns: []string{column}},
			{Format: CSV, Columns: []string{"1"}, NoHeader: true}, {Format: TSV, Columns: []string{column}},
			{Format: JSONLines, Columns: []string{"a"}}, {Format: JSON, Columns: []string{"a"}}} {
			once, r, err := apply(t, strings.NewReader(in), o, same)
			if err != nil {
				continue
			}
			twice, again, err := apply(t, strings.NewReader(once), o, same)
			if err != nil || twice != once || r.rows != again.rows {
				t.Errorf("%s: %q became %q and then %q, %v", o.Format, in, once, twice, err)
			}
		}
	})
}

// Parquet keeps its schema, compression, metadata, and every other value.
func TestParquet(t *testing.T) {
	t.Parallel()
	type row struct {
		ID    int64    `parquet:"id"`
		Body  string   `parquet:"body,zstd"`
		Title *string  `parquet:"title,optional"`
		Tags  []string `parquet:"tags,list"`
	}
	rows := make([]row, 4000)
	for i := range rows {
		rows[i] = row{ID: int64(i) << 40, Body: fmt.Sprintf("text; %d, ünï", i), Tags: []string{"x", fmt.Sprint(i)}[:i%3%2+1]}
		if title := fmt.Sprint("title ", i); i%4 > 0 {
			rows[i].Title = &title
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.KeyValueMetadata("pandas", `{"columns": []}`))
	for from := 0; from < len(rows); from += len(rows) / 4 { // four row groups
		if _, err := w.Write(rows[from : from+len(rows)/4]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	private := func(data []byte, columns ...string) (string, *Reader, error) {
		return upperRead(t, data, Options{Columns: columns})
	}
	out, in, err := private(data, "title", "body")
	if err != nil || in.rows != uint64(len(rows)) {
		t.Fatalf("%d rows, want %d; %v", in.rows, len(rows), err)
	}
	got, err := parquet.Read[row](strings.NewReader(out), int64(len(out)))
	if err != nil || len(got) != len(rows) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, r := range rows {
		if r.Body = strings.ToUpper(r.Body); r.Title != nil {
			title := strings.ToUpper(*r.Title)
			r.Title = &title
		}
		if !reflect.DeepEqual(got[i], r) {
			t.Fatalf("row %d: %+v, want %+v", i, got[i], r)
		}
	}
	before, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	after, err2 := parquet.OpenFile(strings.NewReader(out), int64(len(out)))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	codec := func(p *parquet.File) any { return p.Metadata().RowGroups[0].Columns[1].MetaData.Codec }
	if v, ok := after.Lookup("pandas"); !ok || v != `{"columns": []}` ||
		before.Schema().String() != after.Schema().String() || codec(before) != codec(after) {
		t.Errorf("metadata %q, %d row groups, %s, %v", v, len(after.RowGroups()), after.Schema(), codec(after))
	}
	for column, want := range map[string]string{"nosuch": `in: no column "nosuch": the file has ["id" "body"`,
		"id": `in: column "id" is no text`, "tags": `in: column "tags" holds lists or groups, no text`} {
		if _, _, err := private(data, column); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", column, err)
		}
	}
	for _, cut := range []int{0, 3, len(data) / 2, len(data) - 1} {
		if _, _, err := private(data[:cut], "body"); err == nil || !strings.HasPrefix(err.Error(), "in: ") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// A name that two columns have names none: one of them would be published as it was.
func TestTwoColumnsOfOneName(t *testing.T) {
	t.Parallel()
	type row struct {
		First  string `parquet:"text"`
		Second string `parquet:"tex2"`
		Other  string `parquet:"other"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{"secret", "secret", "open"}}); err != nil {
		t.Fatal(err)
	}
	joined := bytes.ReplaceAll(b.Bytes(), []byte("tex2"), []byte("text"))
	file := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(file, joined, 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	of := func(f Format, column string) Options {
		return Options{Name: "in", Format: f, Columns: []string{column}, Text: true}
	}
	numbers := of(CSV, "text")
	numbers.Delimiter = ";"
	for _, c := range []struct {
		in      io.Reader
		options Options
		want    string
	}{
		{in, of(Parquet, "text"), `in: two columns are called "text"`},
		{strings.NewReader("text,text\na,b\n"), of(CSV, "text"), `in:1: two columns are called "text"`},
		{strings.NewReader("text, text \na,b\n"), of(CSV, "text"), `in:1: two columns are called "text"`},
		{strings.NewReader("text;x;text\na;b;c\n"), numbers, `in:1: two columns are called "text"`},
		{strings.NewReader("text\ttext\na\tb\n"), of(TSV, "text"), `in:1: two columns are called "text"`},
		{strings.NewReader(`{"text":"a","t\u0065xt":"b"}`), of(JSONLines, "text"), `in:1: field "text" stands twice`},
		{strings.NewReader(`[{"text":"a","text":"b"}]`), of(JSON, "text"), `in: object 1: field "text" stands twice`},
	} {
		out, _, err := apply(t, c.in, c.options, strings.ToUpper)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: wanted the error %s, got %v and %q", c.options.Format, c.want, err, out)
		}
	}
	if _, _, err := apply(t, in, of(Parquet, "other"), strings.ToUpper); err != nil {
		t.Errorf("a column with a name of its own: wanted it to be read, got %v", err)
	}
}
