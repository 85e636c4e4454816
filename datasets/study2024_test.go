package datasets_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/internal/gunzip"
	"mldpbench/internal/realdata"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Its files as they are: 20,000 and 4,000 rows sorted by class, the last fifth
// of the train rows for validation, 27,308 words of which the study's seed
// draws the 25 that its code draws (run as it is by the authors of this
// project's notes on it).
func TestAGNewsOf2024(t *testing.T) {
	root := realdata.Dir(t)
	realdata.File(t, "replication/ag_news_preprocessed_train.csv.gz")
	d := load(t, datasets.Request{Name: "agnews-2024", Root: root, Seed: stream.FromUint64(1)})
	if n := []int{len(d.Train), len(d.Validation), len(d.Test)}; !slices.Equal(n, []int{16000, 4000, 4000}) {
		t.Fatalf("splits %v", n)
	}
	all := slices.Concat(d.Train, d.Validation, d.Test)
	for i, doc := range all {
		label := i / 5000
		if i >= 20000 {
			label = (i - 20000) / 1000
		}
		if doc.ID != i || doc.Label != label {
			t.Fatalf("row %d: document %d, label %d, want label %d", i, doc.ID, doc.Label, label)
		}
		if strings.Join(doc.Tokens, " ") != doc.Text {
			t.Fatalf("row %d: %q is not its text split at single spaces", i, doc.Tokens)
		}
	}
	words := embeddings.ByFrequency(datasets.Tokens(all[:20000]))
	if len(words) != 27308 {
		t.Errorf("%d words, want 27,308", len(words))
	}
	sampled := load(t, datasets.Request{Name: "agnews-2024", Root: root, Seed: stream.FromUint64(2),
		Sizes: datasets.Sizes{Train: 40, Validation: 4, Test: 4}})
	counts := make([]int, 4)
	for _, doc := range sampled.Train {
		counts[doc.Label]++
	}
	if !slices.Equal(counts, []int{10, 10, 10, 10}) {
		t.Errorf("a sample has classes %v", counts)
	}
}

// The cleanings of 2024 make the published texts from the official ones: all
// 4,000 of AG News; of IMDb all 2,000 but those of the four rows whose official
// review the copy at hand does not have (it has opinions on telephones there).
func TestCleaningsOf2024(t *testing.T) {
	root := realdata.Dir(t)
	realdata.File(t, "wordnet-3.0")
	news := texts2024(t, "ag_news_preprocessed_test.csv.gz")
	c, err := datasets.NewCleaner(datasets.CleanTopic2024, root)
	if err != nil {
		t.Fatal(err)
	}
	byClass := make([][]string, 4)
	for _, row := range table(t, realdata.File(t, "ag_news_test.csv.gz")) {
		k := row[0][0] - '1'
		byClass[k] = append(byClass[k], row[1]+" "+row[2])
	}
	different := 0
	for i, want := range news {
		if got := strings.Join(c.Tokens(byClass[i/1000][i%1000]), " "); got != want {
			different++
			t.Logf("news %d:\ngot  %s\nwant %s", i, got, want)
		}
	}
	if different > 0 {
		t.Errorf("%d of %d news differ", different, len(news))
	}

	if testing.Short() {
		t.Skip("reads the whole of IMDb")
	}
	if c, err = datasets.NewCleaner(datasets.CleanSentiment2024, root); err != nil {
		t.Fatal(err)
	}
	reviews := table(t, realdata.File(t, "imdb.csv.gz"))[1:]
	var missed []int
	for i, want := range texts2024(t, "imdb_preprocessed_test.csv.gz") {
		k := i % 1000
		id := k/128*128 + 127 - k%128
		row := 37500 + id // test/neg; test/pos is before it
		if i >= 1000 {
			row -= 12500
		}
		if strings.Join(c.Tokens(reviews[row][0]), " ") != want {
			missed = append(missed, i)
		}
	}
	if !slices.Equal(missed, []int{1118, 1120, 1125, 1127}) {
		t.Errorf("%d reviews differ: %v", len(missed), missed)
	}
}

// Without its train file, IMDb of 2024 has the official train half, and says so.
func TestIMDbOf2024(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole of IMDb")
	}
	root := realdata.Dir(t)
	realdata.File(t, "replication/imdb_preprocessed_test.csv.gz")
	realdata.File(t, "imdb.csv.gz")
	d := load(t, datasets.Request{Name: "imdb-2024", Root: root, Seed: stream.FromUint64(1)})
	if n := []int{len(d.Train), len(d.Validation), len(d.Test)}; !slices.Equal(n, []int{8000, 2000, 2000}) {
		t.Fatalf("splits %v", n)
	}
	needs, err := datasets.Needs(datasets.Request{Name: "imdb-2024", Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Locate(root, "imdb-2024-train", "texts"); err == nil {
		if d.Note != "" || slices.Contains(needs, "imdb") {
			t.Errorf("with the train file: note %q, needs %q", d.Note, needs)
		}
	} else if d.Note == "" || !slices.Contains(needs, "imdb") {
		t.Errorf("without the train file: note %q, needs %q", d.Note, needs)
	}
	for i, doc := range slices.Concat(d.Train, d.Validation) {
		if doc.Label != i/5000 || len(doc.Tokens) == 0 {
			t.Fatalf("row %d: label %d, %d words", i, doc.Label, len(doc.Tokens))
		}
	}
}

// English % of the plain AG News texts, cut to 50 words, is the published 73.63
// with all that NLTK's reader returns; without Basic English it is 73.55.
func TestEnglishOf2024(t *testing.T) {
	root := realdata.Dir(t)
	realdata.File(t, "replication/ag_news_preprocessed_train.csv.gz")
	realdata.File(t, "words/nltk-words-en-basic.txt.gz")
	d := load(t, datasets.Request{Name: "agnews-2024", Root: root})
	cut := metrics.Cut(datasets.Tokens(slices.Concat(d.Train, d.Validation)), 50)
	words, err := datasets.OpenWordList("nltk", root)
	if err != nil {
		t.Fatal(err)
	}
	if e := metrics.Percent(metrics.CountEnglish(cut, words.ContainsAsPrinted)); math.Abs(e-73.627) > 0.0005 {
		t.Errorf("English %% = %.4f, want 73.627, as the study's code gives it", e)
	}
}

// texts2024 returns the texts of one of the study's files.
func texts2024(t *testing.T, name string) []string {
	t.Helper()
	var texts []string
	for _, row := range table(t, realdata.File(t, "replication/"+name))[1:] {
		texts = append(texts, row[0])
	}
	return texts
}

// table reads a gzipped CSV.
func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gunzip.Open(f, path, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
