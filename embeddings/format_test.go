package embeddings

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/internal/registry"
)

// rowsFormat reads a fixed list of rows from files called so.
func rowsFormat(ext string, parts ...Rows) Format {
	return Format{Name: ext, Version: 1,
		Recognise: func(name string, head []byte) bool {
			return filepath.Ext(name) == "."+ext && strings.HasPrefix(string(head), "rows")
		},
		Read: func(f *File, add func(Rows) error) error {
			_, err := io.Copy(io.Discard, f)
			if err != nil {
				return err
			}
			for _, rows := range parts {
				err = add(rows)
				if err != nil {
					return err
				}
			}
			return nil
		}}
}

// Rows that a format of others makes are checked like those of this package's, and one whose
// name or beginning is that of none of them is text.
func TestRegisteredFormats(t *testing.T) {
	row := func(line int, word string, vector ...float32) Rows {
		return Rows{Line: line, Words: []string{word}, Vectors: vector}
	}
	for k, c := range []struct {
		rows []Rows
		want string
	}{
		{[]Rows{row(1, "a", 1, 2), row(2, "b", 3, 4)}, ""},
		{[]Rows{row(1, "a", 1, 2), row(2, "b", 3)}, `PATH:2: "b" has 1 numbers: want 2, as before`},
		{[]Rows{row(1, "a", 1, 2), row(2, "a", 3, 4)}, `PATH:2: "a" is there twice, first at 1`},
		{[]Rows{row(1, "a")}, `PATH:1: 0 numbers for 1 words: want as many for each`},
		{[]Rows{{Line: 3}}, `PATH:3: 0 numbers for 0 words: want as many for each`},
		{[]Rows{{Line: 1, Words: []string{"a", "b"}, Vectors: []float32{1, 2, 3}}},
			`PATH:1: 3 numbers for 2 words: want as many for each`},
		{[]Rows{row(1, "a", 1, float32(math.NaN()))}, `embedding a: word "a" has a component that is not finite`},
		{nil, `PATH: none of its 0 words is in the data set`},
	} {
		ext := fmt.Sprint("rows", k)
		path := write(t, "a.txt."+ext+".gz", gzipped("rows"))
		Register(rowsFormat(ext, c.rows...))
		opts := LoadOptions{CacheDir: t.TempDir(), Name: "a"}
		for range 2 { // the second time from the copy, where there is one
			_, err := load(path, opts)
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), path, "PATH")
			}
			if got != c.want {
				t.Errorf("format %s: got error %q, want %q", ext, got, c.want)
			}
		}
		text := write(t, "b."+ext, "other 1 2\n")
		if s, err := load(text, opts); err != nil || s.Dimension != 2 {
			t.Errorf("a text called .%s: got %v, want it read as text", ext, err)
		}
	}
}

// A copy in the cache is of one format: where another version reads the file, it is made anew.
func TestCopyIsOfItsFormat(t *testing.T) {
	path := write(t, "a.versions", "rows")
	f := rowsFormat("versions", Rows{Line: 1, Words: []string{"a"}, Vectors: []float32{1}})
	read := f.Read
	reads := 0
	f.Read = func(file *File, add func(Rows) error) error {
		reads++
		return read(file, add)
	}
	opts := LoadOptions{CacheDir: t.TempDir()}
	before := registered
	defer func() { registered = before }()
	for k, c := range []struct{ version, reads int }{{1, 1}, {1, 1}, {2, 2}, {2, 2}} {
		f.Version = c.version
		registered = registry.New[Format]("vector format") // another program
		Register(f)
		if _, err := load(path, opts); err != nil || reads != c.reads {
			t.Errorf("load %d, version %d: %d readings, %v, want %d", k, c.version, reads, err, c.reads)
		}
	}
}

func TestFormatThatCannotBeRegistered(t *testing.T) {
	whole := rowsFormat("whole")
	for _, f := range []Format{
		{Name: "version", Recognise: whole.Recognise, Read: whole.Read},
		{Name: "recognise", Version: 1, Read: whole.Read},
		{Name: "read", Version: 1, Recognise: whole.Recognise},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("format without %s: registered, want a panic", f.Name)
				}
			}()
			Register(f)
		}()
	}
}
