package fromfile

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/mechanisms"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func source(path, id string, columns ...string) Source {
	return Source{Path: path, ID: id, Options: table.Options{Columns: columns}}
}

// requireTexts reads a source, and fails unless it has these texts by id.
func requireTexts(t *testing.T, s Source, want map[string]string) *Text {
	t.Helper()
	text, err := Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := text.repetitions[0].texts; !maps.Equal(got, want) {
		t.Errorf("%s: %q, want %q", s.Path, got, want)
	}
	return text
}

func TestFormatsGiveTheSameText(t *testing.T) {
	t.Parallel()
	fingerprints := map[string]bool{}
	for name, content := range map[string]string{
		"x.csv":   "n,body\n1,\"a, b\"\n2,\n3,\"c \"\"d\"\"\"\n",
		"x.tsv":   "body\tn\na, b\t1\n\t2\nc \"d\"\t3\n",
		"x.jsonl": `{"body":"a, b"}` + "\n" + `{"body":""}` + "\n" + `{"body":"c \"d\""}` + "\n",
		"x.txt":   "a, b\n\nc \"d\"\n",
	} {
		text := requireTexts(t, source(write(t, name, content), "", "body"), map[string]string{"0": "a, b", "1": "", "2": "c \"d\""})
		fingerprints[text.Fingerprint] = true
	}
	if len(fingerprints) != 1 {
		t.Errorf("%d fingerprints of one text", len(fingerprints))
	}
	if (&Rewriter{}).Guarantee().Holds() {
		t.Error("something is promised")
	}
}

// Ids are those of documents, or, where the source has none, their positions.
func TestByID(t *testing.T) {
	t.Parallel()
	text := requireTexts(t, source(write(t, "x.csv", "id,body\nb,b1\na,a1\nextra,x\n"), "id", "body"),
		map[string]string{"a": "a1", "b": "b1", "extra": "x"})
	if text.idOf(1, []string{"a", "b"}) != "b" || text.idOf(1, nil) != "1" {
		t.Errorf("ids %q and %q", text.idOf(1, []string{"a", "b"}), text.idOf(1, nil))
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
	text := requireTexts(t, source(dir, ""), map[string]string{"0": "first"})
	if text.Repetitions() != 2 || text.repetitions[1].texts["0"] != "second" {
		t.Errorf("%v", text.repetitions)
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		source     Source
		want       string
	}{
		{"x.csv", "id,body\na,1\na,2\n", source("", "id", "body"), `x.csv: row 2: id "a": must be there, and once in a file`},
		{"x.csv", "body\na\n", source("", "", "text"), `x.csv:1: no column "text": the header has ["body"]`},
		{"x.csv", "body\na\n", Source{}, "x.csv: csv needs the name of a column"},
		{"x.csv", "body\n", source("", "", "body"), "x.csv: no rows"},
		{"x.csv", "body\ncaf\xe9\n", source("", "", "body"), `x.csv:2: is not UTF-8`},
		{"x.txt", "a\n", source("", "id"), "x.txt: plain lines have no columns"},
	} {
		c.source.Path = write(t, c.name, c.text)
		if _, err := Read(t.Context(), c.source); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v does not say %q", err, c.want)
		}
	}
	for path, want := range map[string]string{"no-such-file.csv": "no such file", t.TempDir(): "no files"} {
		if _, err := Read(t.Context(), Source{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	text := requireTexts(t, source(write(t, "x.txt", "a\nb\n"), ""), map[string]string{"0": "a", "1": "b"})
	for want, d := range map[string]*datasets.Dataset{
		"2 texts for 3 documents":      {SourceRows: 3},
		`no text for the document "2"`: {SourceRows: 2, Test: []datasets.Document{{ID: 2}}},
	} {
		if _, err := text.Rewriter(mechanisms.Settings{}, d, nil, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := text.Rewriter(mechanisms.Settings{}, &datasets.Dataset{SourceRows: 2}, nil, 1); err == nil {
		t.Error("another repetition is there")
	}
}
