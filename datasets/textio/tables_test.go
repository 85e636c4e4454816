package textio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// row is a row of a table with more than the text.
type row struct {
	ID    int64    `parquet:"id" json:"id"`
	Body  string   `parquet:"body,zstd" json:"body"`
	Title *string  `parquet:"title,optional" json:"title"`
	Score float64  `parquet:"score" json:"score"`
	Tags  []string `parquet:"tags,list" json:"tags"`
}

const manyRows = 20_000

func rowsOf(n int) []row {
	all := make([]row, n)
	for i := range all {
		all[i] = row{ID: int64(i), Body: fmt.Sprintf("text; \"%d\", ünï, a\tb", i), Score: float64(i) / 3,
			Tags: []string{"x", fmt.Sprint(i)}[:i%3%2+1]}
		if i%4 > 0 {
			title := fmt.Sprint("title ", i)
			all[i].Title = &title
		}
	}
	return all
}

// TestManyRows changes one column of 20,000 rows and then, by the unchanged
// text, nothing.
func TestManyRows(t *testing.T) {
	t.Parallel()
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	quoted := func(delimiter string) func([]row) string {
		return func(rows []row) string {
			var b strings.Builder
			fmt.Fprintln(&b, strings.Join([]string{"id", "body", "score"}, delimiter))
			for _, r := range rows {
				fmt.Fprintln(&b, strings.Join([]string{fmt.Sprint(r.ID), quote(r.Body), fmt.Sprint(r.Score)}, delimiter))
			}
			return b.String()
		}
	}
	asJSON := func(before, between, after string) func([]row) string {
		return func(rows []row) string {
			var parts []string
			for _, r := range rows {
				line, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, string(line))
			}
			return before + strings.Join(parts, between) + after
		}
	}
	for name, c := range map[string]struct {
		options Options
		write   func([]row) string
	}{
		"csv":                 {Options{Format: CSV}, quoted(",")},
		"csv with semicolons": {Options{Format: CSV, Delimiter: ";"}, quoted(";")},
		"tsv with semicolons": {Options{Format: TSV, Delimiter: ";"}, quoted(";")},
		"csv with tabs":       {Options{Format: CSV, Delimiter: "\t"}, quoted("\t")},
		"jsonl":               {Options{Format: JSONLines}, asJSON("", "\n", "\n")},
		"json":                {Options{Format: JSON}, asJSON(" [\n  ", ",\n  ", "\n]\n")},
		"json in a line":      {Options{Format: JSON}, asJSON("[", ", ", "]")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Columns = []string{"body"}
			rows := rowsOf(manyRows)
			in := c.write(rows)
			if got, err := apply(t, strings.NewReader(in), c.options, same); err != nil || got != in {
				t.Fatalf("unchanged text came back changed: %v, %d bytes for %d", err, len(got), len(in))
			}
			for i := range rows {
				rows[i].Body = strings.ToUpper(rows[i].Body)
			}
			if got, err := apply(t, strings.NewReader(in), c.options, upper); err != nil || got != c.write(rows) {
				t.Fatalf("%v, %d bytes for %d", err, len(got), len(in))
			}
		})
	}
}

// privateCopy rewrites a Parquet file with its text in upper case.
func privateCopy(t *testing.T, file string, columns ...string) ([]byte, error) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out bytes.Buffer
	err = RewriteParquet(context.Background(), in, &out, Options{Name: "in", Format: Parquet, Columns: columns},
		func(r *Reader, w io.Writer) error {
			for {
				pieces, err := r.Next(nil)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				for _, p := range pieces {
					if _, err := w.Write(Append(nil, p, strings.ToUpper(p.Text))); err != nil {
						return err
					}
				}
			}
		})
	return out.Bytes(), err
}

func TestParquet(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.parquet")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(manyRows)
	w := parquet.NewGenericWriter[row](f, parquet.KeyValueMetadata("pandas", `{"columns": []}`))
	for from := 0; from < manyRows; from += manyRows / 4 { // four row groups
		if _, err := w.Write(rows[from : from+manyRows/4]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	private, err := privateCopy(t, file, "body", "title")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[row](bytes.NewReader(private), int64(len(private)))
	if err != nil || len(got) != manyRows {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for i, r := range rows {
		r.Body = strings.ToUpper(r.Body)
		if r.Title != nil {
			title := strings.ToUpper(*r.Title)
			r.Title = &title
		}
		if !reflect.DeepEqual(got[i], r) {
			t.Fatalf("row %d: %+v, want %+v", i, got[i], r)
		}
	}
	p, err := parquet.OpenFile(bytes.NewReader(private), int64(len(private)))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := p.Lookup("pandas"); !ok || v != `{"columns": []}` || len(p.RowGroups()) != 4 {
		t.Errorf("metadata %q, %d row groups", v, len(p.RowGroups()))
	}
	again, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	before, err := openParquet(again, file)
	if err != nil || before.Schema().String() != p.Schema().String() {
		t.Errorf("%v: schema %s, was %s", err, p.Schema(), before.Schema())
	}
	if c := p.Metadata().RowGroups[0].Columns[1].MetaData.Codec; c != before.Metadata().RowGroups[0].Columns[1].MetaData.Codec {
		t.Errorf("compressed as %v", c)
	}
	n := 0
	err = EachParquet(context.Background(), file, []string{"id", "body"}, func(field func(string) (string, error)) error {
		id, err := field("id")
		body, err2 := field("body")
		if err != nil || err2 != nil || id != fmt.Sprint(n) || body != rows[n].Body {
			return fmt.Errorf("%q %q", id, body)
		}
		n++
		return nil
	})
	if err != nil || n != manyRows {
		t.Errorf("%d rows read, %v", n, err)
	}
	for columns, want := range map[string]string{
		"nosuch": `no column "nosuch": the file has ["id" "body"`, "id": `column "id" is no text`, "tags": `no column "tags"`,
	} {
		if _, err := privateCopy(t, file, columns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", columns, err, want)
		}
	}
	empty := func(field func(string) (string, error)) error { _, err := field("title"); return err }
	if err := EachParquet(context.Background(), file, []string{"title"}, empty); err == nil ||
		!strings.HasSuffix(err.Error(), `row 1: column "title" has no value`) {
		t.Errorf("%v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 3, len(data) / 2, len(data) - 1} {
		broken := filepath.Join(t.TempDir(), "broken.parquet")
		if err := os.WriteFile(broken, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := privateCopy(t, broken, "body"); err == nil || !strings.HasPrefix(err.Error(), "in: ") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestArrayErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":"x"}`:             "is no JSON array of objects",
		`[{"a":"x"}`:            "after 1 objects: the array does not end",
		`[{"a":"x"}] 5`:         "after 1 objects: more after the JSON array",
		`[{"a":"x"}, 7]`:        "object 2: is not a JSON object",
		`[{"a":"x"}, {"a":7}]`:  `object 2: field "a" is no text in quotes`,
		`[{"b":"x"}]`:           `no`,
		`[{"a":"x"} {"a":"y"}]`: "after 1 objects: expected comma after array element",
		"":                      "is no JSON array",
	} {
		if _, err := apply(t, strings.NewReader(in), Options{Format: JSON, Columns: []string{"a"}}, upper); err == nil ||
			!strings.HasPrefix(err.Error(), "in: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	for _, bad := range []string{"ab", "é", `"`, "\n"} {
		if err := (Options{Format: CSV, Columns: []string{"a"}, Delimiter: bad}).Check(); err == nil {
			t.Errorf("delimiter %q accepted", bad)
		}
	}
}
