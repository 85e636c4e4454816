package datasets

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallIMDb has reviews in the official layout, ids out of order on purpose.
func smallIMDb() map[string]string {
	files := map[string]string{"aclImdb/train/unsup/0_0.txt": "no label", "aclImdb/README": "read me",
		"aclImdb/train/pos/x.txt": "not a review"}
	for _, split := range []string{"train", "test"} {
		for _, class := range []string{"pos", "neg"} {
			for i := range 12 {
				files[fmt.Sprintf("aclImdb/%s/%s/%d_%d.txt", split, class, i,
					1+i%10)] = fmt.Sprintf("a %s film, the %s number %c", class, split, 'a'+i)
			}
		}
	}
	return files
}

// read returns the rows of one file, as the part of a set that has it.
func read(t *testing.T, name, file string) (Rows, error) {
	t.Helper()
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.Read(t.Context(), Request{Name: name, File: file})
}

func TestIMDbLayoutsAgree(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range smallIMDb() { // in any order
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("review,sentiment\n")
	for _, split := range []string{"train", "test"} {
		for _, class := range []string{"pos,positive", "neg,negative"} {
			for i := range 12 {
				class, sentiment, _ := strings.Cut(class, ",")
				fmt.Fprintf(&table, "\"a %s film, the %s number %c\",%s\n", class, split, 'a'+i, sentiment)
			}
		}
	}
	a, err := read(t, "imdb", write(t, "aclImdb_v1.tar.gz", archive.String()))
	b, err2 := read(t, "imdb", write(t, "imdb.csv.gz", table.String()))
	if err := errors.Join(err, err2); err != nil || len(a.Rows) != 48 || !slices.Equal(a.Rows, b.Rows) {
		t.Errorf("one corpus in two layouts differs: %v, %v, %v", a.Rows, b.Rows, err)
	}
}

func TestReaderErrors(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"imdb", "a.csv", "text,label\nx,positive\n", `a.csv:1: no column "review"`},
		{"imdb", "a.csv", "review,sentiment\nx,good\n", `a.csv:2: label "good": must be one of ["0" "1" "negative" "positive"]`},
		{"imdb", "a.tar", "", "a.tar: no rows"},
		{"imdb", "a.tar", "not a tar", "a.tar: damaged archive"},
		{"imdb", "none/a.csv", "-", "no such file"},
		{"agnews", "a.csv", "\"5\",\"a\",\"b\"\n", `a.csv:1: label "5": must be one of ["1" "2" "3" "4"]`},
		{"disaster-tweets", "a.csv", "text,target\nx,2\n", `a.csv:2: label "2": must be one of `},
		{"mr", "a.tsv", "3\tx\n", `a.tsv:1: label "3"`},
		{"mr", "a.tsv", "x\n", `a.tsv:1: "x": want a label, a tab and a text`},
		{"mr", "a.tsv", "\n", "a.tsv: no rows"},
		{"sst5", "a.txt", "(3 (2 a) (4 b)\n", "a.txt:1: not a tree"},
		{"product-reviews", "a.txt", "two words\n", "a.txt:1: "},
	} {
		path := write(t, c.file, c.text)
		if c.text == "-" {
			path += ".gone"
		}
		_, err := read(t, c.name, path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: got %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

func TestNewsRepair(t *testing.T) {
	for in, want := range map[string]string{
		`A second\team of the  #36;10 million prize`: "A second team of the $10 million prize",
		`Messier #39;s lawyer`:                       "Messier's lawyer",
		`He said  quot;no quot; to M amp;S`:          `He said  "no " to M &S`,
		`the table; and so on`:                       "the table; and so on",
		`&lt;A HREF="x"&gt;GOOG&lt;/A&gt;`:           `&lt;A HREF="x"&gt;GOOG&lt;/A&gt;`,
		"plain":                                      "plain",
	} {
		if got := repairNews(in); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", in, got, want)
		}
	}
}

func TestSentenceFormats(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"rt-polarity.neg": "it drags\nit \xe9tait bad\n",
		"rt-polarity.pos": "it shines\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what, file    string
		labels, texts string
	}{
		{"tab", write(t, "a.tsv", "1\tit shines\n0\tit drags\n"), "1 0", "it shines|it drags"},
		{"space", write(t, "a.all", "1 it shines\r\n0 it drags\r\n"), "1 0", "it shines|it drags"},
		{"no text", write(t, "a.tsv", "1\t\n0\tx\n"), "1 0", "|x"},
		{"coarse and fine", write(t, "a.label", "DESC:manner How so ?\nNUM:date When ?\n"), "DESC NUM",
			"How so ?|When ?"},
		{"trees", write(t, "a.txt", "(3 (2 It) (4 (2 's) (3 (2 -LRB-) (4 good))))\n(0 bad)\n"), "3 0",
			"It 's ( good|bad"},
		{"folder", folder, "0 0 1", "it drags|it était bad|it shines"},
	} {
		var labels, texts []string
		if err := sentences(t.Context(), c.file, func(r record) error {
			labels, texts = append(labels, r.label), append(texts, r.text)
			return nil
		}); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if strings.Join(labels, " ") != c.labels || strings.Join(texts, "|") != c.texts {
			t.Errorf("%s: %q %q", c.what, labels, texts)
		}
	}
}

func TestLexicon(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "opinion-lexicon")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("positive-words.txt", ";;; header\n\nGood\nenvious\na+\n")
	put("negative-words.txt", "; header\nbad\nna\xefve\nenvious\n")
	d, err := Load(t.Context(), Request{Name: "product-reviews", Root: root})
	if err != nil || len(d.Train)+len(d.Validation)+len(d.Test) != 6 || !d.WordLevel {
		t.Fatalf("%+v, %v", d, err)
	}
	labels := map[string][]int{} // "envious" is in both files
	for _, w := range slices.Concat(d.Train, d.Validation, d.Test) {
		text := strings.Join(w.Tokens, " ")
		labels[text] = append(labels[text], w.Label)
	}
	if len(labels) != 5 || len(labels["envious"]) != 2 || !slices.Equal(labels["naïve"], []int{0}) ||
		!slices.Equal(labels["a+"], []int{1}) {
		t.Errorf("%v", labels)
	}
}

func TestWordList(t *testing.T) {
	w, err := OpenWordList(write(t, "en.gz", "Alpha\nbeta\n\n"), "")
	if err != nil || w.ContainsAsPrinted("alpha") || !w.Contains("alpha") || w.Contains("gamma") {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestDescribe(t *testing.T) {
	doc := func(label int, text string) Document { return Document{Label: label, Tokens: strings.Fields(text)} }
	d := &Dataset{Classes: []string{"a", "b"},
		Train:      []Document{doc(0, "x y"), doc(1, "x y z w"), doc(0, "x y")},
		Validation: []Document{doc(1, "x y"), doc(0, "")},
		Test:       []Document{doc(1, "x y"), doc(0, "v")},
	}
	s := Describe(d)
	if s.TrainDocuments != 5 || s.Tokens != 10 || s.Vocabulary != 4 || s.LengthMean != 2 || math.Abs(s.LengthSD-math.Sqrt2) > 1e-9 ||
		!slices.Equal(s.TestClasses, []int{1, 1}) {
		t.Errorf("%+v", s)
	}
	var none []Document
	for range 12 {
		none = append(none, doc(2, "nothing else"))
	}
	d.Classes, d.Train = append(d.Classes, "NaN"), append(d.Train, none...)
	want := []string{`class "NaN" has no document in validation`, `class "NaN" has no document in test`,
		`class "a" has 4 documents: too few`, `class "b" has 3 documents`, `label "NaN" occurs 12 times: is it a missing one?`,
		"1 of 2 test documents are also in train or validation", "1 of 19 documents have no text after cleaning"}
	for i, w := range Describe(d).Warnings {
		if i >= len(want) || !strings.HasPrefix(w, want[i]) {
			t.Errorf("%s, want %q", w, want[min(i, len(want)-1)])
		}
	}
}

// A question's answers stand behind its text; official IMDb reviews stand in runs of 128 numbers, each backwards.
func TestCompletions(t *testing.T) {
	rows := Rows{Rows: []Row{{Text: "how much\t3 5"}, {Text: "when"}}}
	if err := sharedAnswers(Request{}, &rows); err != nil || rows.Rows[0] != (Row{Text: "how much", User: "3 5"}) ||
		rows.Rows[1] != (Row{Text: "when"}) {
		t.Errorf("%+v, %v", rows.Rows, err)
	}
	for k, want := range map[int]int{0: 127, 127: 0, 128: 255, 300: 256 + 127 - 44} {
		if got := officialOrder2024(k); got != want {
			t.Errorf("review %d is number %d, want %d", k, got, want)
		}
	}
}
