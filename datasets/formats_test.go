package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/stream"
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

func TestIMDbLayoutsAgree(t *testing.T) {
	files := smallIMDb()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	for name, text := range files { // in any order
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)),
			Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	w.Close()
	z.Close()
	var table strings.Builder
	table.WriteString("review,sentiment\n")
	for _, split := range []string{"train", "test"} {
		for class, sentiment := range map[string]string{"pos": "positive"} {
			for i := range 12 {
				fmt.Fprintf(&table, "\"a %s film, the %s number %c\",%s\n", class, split, 'a'+i, sentiment)
			}
		}
		for i := range 12 {
			fmt.Fprintf(&table, "\"a neg film, the %s number %c\",negative\n", split, 'a'+i)
		}
	}
	tarball := filepath.Join(t.TempDir(), "aclImdb_v1.tar.gz")
	if err := os.WriteFile(tarball, archive.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	prints := map[string]string{}
	for _, file := range []string{tarball, write(t, "imdb.csv.gz", table.String())} {
		d, err := Load(t.Context(), Request{Name: "imdb", File: file, Cleaning: CleanWords, Sizes: Sizes{20, 8, 8},
			Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		prints[d.Fingerprint] = file
	}
	if len(prints) != 1 {
		t.Errorf("one corpus in two layouts, %d fingerprints: %v", len(prints), prints)
	}
}

func TestReaderErrors(t *testing.T) {
	damaged := "\x1f\x8b\x08\x00 and then nothing good"
	for _, c := range []struct{ name, file, text, want string }{
		{"imdb", "a.csv", "text,label\nx,positive\n", `a.csv:1: no columns ["review" "sentiment"]`},
		{"imdb", "a.csv", "review,sentiment\nx,good\n", `a.csv:2: sentiment "good": must be one of ["negative" "positive"]`},
		{"imdb", "a.csv", "review,sentiment\nx,positive,y\n", "a.csv:2: column 1: wrong number of fields"},
		{"imdb", "a.csv", "review,sentiment\n", "a.csv: no texts"},
		{"imdb", "a.tar.gz", "", "no reviews"},
		{"imdb", "a.tar.gz.gz", "not a tar", "a.tar.gz"},
		{"agnews", "a.csv", "\"5\",\"a\",\"b\"\n", `a.csv:1: class "5": must be 1, 2, 3 or 4`},
		{"agnews", "a.csv", "\"1\",\"a\",\"b\"\n\"2\",\"a\"\n", "a.csv:2: column 1: wrong number of fields"},
		{"agnews", "a.csv", "\"1\",\"a\n", "a.csv:"},
		{"agnews", "a.csv", "", "a.csv: empty"},
		{"disaster-tweets", "a.csv", "text,target\nx,2\n", `a.csv:2: target "2": must be one of ["0" "1"]`},
		{"mr", "a.tsv", "3\tx\n", `a.tsv: sentence 1: label "3"`},
		{"mr", "a.tsv", "x\n", `a.tsv:1: "x": want a label, a tab and a text`},
		{"mr", "a.tsv", "\n", "a.tsv: no sentences"},
		{"sst5", "a.txt", "(3 (2 a) (4 b)\n", "a.txt:1: not a tree"},
		{"product-reviews", "a.txt", "good\n", "two files"},
		{"imdb", "none/a.csv", "-", "no such file"},
	} {
		path := write(t, c.file, c.text)
		if c.text == "-" {
			path += ".gone"
		}
		_, err := Load(t.Context(), Request{Name: c.name, File: path, Cleaning: CleanWords})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.name, c.text, err, c.want)
		}
		if strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: more than one line: %v", c.name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(damaged), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"imdb", "agnews", "mr", "disaster-tweets"} {
		if _, err := Load(t.Context(), Request{Name: name, File: path, Cleaning: CleanWords}); err == nil ||
			!strings.Contains(err.Error(), "a.csv") {
			t.Errorf("%s: a damaged gzip file: %v", name, err)
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
		what, set, file string
		labels, texts   string
	}{
		{"tab", "mr", write(t, "a.tsv", "1\tit shines\n0\tit drags\n"), "1 0", "it shines|it drags"},
		{"space", "mr", write(t, "a.all", "1 it shines\r\n0 it drags\r\n"), "1 0", "it shines|it drags"},
		{"no text", "mr", write(t, "a.tsv", "1\t\n0\tx\n"), "1 0", "|x"},
		{"coarse and fine", "trec", write(t, "a.label", "DESC:manner How so ?\nNUM:date When ?\n"), "0 5",
			"How so ?|When ?"},
		{"trees", "sst5", write(t, "a.txt", "(3 (2 It) (4 (2 's) (3 (2 -LRB-) (4 good))))\n(0 bad)\n"), "3 0",
			"It 's ( good|bad"},
		{"folder", "mr", folder, "0 0 1", "it drags|it était bad|it shines"},
	} {
		d, err := Find(c.set)
		if err != nil {
			t.Fatal(err)
		}
		classes := d.Classes
		rows, err := readSentences(t.Context(), Request{File: c.file}, c.set, classes)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		var labels, texts []string
		for _, r := range rows.Rows {
			labels, texts = append(labels, fmt.Sprint(r.Label)), append(texts, r.Text)
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
	put("negative-words.txt", "two words\n")
	if _, err := Load(t.Context(), Request{Name: "product-reviews", Root: root}); err == nil ||
		!strings.Contains(err.Error(), "negative-words.txt:1: ") {
		t.Errorf("err = %v", err)
	}
	if _, err := Load(t.Context(), Request{Name: "product-reviews", Root: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "mldp data fetch opinion-lexicon") {
		t.Errorf("err = %v", err)
	}
}

func TestWordList(t *testing.T) {
	w, err := OpenWordList(write(t, "en.gz", "Alpha\nbeta\n\n"), "")
	if err != nil || len(w.words) != 2 || !w.Contains("alpha") || w.Contains("gamma") {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := OpenWordList(write(t, "empty", "\n"), ""); err == nil {
		t.Error("an empty list is no error")
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
	if s.Table2 != (Counts{Documents: 5, Words: 10, Vocabulary: 4, MeanLength: 2, Deviation: s.Table2.Deviation}) ||
		s.Table2.Deviation < 1.414 || s.Table2.Deviation > 1.415 {
		t.Errorf("table 2: %+v", s.Table2)
	}
	if s.Vocabulary != 5 || s.DuplicatesAcross != 1 || s.DuplicatesWithin != 1 || s.Conflicting != 1 || s.Empty != 1 {
		t.Errorf("%+v", s)
	}
	var none []Document
	for range 12 {
		none = append(none, doc(2, "nothing else"))
	}
	d.Classes, d.Train = append(d.Classes, "NaN"), append(d.Train, none...)
	want := []string{`class "NaN" has no document in validation`, `class "NaN" has no document in test`,
		`class "a" has 4 documents: too few`, `class "b" has 3 documents`, `label "NaN" occurs 12 times: is it a missing one?`,
		"1 of 2 test documents are also in train or validation", "19 of 19 documents have no text"}
	for i, w := range Warnings(d) {
		if i >= len(want) || !strings.HasPrefix(w, want[i]) {
			t.Errorf("%s, want %q", w, want[min(i, len(want)-1)])
		}
	}
	d.Classes, d.Train = d.Classes[:2], d.Train[:3]
	c := Cover(d, func(w string) bool { return w == "x" })
	if c != (Coverage{Tokens: 13, KnownTokens: 5, Words: 5, KnownWords: 1}) {
		t.Errorf("coverage %+v", c)
	}
}

func FuzzIMDbArchive(f *testing.F) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "aclImdb/train/pos/0_9.txt", Typeflag: tar.TypeReg, Size: 1, Mode: 0o644})
	_, _ = w.Write([]byte("x"))
	_ = w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := readReviewArchive(t.Context(), bytes.NewReader(data), "f")
		checkRead(t, err, "f")
	})
}

func FuzzSentences(f *testing.F) {
	f.Add([]byte("1\tx\n0 y\n(3 (2 a) (4 b))\nDESC:x y\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, parseSentences(bytes.NewReader(data), "f", func(label, text string) {}), "f")
	})
}
