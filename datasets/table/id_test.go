package table

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// idsOf reads the ids of all rows of a text.
func idsOf(t *testing.T, text string, o Options) ([]string, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), o)
	if err != nil {
		return nil, err
	}
	return allIDs(r)
}

func allIDs(r *Reader) (ids []string, err error) {
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err != nil {
			return ids, err
		}
		ids = append(ids, row.ID)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		o    Options
		want []string
	}{
		"lines": {"a\n\nb\n", Options{ID: LineID}, []string{"1", "2", "3"}},
		"csv": {"id,x\n07,a\n\"b,c\",d\n", Options{Format: CSV, Columns: []string{"x"}, ID: "id"},
			[]string{"07", "b,c"}},
		"tsv":       {"x\tid\na\t7\n", Options{Format: TSV, Columns: []string{"x"}, ID: "id"}, []string{"7"}},
		"no header": {"a,7\n", Options{Format: CSV, NoHeader: true, Columns: []string{"1"}, ID: "2"}, []string{"7"}},
		"json lines": {`{"x":"a","id":"7"}` + "\n" + `{"x":"a","id":8}` + "\n" + `{"x":"a","id":-12345678901234567890}`,
			Options{Format: JSONLines, Columns: []string{"x"}, ID: "id"}, []string{"7", "8", "-12345678901234567890"}},
		"null": {`[{"x":"a","id":null}]`, Options{Format: JSON, Columns: []string{"x"}, ID: "id"}, []string{""}},
	} {
		c.o.Name = "test"
		got, err := idsOf(t, c.text, c.o)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: ids %q, error %v; want %q", name, got, err, c.want)
		}
	}
}

func TestNoIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
	}{
		"lines":  {"a\n", Options{ID: "id"}, `plain lines have no column "id": their id is "line"`},
		"same":   {"x\na\n", Options{Format: CSV, Columns: []string{"x"}, ID: "x"}, `column "x" is privatised`},
		"absent": {"x\na\n", Options{Format: CSV, Columns: []string{"x"}, ID: "id"}, `test:1: no column "id"`},
		"number": {`{"x":"a","id":1.5}`, Options{Format: JSONLines, Columns: []string{"x"}, ID: "id"},
			`test:1: field "id" = 1.5: an id is a text or a whole number`},
		"list": {`{"x":"a","id":[1]}`, Options{Format: JSONLines, Columns: []string{"x"}, ID: "id"},
			`test:1: field "id" = [1]: an id is a text or a whole number`},
		"no field": {`{"x":"a"}`, Options{Format: JSONLines, Columns: []string{"x"}, ID: "id"},
			`test:1: no field "id": each object needs an id`},
	} {
		c.o.Name = "test"
		_, err := idsOf(t, c.text, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// Ids of Parquet are those of the same table as CSV, whatever their type.
func TestIDsOfParquet(t *testing.T) {
	t.Parallel()
	type row struct {
		Text   string  `parquet:"x"`
		Word   *string `parquet:"word,optional"`
		Int    int64   `parquet:"int"`
		Narrow int32   `parquet:"narrow"`
		Large  uint64  `parquet:"large"`
		Share  float64 `parquet:"share"`
		Day    int32   `parquet:"day,date"`
	}
	word := "w"
	path := filepath.Join(t.TempDir(), "test.parquet")
	rows := []row{{Text: "a", Word: &word, Int: -7, Narrow: 8, Large: 1 << 63}, {Text: "b", Int: 9}}
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	read := func(column string) ([]string, error) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r, err := NewReader(file, Options{Name: path, Columns: []string{"x"}, ID: column})
		if err != nil {
			return nil, err
		}
		return allIDs(r)
	}
	for column, want := range map[string][]string{
		"word": {"w", ""}, "int": {"-7", "9"}, "narrow": {"8", "0"}, "large": {"9223372036854775808", "0"},
	} {
		got, err := read(column)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: ids %q, error %v; want %q", column, got, err, want)
		}
	}
	for _, column := range []string{"share", "day"} {
		if _, err := read(column); err == nil || !strings.Contains(err.Error(), "an id is a text or a whole number") {
			t.Errorf("%s: error %v, want that an id is a text or a whole number", column, err)
		}
	}
}
