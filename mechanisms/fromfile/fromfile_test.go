package fromfile

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFormatsGiveTheSameText(t *testing.T) {
	t.Parallel()
	want := []string{"a, b", "", "c \"d\""}
	fingerprints := map[string]bool{}
	for name, c := range map[string]struct {
		text   string
		source Source
	}{
		"x.csv": {"n,body\n1,\"a, b\"\n2,\n3,\"c \"\"d\"\"\"\n", Source{Columns: []string{"body"}}},
		"x.tsv": {"body\tn\na, b\t1\n\t2\nc \"d\"\t3\n", Source{Columns: []string{"body"}}},
		"x.jsonl": {`{"body":"a, b"}` + "\n" + `{"body":""}` + "\n" + `{"body":"c \"d\""}` + "\n",
			Source{Columns: []string{"body"}}},
		"x.txt": {"a, b\n\nc \"d\"\n", Source{Columns: []string{"body"}}},
	} {
		c.source.Path = write(t, name, c.text)
		text, err := Read(context.Background(), c.source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := text.Documents(0, []int{0, 1, 2}, 3, nil)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		fingerprints[text.Fingerprint()] = true
		if (&Rewriter{}).Guarantee().Holds() {
			t.Errorf("%s promises something", name)
		}
	}
	if len(fingerprints) != 1 {
		t.Errorf("%d fingerprints of one text", len(fingerprints))
	}
}

func TestByID(t *testing.T) {
	t.Parallel()
	path := write(t, "x.csv", "id,body\nb,b1\na,a1\nextra,x\n")
	text, err := Read(context.Background(), Source{Path: path, Columns: []string{"body"}, ID: "id"})
	if err != nil || text.Repetitions() != 1 {
		t.Fatalf("%v, %v", text, err)
	}
	if got, err := text.Documents(0, []int{2, 0}, 3, []string{"a", "other", "b"}); err != nil ||
		!slices.Equal(got, []string{"b1", "a1"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := text.Documents(0, []int{1}, 3, []string{"a", "other", "b"}); err == nil ||
		!strings.Contains(err.Error(), `no text for 1 of 1 documents: ids ["other"]`) {
		t.Errorf("%v", err)
	}
	if _, err := text.Documents(3, nil, 3, nil); err == nil {
		t.Error("another repetition is there")
	}
	// Positions serve as ids where the source has none.
	path = write(t, "y.csv", "row,body\n2,c\n0,a\n")
	text, err = Read(context.Background(), Source{Path: path, Columns: []string{"body"}, ID: "row"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := text.Documents(0, []int{0, 2}, 3, nil); err != nil || !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFolderHasOneRepetitionPerFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"2.txt": "second\n", "1.txt": "first\n", ".hidden": "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := Read(context.Background(), Source{Path: dir})
	if err != nil || text.Repetitions() != 2 {
		t.Fatalf("%v, %v", text, err)
	}
	if got, err := text.Documents(1, []int{0}, 1, nil); err != nil || got[0] != "second" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestBadFilesAreOneError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		source     Source
		want       string
	}{
		{"x.csv", "id,body\na,1\na,2\n", Source{Columns: []string{"body"}, ID: "id"},
			`x.csv: row 2: id "a": must be there, and once in a file`},
		{"x.csv", "body\na\n", Source{Columns: []string{"text"}}, `x.csv:1: no column "text": the header has ["body"]`},
		{"x.csv", "body\na\n", Source{}, "x.csv: csv needs the name of a column"},
		{"x.csv", "body\n", Source{Columns: []string{"body"}}, "x.csv: no rows"},
		{"x.csv", "body\n\"a\n", Source{Columns: []string{"body"}}, "x.csv:2: "},
		{"x.csv", "body\ncaf\xe9\n", Source{Columns: []string{"body"}}, `x.csv:2: is not UTF-8`},
		{"x.jsonl", "{\"body\":[1]}\n", Source{Columns: []string{"body"}},
			`x.jsonl:1: field "body" is neither text nor a number`},
		{"x.txt", "a\n", Source{ID: "id"}, "x.txt: plain lines have no column for an id"},
	} {
		c.source.Path = write(t, c.name, c.text)
		_, err := Read(context.Background(), c.source)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v does not say %q", err, c.want)
		}
	}
	if _, err := Read(context.Background(), Source{Path: "no-such-file.csv"}); err == nil {
		t.Error("an absent file is read")
	}
	if _, err := Read(context.Background(), Source{Path: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "no files") {
		t.Errorf("%v", err)
	}
	text, err := Read(context.Background(), Source{Path: write(t, "x.txt", "a\nb\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.Documents(0, []int{0}, 3, nil); err == nil ||
		!strings.Contains(err.Error(), "2 texts for 3 documents") {
		t.Errorf("%v", err)
	}
}

func TestAligned(t *testing.T) {
	t.Parallel()
	a := [][]string{{"x", "y"}, {}}
	if !Aligned(a, [][]string{{"p", "q"}, {}}) || Aligned(a, [][]string{{"p"}, {"q"}}) || Aligned(a, a[:1]) {
		t.Error("alignment is as many tokens in every document")
	}
}

// FuzzRead reads any bytes in every format and requires an error or texts.
func FuzzRead(f *testing.F) {
	f.Add([]byte("id,r,body\na,1,x\nb,1,\"y\nz\"\n"), uint8(0))
	f.Add([]byte("id\tr\tbody\na\t1\tx\n"), uint8(1))
	f.Add([]byte(`{"id":1,"r":"x","body":"y"}`), uint8(2))
	f.Add([]byte("x\r\n\ny"), uint8(3))
	f.Add([]byte("\xef\xbb\xbfid,r,body\n"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		format := []string{"csv", "tsv", "jsonl", "txt"}[kind%4]
		s := Source{Path: filepath.Join(t.TempDir(), "x."+format)}
		if format != "txt" {
			s.Columns = []string{"body"}
			if kind&4 != 0 {
				s.ID = "id"
			}
		}
		if err := os.WriteFile(s.Path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		text, err := Read(context.Background(), s)
		if err != nil {
			return
		}
		if text.Repetitions() == 0 {
			t.Error("no repetitions and no error")
		}
		for r, found := range text.repetitions {
			ids := slices.Sorted(maps.Keys(found.texts))
			for i, id := range ids {
				row, source := i, len(ids)
				if s.ID == "" {
					row, _ = strconv.Atoi(id)
					source = found.rows
				}
				if got, err := text.Documents(r, []int{row}, source, ids); err != nil || got[0] != found.texts[id] {
					t.Errorf("repetition %d, %q: %v", r, id, err)
				}
			}
		}
	})
}
