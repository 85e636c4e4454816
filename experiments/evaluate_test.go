package experiments_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// reviews writes reviews whose words reveal their label and author; change
// returns a version's words for row i.
func reviews(t *testing.T, name string, rows int, header []string, change func(i int, words []string) []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	_ = w.Write(header) // errors stay until Flush
	rng := stream.FromUint64(1).Rand()
	for i := range rows {
		label, author := i%2, i/2%2
		words := []string{"the", []string{"awful", "superb"}[label], "food", []string{"indeed", "truly"}[author],
			fmt.Sprintf("word%c", 'a'+rng.IntN(26))}
		fields := map[string]string{
			"id": fmt.Sprint("r", i), "body": strings.Join(change(i, words), " "),
			"stars": fmt.Sprint(1 + 4*label), "author": fmt.Sprint("author", author),
		}
		var row []string
		for _, h := range header {
			row = append(row, fields[h])
		}
		_ = w.Write(row)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluated is an evaluation, with the cells of the first repetition: plain text, then the versions.
type evaluated struct {
	*engine.Summary
	lines []results.Cell
	notes []string
}

func evaluate(t *testing.T, o experiments.EvaluateOptions) (e evaluated, err error) {
	if e.Summary, e.notes, err = experiments.Evaluate(t.Context(), o, engine.Options{Out: t.TempDir()}); err != nil {
		return e, err
	}
	e.lines = results.Where(cells(t, e.Summary), func(c results.Cell) bool { return c.Repetition == 1 })
	return e, nil
}

func unchanged(_ int, words []string) []string { return words }

// TestVersionsAreMeasured checks numbers that are known: label and author are
// single words, which one version keeps, one hides and one drops.
func TestVersionsAreMeasured(t *testing.T) {
	t.Parallel()
	const rows = 400
	original := reviews(t, "original.csv", rows, []string{"id", "body", "stars", "author"}, unchanged)
	copied := reviews(t, "copied.csv", rows, []string{"body"}, unchanged)
	hidden := reviews(t, "hidden.csv", rows, []string{"body"},
		func(_ int, w []string) []string { return []string{w[0], "x", w[2], w[3], w[4]} })
	short := reviews(t, "short.csv", rows, []string{"body"}, func(_ int, w []string) []string { return []string{w[1]} })
	r, err := evaluate(t, experiments.EvaluateOptions{
		Original: original, Text: []string{"body"}, Label: "stars", Private: "author", Root: t.TempDir(),
		Versions: []experiments.Version{{Name: "copied", Epsilon: 3, Path: copied}, {Name: "hidden", Epsilon: math.NaN(),
			Path: hidden}, {Name: "short", Epsilon: 1, Path: short}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.lines) != 4 {
		t.Fatalf("%d lines", len(r.lines))
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-9) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	missing := math.NaN()
	for i, want := range []struct {
		name                                string
		accuracy, private, pp, low, overlap float64
	}{
		{"none", 100, missing, missing, missing, missing},
		{"copied", 100, 1, 0, 100, 1},
		{"hidden", missing, 1, 20, missing, 4.0 / 6}, // accuracy is chance; one of five words is replaced by a new one
		{"short", 100, missing, missing, missing, 1.0 / 5},
	} {
		c := r.lines[i]
		if c.Mechanism != want.name {
			t.Errorf("row %d: %+v", i, c)
		}
		for quantity, v := range map[string]float64{"accuracy": want.accuracy, "attribute-adaptive-svm-accuracy": want.private,
			"pp": want.pp, "low": want.low, "overlap-jaccard": want.overlap} {
			if known := !math.IsNaN(v); known {
				near(want.name+" "+quantity, c.Get(quantity).Float(), v)
			} else if quantity == "pp" && c.Has(quantity) {
				t.Errorf("%s: PP of other tokens", want.name)
			}
		}
		if i > 0 {
			near("guess", at(c, "linkage-tfidf-p1").Floor.Float(), 1.0/80)
		}
		if c.Has("cs") || c.Has("english") {
			t.Errorf("%s: CS and English are measured without an encoder and a list", want.name)
		}
	}
	copy, hid := r.lines[1], r.lines[2]
	if !(hid.Get("perplexity").Float() > copy.Get("perplexity").Float()) ||
		!(hid.Get("linkage-tfidf-p1").Float() < copy.Get("linkage-tfidf-p1").Float()) {
		t.Errorf("hidden: %+v beside %+v", hid, copy)
	}
	if a := hid.Get("accuracy"); a.Float() > 80 {
		t.Errorf("accuracy %v without the word that tells", a)
	}
	if !strings.Contains(strings.Join(r.notes, "\n"), "short, repetition 1: PP: tokens do not align") {
		t.Errorf("notes %q", r.notes)
	}
	if r.lines[2].Epsilon.Known() || !r.lines[1].Epsilon.Known() {
		t.Errorf("epsilon of %+v", r.lines[1:3])
	}
	for _, row := range r.Rows {
		if row.GuaranteeMetric != "" || !row.IsBaseline() && row.Variant != string(mechanisms.External) {
			t.Errorf("a promise: %+v", row)
		}
	}
}

// TestRowsAreMatchedByID gives the versions in another order.
func TestRowsAreMatchedByID(t *testing.T) {
	t.Parallel()
	const rows = 200
	original := reviews(t, "original.csv", rows, []string{"id", "body", "stars", "author"}, unchanged)
	copied := reviews(t, "copied.csv", rows, []string{"id", "body"}, unchanged)
	data, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	turned := []string{lines[0]}
	for i := len(lines) - 1; i > 0; i-- {
		turned = append(turned, lines[i])
	}
	if err := os.WriteFile(copied, []byte(strings.Join(turned, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	o := experiments.EvaluateOptions{Original: original, Text: []string{"body"}, Label: "stars", ID: "id",
		Root:     t.TempDir(),
		Versions: []experiments.Version{{Name: "copied", Epsilon: 1, Path: copied}}}
	r, err := evaluate(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.lines[1].Get("pp").Float() != 0 || r.lines[1].Get("low").Float() != 100 {
		t.Errorf("%+v", r.lines[1])
	}
	column, err := experiments.ParseVersion("rewrite@2=column:author")
	if err != nil {
		t.Fatal(err)
	}
	both := o
	both.Versions = append([]experiments.Version{column}, o.Versions...)
	if r, err = evaluate(t, both); err != nil || r.lines[1].Mechanism != "rewrite" || r.lines[1].Has("pp") ||
		r.lines[1].Epsilon.Float() != 2 || r.lines[2].Get("pp").Float() != 0 {
		t.Errorf("a column of the same table: %+v, %v", r.lines, err)
	}
	o.ID = ""
	if r, err = evaluate(t, o); err != nil || r.lines[1].Get("pp").Float() == 0 {
		t.Errorf("by order the rows are others: %+v, %v", r, err)
	}
	turned = turned[:len(turned)-20]
	if err := os.WriteFile(copied, []byte(strings.Join(turned, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"id": "no text for", "": "180 texts for 200 documents"} {
		o.ID = id
		if _, err := evaluate(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestBadOptionsAreOneError(t *testing.T) {
	t.Parallel()
	original := reviews(t, "original.csv", 40, []string{"id", "body", "stars"}, unchanged)
	good := experiments.EvaluateOptions{Original: original, Text: []string{"body"}, Label: "stars",
		Root:     t.TempDir(),
		Versions: []experiments.Version{{Name: "x", Epsilon: 1, Path: original}}}
	for want, change := range map[string]func(*experiments.EvaluateOptions){
		"nothing privatised":                func(o *experiments.EvaluateOptions) { o.Versions = nil },
		`no column "author"`:                func(o *experiments.EvaluateOptions) { o.Private = "author" },
		`no column "text"`:                  func(o *experiments.EvaluateOptions) { o.Text = []string{"text"} },
		`1 distinct labels`:                 func(o *experiments.EvaluateOptions) { o.Private = "body"; o.Original = constant(t) },
		"id \"1\": must be there, and once": func(o *experiments.EvaluateOptions) { o.ID = "stars" },
		"documents = -1: must be in":        func(o *experiments.EvaluateOptions) { o.Encoder, o.Set = "sif", []string{"metrics.cs.documents=-1"} },
		"cleaning = ":                       func(o *experiments.EvaluateOptions) { o.Set = []string{"datasets[0].cleaning=x"} },
		"no-such-file": func(o *experiments.EvaluateOptions) {
			o.Versions = []experiments.Version{{Name: "x", Epsilon: 1, Path: "no-such-file"}}
		},
	} {
		o := good
		change(&o)
		if _, err := evaluate(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func constant(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "constant.csv")
	if err := os.WriteFile(path, []byte("body,stars\n"+strings.Repeat("x,1\nx,2\n", 20)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]experiments.Version{
		"a/b.csv.gz":      {Name: "b", Epsilon: math.NaN(), Path: "a/b.csv.gz"},
		"dp-prompt=x.csv": {Name: "dp-prompt", Epsilon: math.NaN(), Path: "x.csv"},
		"cmp@0.5=x@y.csv": {Name: "cmp-file", Epsilon: 0.5, Path: "x@y.csv"},
		"folder":          {Name: "folder", Epsilon: math.NaN(), Path: "folder"},
	} {
		got, err := experiments.ParseVersion(s)
		sameEpsilon := got.Epsilon == want.Epsilon || math.IsNaN(got.Epsilon) && math.IsNaN(want.Epsilon)
		if err != nil || got.Name != want.Name || got.Path != want.Path || !sameEpsilon {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "a=", "=b", "none=x.csv", "a@x=b", "a@-1=b", "a@NaN=b", "@1=b", "column:",
		"a=column:"} {
		if v, err := experiments.ParseVersion(bad); err == nil {
			t.Errorf("%q gives %+v", bad, v)
		}
	}
}

// Words drawn evenly from the vocabulary are no language: their perplexity is
// higher than that of the text.
func TestRandomWordsArePerplexing(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(2).Rand()
	vocabulary := strings.Fields("the awful superb food indeed truly")
	for c := 'a'; c <= 'z'; c++ {
		vocabulary = append(vocabulary, "word"+string(c))
	}
	for _, rare := range []bool{false, true} { // words of the text, and ones that it does not have
		original := reviews(t, "original.csv", 400, []string{"body", "stars"}, unchanged)
		random := reviews(t, "random.csv", 400, []string{"body"}, func(_ int, w []string) []string {
			out := make([]string, len(w))
			for i := range out {
				if out[i] = vocabulary[rng.IntN(len(vocabulary))]; rare {
					out[i] = fmt.Sprintf("new%c%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26))
				}
			}
			return out
		})
		r, err := evaluate(t, experiments.EvaluateOptions{Original: original, Text: []string{"body"}, Label: "stars",
			Root: t.TempDir(), Versions: []experiments.Version{{Name: "random", Epsilon: 1, Path: random}}})
		if err != nil {
			t.Fatal(err)
		}
		if plain, random := r.lines[0].Get("perplexity"), r.lines[1].Get("perplexity"); !(random.Float() > 2*plain.Float()) {
			t.Errorf("perplexity of random words %v, of the text %v", random, plain)
		}
	}
}
