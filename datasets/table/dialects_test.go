package table

import (
	"bytes"
	"strings"
	"testing"
)

// Every row that is read is written, in its place, whatever it lacks; and what the
// readers of a dialect tell apart stays apart.
func TestDialects(t *testing.T) {
	t.Parallel()
	of := func(f Format, columns ...string) Options { return Options{Name: "in", Format: f, Columns: columns} }
	numbered := func(f Format, columns ...string) Options {
		o := of(f, columns...)
		o.NoHeader = true
		return o
	}
	semicolon := of(CSV, "b")
	semicolon.Delimiter = ";"
	for name, c := range map[string]struct {
		options  Options
		in, want string
		rows     uint64
	}{
		"one column, missing texts":       {of(CSV, "a"), "a\nx\n\ny\n\n", "a\nX\n\nY\n\n", 4},
		"one column, CR LF":               {of(CSV, "a"), "a\r\nx\r\n\r\ny\r\n", "a\nX\n\nY\n", 3},
		"one column, missing and empty":   {of(CSV, "a"), "a\n\"\"\n\n\"\"\n", "a\n\"\"\n\n\"\"\n", 3},
		"one column, no header":           {numbered(CSV, "1"), "\n\nx\n\ny\n", "\n\nX\n\nY\n", 5},
		"one column, empty lines in text": {of(CSV, "a"), "a\n\"x\n\n\ny\"\n\n", "a\n\"X\n\n\nY\"\n\n", 2},
		"two columns, empty lines":        {of(CSV, "a"), "\na,b\n\nx,y\n\r\nz,\n", "a,b\nX,y\nZ,\n", 2},
		"two columns, no header":          {numbered(CSV, "1"), "\nx,y\n\n", "X,y\n", 1},
		"empty and missing":               {of(CSV, "b"), "a,b\n\"\",\n,\"\"\n\"\",\"\"\n,\n", "a,b\n\"\",\n,\"\"\n\"\",\"\"\n,\n", 4},
		"quotes stay":                     {of(CSV, "b"), "\"a\",b\n\"007\",\"x\"\n007,x\n", "\"a\",b\n\"007\",\"X\"\n007,X\n", 2},
		"quotes where they are needed":    {of(CSV, "b"), "a,b\n x,\"a,b\"\n", "a,b\n\" x\",\"A,B\"\n", 1},
		"quotes in quotes":                {of(CSV, "b"), "a,b\n\"\"\"\",\"\"\"x\"\"\"\n", "a,b\n\"\"\"\",\"\"\"X\"\"\"\n", 1},
		"CR LF in fields":                 {of(CSV, "b"), "a,b\r\n\"p\r\nq\",\"x\r\n\r\ny\r\"\r\n", "a,b\n\"p\r\nq\",\"X\r\n\r\nY\r\"\n", 1},
		"LF and CR LF in one field":       {of(CSV, "b"), "a,b\n1,\"x\ny\r\nz\"\n", "a,b\n1,\"X\nY\r\nZ\"\n", 1},
		"CR LF in the first row":          {numbered(CSV, "1"), "\"x\r\ny\",1\n", "\"X\r\nY\",1\n", 1},
		"another delimiter":               {semicolon, "a;b\n\"\";\"x;y\"\n;\n", "a;b\n\"\";\"X;Y\"\n;\n", 2},
		"the end without a line end":      {of(CSV, "b"), "a,b\n1,\"\"", "a,b\n1,\"\"\n", 1},
		"TSV, a row of empty fields":      {of(TSV, "b"), "a\tb\n\t\nx\ty\n", "a\tb\n\t\nx\tY\n", 2},
		"TSV, rows of spaces":             {of(TSV, "b"), "a\tb\n \t \n  \t\n", "a\tb\n \t \n  \t\n", 2},
		"TSV, one column":                 {of(TSV, "a"), "a\nx\n\n \ny\n\n", "a\nX\n\n \nY\n\n", 5},
		"TSV, one column, no header":      {numbered(TSV, "1"), "\nx\n\n", "\nX\n\n", 3},
		"TSV, an empty line at the end":   {of(TSV, "a"), "a\tb\nx\ty\n\n", "a\tb\nX\ty\n", 1},
		"JSON lines, empty lines":         {of(JSONLines, "a"), "{\"a\":\"\"}\n\n{\"a\":null}\n", "{\"a\":\"\"}\n{\"a\":null}\n", 2},
	} {
		got, in, err := apply(t, strings.NewReader(c.in), c.options, strings.ToUpper)
		if err != nil || got != c.want || in.rows != c.rows {
			t.Errorf("%s: wanted %q of %d rows, got %q of %d, %v", name, c.want, c.rows, got, in.rows, err)
		}
	}
}

// A text that becomes empty is an empty one, not a missing one.
func TestTextBecomesEmpty(t *testing.T) {
	t.Parallel()
	o := Options{Name: "in", Format: CSV, Columns: []string{"b"}}
	nothing := func(string) string { return "" }
	got, _, err := apply(t, strings.NewReader("a,b\n1,x\n2,\n3,\"\"\n4,\"y\"\n"), o, nothing)
	if want := "a,b\n1,\"\"\n2,\n3,\"\"\n4,\"\"\n"; err != nil || got != want {
		t.Errorf("wanted %q, got %q, %v", want, got, err)
	}
}

// What a file is, where it is no table, and what to do.
func TestWhatIsRefusedIsNamed(t *testing.T) {
	t.Parallel()
	of := func(f Format) Options { return Options{Name: "in", Format: f, Columns: []string{"text"}, Text: true} }
	backslash := "in:2: extraneous or missing \" in quoted-field: quotes stand after a backslash here"
	for _, c := range []struct {
		options  Options
		in, want string
	}{
		{of(CSV), "id,text\n1,\"he said \\\"x\\\", y\"\n", backslash},
		{of(CSV), "id,text\n1,\"he said \\\"x\\\"\",\"z\"\n", backslash},
		{of(CSV), "id,text\n1,\"C:\\\"\n", ""},
		{of(TSV), "\"id\"\t\"text\"\n1\tx\n", `in:1: no column "text": the header has ["\"id\"" "\"text\""]; its names stand ` +
			`in quotes, which are text in TSV: give --format csv --delimiter "\t"`},
		{of(JSONLines), `{"text":"x","score":NaN}`, "in:1: not a JSON object: NaN and Infinity are no numbers of JSON: write null"},
		{of(JSONLines), `{"score":-Infinity,"text":"x"}`, "in:1: not a JSON object: NaN and Infinity are no numbers of JSON: write null"},
		{of(JSON), `[{"text":"x","score":NaN}]`, "in: object 1: not a JSON object: NaN and Infinity are no numbers of JSON: write null"},
		{of(JSON), "{\"text\":\"x\"}\n{\"text\":\"y\"}\n", "in: is no JSON array of objects: --format jsonl reads one object a line"},
		{of(JSONLines), "[{\"text\":\"x\"}]", "in:1: is not a JSON object: --format json reads an array"},
		{of(JSONLines), "{\"text\":\"x\"}\n{\"id\":1}\n", `in:2: no field "text": where there is no text, write null (Spark: ` +
			"ignoreNullFields=false)"},
		{of(CSV), "PK\x03\x04...", "in: is a workbook of Excel, or another ZIP archive: save the table as CSV or Parquet"},
		{of(CSV), "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "in: is an old workbook of Excel: save the table as CSV"},
		{of(TSV), "ARROW1\x00\x00", "in: is an Arrow file (Feather): write the table as Parquet"},
		{of(CSV), "\xff\xff\xff\xff\x10\x00\x00\x00", "in: is a stream of Arrow: write the table as Parquet"},
		{of(JSON), "FEA1....", "in: is a Feather file: write the table as Parquet"},
		{of(JSONLines), "Obj\x01....", "in: is an Avro file: write the table as Parquet or JSON lines"},
		{of(CSV), "SQLite format 3\x00", "in: is an SQLite database: write the table as CSV"},
		{of(CSV), "PAR1....", "in: is Parquet: give the file with the suffix .parquet, or --format parquet"},
		{Options{Name: "in"}, "PAR1....", "in: is Parquet: give the file with the suffix .parquet, or --format parquet"},
		{Options{Name: "in"}, "PK is no archive\n", ""},
		{of(CSV), "Object,text\n1,x\n", ""},
		{of(CSV), "ORCID,text\n1,x\n", ""},
	} {
		_, _, err := apply(t, strings.NewReader(c.in), c.options, same)
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40q: wanted the error %q, got %v", c.in, c.want, err)
		}
	}
	for _, in := range []string{"PK\x03\x04", "ARROW1\x00\x00", "SQLite format 3\x00", "a,b\n1,2\n"} {
		_, err := upper(t, []byte(in), Options{Columns: []string{"text"}})
		if err == nil || !strings.HasPrefix(err.Error(), "in: is ") && !strings.HasPrefix(err.Error(), "in: not Parquet") {
			t.Errorf("%q as Parquet: wanted what it is, got %v", in, err)
		}
	}
}

// Zero bytes after the end of gzip, as tapes and some stores pad it, are no damage, as for
// gzip itself; anything else is.
func TestPaddedGzip(t *testing.T) {
	t.Parallel()
	for padding, ok := range map[string]bool{"\x00": true, strings.Repeat("\x00", 4000): true, "\x00\x00x": false, "x": false,
		string(gzipped("y\n")): true, "\x00" + string(gzipped("y\n")): false} {
		data := append(gzipped("x\n"), padding...)
		got, _, err := apply(t, bytes.NewReader(data), Options{Name: "in"}, strings.ToUpper)
		if (err == nil) != ok {
			t.Errorf("%d bytes after gzip that begin %.10q: wanted them to be read: %v, got %q, %v", len(padding), padding, ok, got,
				err)
		}
	}
}

// A text that is what programs write for a missing one is counted, unless it stands in
// quotes where missing ones do not.
func TestSuspects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		in      string
		want    []string
	}{
		{Options{Format: CSV, Columns: []string{"b"}}, "a,b\nNA,NA\n1,\"NA\"\n2,NA\n3,NA is\n4,null\n5,\n",
			[]string{"2 texts are NA: are they missing ones?", "1 texts are null: are they missing ones?"}},
		{Options{Format: TSV, Columns: []string{"b"}}, "a\tb\n1\tNaN\n2\tx\n", []string{"1 texts are NaN: are they missing ones?"}},
		{Options{Format: JSONLines, Columns: []string{"b"}}, "{\"b\":\"None\"}\n{\"b\":null}\n",
			[]string{"1 texts are None: are they missing ones?"}},
		{Options{}, "\\N\n<NA>\nna na\n", []string{"1 texts are <NA>: are they missing ones?", "1 texts are \\N: are they missing ones?"}},
		{Options{}, "a nan\nbanana\n", nil},
	} {
		c.options.Name = "in"
		_, in, err := apply(t, strings.NewReader(c.in), c.options, same)
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Suspects.Warnings(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%q: wanted %q, got %q", c.in, c.want, got)
		}
	}
}
