package textio

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// apply changes every text of a stream.
func apply(t testing.TB, r io.Reader, o Options, change func(string) string) (string, error) {
	t.Helper()
	if o.Name == "" {
		o.Name = "in"
	}
	reader, err := NewReader(r, o)
	if err != nil {
		return "", err
	}
	var out []byte
	for {
		pieces, err := reader.Next(nil)
		for _, p := range pieces {
			text := p.Text
			if !p.Empty() {
				text = change(text)
			}
			out = Append(out, p, text)
		}
		if errors.Is(err, io.EOF) {
			return string(out), nil
		}
		if err != nil {
			return string(out), err
		}
	}
}

func upper(s string) string { return strings.ToUpper(s) }
func same(s string) string  { return s }

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options  Options
		in, want string
	}{
		"lines":    {Options{}, "ab\r\n\ncd", "AB\r\n\nCD"},
		"bom":      {Options{}, bom + "ab\n", bom + "AB\n"},
		"bom only": {Options{}, bom, bom},
		"csv":      {Options{Format: CSV, Columns: []string{"b"}}, "a,b,c\nx,y,z\n", "a,b,c\nx,Y,z\n"},
		"csv, two": {Options{Format: CSV, Columns: []string{"c", "a"}}, "a,b,c\nx,y,z", "a,b,c\nX,y,Z"},
		"csv, last": {Options{Format: CSV, Columns: []string{"c"}}, "a,b,c\r\nx,\"y\",z\r\n",
			"a,b,c\r\nx,\"y\",Z\r\n"},
		"csv, quotes": {Options{Format: CSV, Columns: []string{"b"}},
			"a,b,c\n\"1,\"\"2\",\"x\r\n\"\"y\"\" ,\",\"p\nq\"\nk,l,m\n",
			"a,b,c\n\"1,\"\"2\",\"X\r\n\"\"Y\"\" ,\",\"p\nq\"\nk,L,m\n"},
		"csv, bom": {Options{Format: CSV, Columns: []string{"a"}}, bom + "\"a\",b\r\nx,y\r\n", bom +
			"\"a\",b\r\nX,y\r\n"},
		"csv, empties": {Options{Format: CSV, Columns: []string{"a"}}, "a,b\n\n\r\nx,y\n\n,y\n\n\n",
			"a,b\n\n\r\nX,y\n\n,y\n\n\n"},
		"csv, spaces": {Options{Format: CSV, Columns: []string{"a"}}, " a , b\n x , y\n", " a , b\n X , y\n"},
		"csv, numbered": {Options{Format: CSV, Columns: []string{"2"}, NoHeader: true}, bom + "x,y\np,q\n", bom +
			"x,Y\np,Q\n"},
		"tsv": {Options{Format: TSV, Columns: []string{"b", "c"}}, "a\tb\tc\n\"x\ty\"\t\"z\r\n\n",
			"a\tb\tc\n\"x\tY\"\t\"Z\r\n\n"},
		"json": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"a":1.50,"t" : "x\u00e9<\n","u":{"t":"y"}}` +
			"\r\n\n" + `{"t":null}` + "\n",
			`{"a":1.50,"t" : "XÉ<\n","u":{"t":"y"}}` + "\r\n\n" + `{"t":null}` + "\n"},
		"json, twice": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"t":"x","t":"y"}`, `{"t":"X","t":"Y"}`},
		"latin1":      {Options{Encoding: "latin1"}, "caf\xe9\n", "CAFÉ\n"},
		"windows":     {Options{Encoding: "Windows-1252"}, "\x93caf\xe9\x94\n", "“CAFÉ”\n"},
		"utf-16":      {Options{Encoding: "utf-16"}, "\xff\xfea\x00\n\x00", "A\n"},
		"utf-16be":    {Options{Encoding: "utf-16"}, "\xfe\xff\x00a\x00\n", "A\n"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
			bytes.NewReader(gzipped(c.in))} {
			if got, err := apply(t, r, c.options, upper); err != nil || got != c.want {
				t.Errorf("%s: %q, %v\nwant %q", name, got, err, c.want)
			}
		}
	}
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.Bytes()
}

func TestErrors(t *testing.T) {
	t.Parallel()
	csv := Options{Format: CSV, Columns: []string{"b"}}
	for name, c := range map[string]struct {
		options  Options
		in, want string
	}{
		"not utf-8": {Options{}, "ab\ncaf\xe9\n", "in:2: byte 4 (0xe9) is not UTF-8: if the text is Latin-1 or " +
			"the like, say so with --encoding"},
		"cut utf-8": {Options{}, "ab\xc3", "in:1: byte 3 (0xc3) is not UTF-8: if the text is Latin-1 or the like, " +
			"say so with --encoding"},
		"binary": {Options{}, "ab\nc\x00", "in:2: byte 2 is 0: this is no text (if it is UTF-16: " +
			"--encoding utf-16)"},
		"gzip": {Options{}, "\x1f\x8bxyz", "in: damaged gzip file: "},
		"cut gzip": {Options{}, string(gzipped("some text that is long enough")[:20]),
			"in: damaged gzip file: unexpected EOF"},
		"column": {csv, "a,c\n", `in:1: no column "b": the header has ["a" "c"]`},
		"twice":  {csv, "b,b\n", `in:1: two columns are called "b"`},
		"width":  {csv, "a,b\n1,2\n\n1\n", "in:4: column 1: wrong number of fields"},
		"quote":  {csv, "a,b\n1,2\n1,\"2\n3,4\n", "in:4: column 5: extraneous or missing \" in quoted-field"},
		"empty":  {csv, "", "in: empty"},
		"number": {Options{Format: CSV, Columns: []string{"3"}, NoHeader: true}, "1,2\n",
			`column = "3": must be a number in [1, 2] where there is no header`},
		"tsv width": {Options{Format: TSV, Columns: []string{"b"}}, "a\tb\n1\t2\t3\n", "in:2: 3 fields, want 2"},
		"tsv column": {Options{Format: TSV, Columns: []string{"c"}}, "a\tb\n",
			`in:1: no column "c": the header has ["a" "b"]`},
		"json": {Options{Format: JSONLines, Columns: []string{"t"}}, "{\"t\":\"\"}\n[1]\n", "in:2: is not a JSON object"},
		"json cut": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"t":"x"`,
			"in:1: the JSON object does not end"},
		"json more": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"t":"x"} {}`,
			"in:1: more after the JSON object"},
		"json number": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"t":1}`,
			`in:1: field "t" is no text in quotes`},
		"json absent": {Options{Format: JSONLines, Columns: []string{"t"}}, `{"s":"x"}`,
			`in:1: no field "t"`},
		"no column": {Options{Format: CSV}, "a\n", "csv: no column named"},
		"format":    {Options{Format: "xml"}, "", `format = "xml": must be one of `},
		"encoding":  {Options{Encoding: "ebcdic"}, "", `encoding = "ebcdic": must be one of `},
	} {
		if _, err := apply(t, strings.NewReader(c.in), c.options, same); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// An endless line is split into pieces that do not depend on how it is read,
// and words that end are not cut.
func TestLongLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", LongestPiece) + "\nnext\n" + strings.Repeat("é", LongestPiece)
	split := func(r io.Reader) (pieces []Piece) {
		reader, err := NewReader(r, Options{Name: "in"})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			pieces, err = reader.Next(pieces)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		return pieces
	}
	all, again := split(strings.NewReader(long)), split(iotest.HalfReader(strings.NewReader(long)))
	var b strings.Builder
	for i, p := range all {
		b.WriteString(p.Text)
		if len(p.Text) > LongestPiece+bufferSize {
			t.Errorf("piece %d has %d bytes", i, len(p.Text))
		}
		if i >= len(again) || again[i] != p {
			t.Fatalf("piece %d depends on the reader", i)
		}
		if p.Record == 0 && !strings.HasSuffix(p.Text, " ") && !strings.HasSuffix(p.Text, "\n") {
			t.Errorf("piece %d ends in a word", i)
		}
	}
	if b.String() != long || len(all) < 7 {
		t.Errorf("%d pieces, not the text", len(all))
	}
	if all[len(all)-1].Record != 2 {
		t.Errorf("last record is %d", all[len(all)-1].Record)
	}
	if _, err := apply(t, strings.NewReader("x\n"+strings.Repeat("y", 2<<20)), Options{Whole: true, longest: 1 << 20},
		same); err == nil || err.Error() != "in:2: longer than 1 MiB" {
		t.Errorf("whole: %v", err)
	}
	open := "a\n\"" + strings.Repeat("text\n", 1<<20)
	if _, err := apply(t, strings.NewReader(open), Options{Format: CSV, Columns: []string{"a"}, longest: 1 << 20},
		same); err == nil || err.Error() != "in: a row longer than 1 MiB begins at byte 3: is a quote missing?" {
		t.Errorf("quote without end: %v", err)
	}
}

// Unchanged texts reproduce any stream byte for byte.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"a,b\n1,\"x\n\"\"\"\r\n", bom + "a\tb\n\"\t2\n", `{"a":"\ud800x"}`, `[{"a":"x"}, {"b":1}]`, "\xff", "a\r\n\n\r",
		"\n0"} {
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
			{Format: CSV, Columns: []string{"1"}, NoHeader: true},
			{Format: CSV, Columns: []string{"1"}, NoHeader: true, Delimiter: ";"}, {Format: TSV, Columns: []string{column}}} {
			if got, err := apply(t, strings.NewReader(in), o, same); err == nil && got != in &&
				!strings.HasPrefix(in, "\x1f\x8b") && got != strings.ReplaceAll(in, "\r", "\n") {
				t.Errorf("%s: %q became %q", o.Format, in, got)
			}
		}
		for _, format := range []Format{JSONLines, JSON} { // other escapes may say the same
			_, _ = apply(t, strings.NewReader(in), Options{Format: format, Columns: []string{"a"}}, same)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("id,body,label\n")
	for text.Len() < 1<<20 {
		text.WriteString("17,\"")
		for range 40 {
			text.WriteString("some"[:1+rng.IntN(4)] + " ")
		}
		text.WriteString("\",3\n")
	}
	for _, o := range []Options{{}, {Format: CSV, Columns: []string{"body"}}} {
		b.Run(string(o.Format), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := apply(b, strings.NewReader(text.String()), o, same); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const bom = "\ufeff"
