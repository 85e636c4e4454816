package datasets

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/stream"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(f)
		defer z.Close()
		_, err = z.Write([]byte(text))
	} else {
		_, err = f.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// One table in every format gives one data set.
func TestOwnTable(t *testing.T) {
	csv := "id,title,body,stars\n1,Good,\"I like it, much\",5\n2,Bad,He said \"\"no\"\",1\n3,Fine,\"Two\nlines\",5\n"
	csv = strings.Replace(csv, `He said ""no""`, `"He said ""no"""`, 1)
	tsv := "id\ttitle\tbody\tstars\n1\tGood\tI like it, much\t5\n2\tBad\tHe said \"no\"\t1\n3\tFine\tTwo lines\t5\n"
	jsonl := `{"title":"Good","body":"I like it, much","stars":5}
{"title":"Bad","body":"He said \"no\"","stars":1,"more":[1]}

{"title":"Fine","body":"Two\nlines","stars":5}
`
	prints := map[string]string{}
	for name, text := range map[string]string{"a.csv": csv, "b.csv.gz": csv, "c.tsv": tsv, "d.jsonl": jsonl,
		"e.ndjson.gz": jsonl, "f.csv": "\xef\xbb\xbf" + strings.Replace(csv, "id,title", "title,id", 1)} {
		if name == "f.csv" {
			text = strings.NewReplacer("1,Good", "Good,1", "2,Bad", "Bad,2", "3,Fine", "Fine,3").Replace(text)
		}
		d, err := Load(t.Context(), Request{Name: "mine", File: write(t, name, text),
			TextColumns: []string{"title", "body"}, LabelColumn: "stars", Seed: stream.FromUint64(1)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		prints[d.Fingerprint] = name
		if strings.Join(d.Classes, " ") != "1 5" || len(d.Train) != 3 {
			t.Errorf("%s: classes %q, %d documents", name, d.Classes, len(d.Train))
		}
	}
	if len(prints) != 1 {
		t.Errorf("one table, several fingerprints: %v", prints)
	}
}

func TestOwnTableErrors(t *testing.T) {
	for _, c := range []struct {
		file, text string
		columns    []string
		label      string
		want       string
	}{
		{"a.csv", "text,label\nx,\n", []string{"text"}, "label", `a.csv:2: empty label in column "label"`},
		{"a.csv", "text;label\nx;1\n", []string{"text"}, "label",
			`a.csv:1: no column "text": the header has ["text;label"]; give --delimiter ";" (in a study`},
		{"a.csv", "text,label\n", []string{"text"}, "label", "a.csv: no rows"},
		{"a.csv", "text,label\nx,1\ny,1\n", []string{"text"}, "label", `a.csv: 1 distinct labels ["1"]`},
		{"a.jsonl", "{\"text\":\"x\"}\n", []string{"text"}, "label", `a.jsonl:1: no field "label"`},
		{"a.jsonl", "{\"text\":null,\"label\":1}\n", []string{"text"}, "label",
			`a.jsonl:1: column "text" has no value`},
		{"a.dat", "x", []string{"text"}, "label", `a.dat: plain lines have no columns: say what is read with the suffix .csv`},
		{"a.csv", "x", nil, "label", "needs a name, a file and a text column"},
		{"a.csv", "text,label\nx,a\ny,\x1b[31m\n", []string{"text"}, "label",
			`a.csv: label = "\x1b[31m": must have printable characters only`},
		{"a.csv", "text,label\n\"...\",1\n!,2\n,2\n;;,1\n", []string{"text"}, "label", "no document has a word left after the cleaning"},
	} {
		_, err := Load(t.Context(), Request{Name: "mine", File: write(t, c.file, c.text), TextColumns: c.columns,
			LabelColumn: c.label})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.file, c.text, err, c.want)
		}
	}
	if d := loaded(t, Request{Name: "mine", File: write(t, "a.csv", "text\n"+strings.Repeat("some words\n", 10)),
		TextColumns: []string{"text"}, Sizes: Sizes{5, 2, 3}}); len(d.Classes) != 1 || len(d.Train) != 5 {
		t.Errorf("without labels: %+v", d)
	}
	for _, q := range []Request{
		{Name: "imdb", File: "x.csv", TextColumns: []string{"a"}, LabelColumn: "b"},
		{Name: "mine", TextColumns: []string{"a"}, LabelColumn: "b"},
		{Name: "mine\x1b[31m", File: write(t, "b.csv", "a,b\nx,1\ny,2\n"), TextColumns: []string{"a"}, LabelColumn: "b"},
		{Name: "generated-news", MaxTokens: -2},
	} {
		if _, err := Load(t.Context(), q); err == nil {
			t.Errorf("%+v: no error", q)
		}
	}
}

// The cut is after cleaning.
func TestCut(t *testing.T) {
	d := loaded(t, Request{Name: "generated-news", MaxTokens: 12, Seed: stream.FromUint64(4)})
	for _, doc := range slices.Concat(d.Train, d.Validation, d.Test) {
		if len(doc.Tokens) > 12 {
			t.Fatalf("%d tokens after a cut at 12", len(doc.Tokens))
		}
	}
}
