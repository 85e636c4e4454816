package evaluate

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/stream"
)

// table writes reviews whose words reveal their label and author; change
// returns a version's words for row i.
func table(t *testing.T, name string, rows int, header []string, change func(i int, words []string) []string) string {
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

func same(_ int, words []string) []string { return words }

// TestVersionsAreMeasured checks numbers that are known: label and author are
// single words, which one version keeps, one hides and one drops.
func TestVersionsAreMeasured(t *testing.T) {
	t.Parallel()
	const rows = 400
	original := table(t, "original.csv", rows, []string{"id", "body", "stars", "author"}, same)
	copied := table(t, "copied.csv", rows, []string{"body"}, same)
	hidden := table(t, "hidden.csv", rows, []string{"body"},
		func(_ int, w []string) []string { return []string{w[0], "x", w[2], w[3], w[4]} })
	short := table(t, "short.csv", rows, []string{"body"}, func(_ int, w []string) []string { return []string{w[1]} })
	r, err := Run(context.Background(), Options{
		Original: original, Text: []string{"body"}, Label: "stars", Private: "author", Documents: -1, Root: t.TempDir(),
		Versions: []Version{{"copied", 3, copied, ""}, {"hidden", math.NaN(), hidden, ""}, {"short", 1, short, ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 4 || len(r.Records) != 4 {
		t.Fatalf("%d rows, %d records", len(r.Rows), len(r.Records))
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	missing := math.NaN()
	for i, want := range []struct {
		name                  string
		aligned               bool
		accuracy, private, pp float64
		low                   float64
	}{
		{"none", true, 100, 100, missing, missing},
		{"copied", true, 100, 100, 0, 100},
		{"hidden", true, missing, 100, 20, missing}, // accuracy is chance: not tested here
		{"short", false, 100, missing, missing, missing},
	} {
		row := r.Rows[i]
		if row.Name != want.name || row.Aligned != want.aligned {
			t.Errorf("row %d: %+v", i, row)
		}
		if !math.IsNaN(want.accuracy) {
			near(want.name+" accuracy", float64(row.Accuracy), want.accuracy)
		}
		if !math.IsNaN(want.private) {
			near(want.name+" attacker", float64(row.PrivateAccuracy), want.private)
		}
		near(want.name+" PP", float64(row.PP), want.pp)
		if !math.IsNaN(want.low) {
			near(want.name+" LOW", float64(row.Low), want.low)
		}
		switch {
		case want.name == "none" || want.name == "copied":
			near(want.name+" overlap", float64(row.Overlap), 100)
			near(want.name+" linked", float64(row.Linked), float64(r.Rows[0].Linked))
			near(want.name+" perplexity", float64(row.Perplexity), float64(r.Rows[0].Perplexity))
		case want.name == "hidden": // one of five words is replaced by a new one
			near("hidden overlap", float64(row.Overlap), 100*4.0/6)
			if !(row.Perplexity > r.Rows[0].Perplexity) || !(row.Linked < r.Rows[0].Linked) {
				t.Errorf("hidden: %+v beside %+v", row, r.Rows[0])
			}
		case want.name == "short":
			near("short overlap", float64(row.Overlap), 100*1.0/5)
		}
		near("guess", float64(row.LinkedGuess), 100.0/rows)
		if row.CS.Known() || row.English.Known() {
			t.Errorf("%s: CS and English are measured without an encoder and a list", want.name)
		}
	}
	if a := r.Rows[2].Accuracy; a > 80 {
		t.Errorf("accuracy %v without the word that tells", a)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "short, repetition 1: tokens do not align") {
		t.Errorf("notes %q", r.Notes)
	}
	if r.Records[2].Epsilon.Known() || !r.Records[1].Epsilon.Known() || r.Records[1].GuaranteeMetric != "" ||
		r.Records[1].BaselineAccuracy != 100 {
		t.Errorf("records %+v", r.Records[1:3])
	}
	keys := map[string]bool{}
	for _, record := range r.Records {
		keys[record.Key] = true
	}
	if len(keys) != 4 {
		t.Error("records share a key")
	}
}

// TestRowsAreMatchedByID gives the versions in another order.
func TestRowsAreMatchedByID(t *testing.T) {
	t.Parallel()
	const rows = 200
	original := table(t, "original.csv", rows, []string{"id", "body", "stars"}, same)
	copied := table(t, "copied.csv", rows, []string{"id", "body"}, same)
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
	o := Options{Original: original, Text: []string{"body"}, Label: "stars", ID: "id", Documents: -1, Root: t.TempDir(),
		Versions: []Version{{"copied", 1, copied, ""}}}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows[1].PP != 0 || r.Rows[1].Low != 100 {
		t.Errorf("%+v", r.Rows[1])
	}
	o.ID = ""
	if r, err = Run(context.Background(), o); err != nil || r.Rows[1].PP == 0 {
		t.Errorf("by order the rows are others: %+v, %v", r, err)
	}
	turned = turned[:len(turned)-20]
	if err := os.WriteFile(copied, []byte(strings.Join(turned, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"id": "no text for", "": "180 texts for 200 documents"} {
		o.ID = id
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestBadOptionsAreOneError(t *testing.T) {
	t.Parallel()
	original := table(t, "original.csv", 40, []string{"id", "body", "stars"}, same)
	good := Options{Original: original, Text: []string{"body"}, Label: "stars", Documents: -1, Root: t.TempDir(),
		Versions: []Version{{"x", 1, original, ""}}}
	for want, change := range map[string]func(*Options){
		"nothing privatised":             func(o *Options) { o.Versions = nil },
		`no column "author"`:             func(o *Options) { o.Private = "author" },
		`no column "text"`:               func(o *Options) { o.Text = []string{"text"} },
		`column "body": 1 distinct`:      func(o *Options) { o.Private = "body"; o.Original = constant(t) },
		"ids in column \"stars\" repeat": func(o *Options) { o.ID = "stars" },
		"documents = -2: must be >= -1":  func(o *Options) { o.Documents = -2 },
		"cleaning = ":                    func(o *Options) { o.Cleaning = "x" },
		"no-such-file":                   func(o *Options) { o.Versions = []Version{{"x", 1, "no-such-file", ""}} },
	} {
		o := good
		change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
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
	for s, want := range map[string]Version{
		"a/b.csv.gz":      {Name: "b", Epsilon: math.NaN(), Path: "a/b.csv.gz"},
		"dp-prompt=x.csv": {Name: "dp-prompt", Epsilon: math.NaN(), Path: "x.csv"},
		"cmp@0.5=x@y.csv": {Name: "cmp", Epsilon: 0.5, Path: "x@y.csv"},
		"folder":          {Name: "folder", Epsilon: math.NaN(), Path: "folder"},
	} {
		got, err := ParseVersion(s)
		sameEpsilon := got.Epsilon == want.Epsilon || math.IsNaN(got.Epsilon) && math.IsNaN(want.Epsilon)
		if err != nil || got.Name != want.Name || got.Path != want.Path || !sameEpsilon {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "a=", "=b", "none=x.csv", "a@x=b", "a@-1=b", "a@NaN=b", "@1=b"} {
		if v, err := ParseVersion(bad); err == nil {
			t.Errorf("%q gives %+v", bad, v)
		}
	}
}

// TestNewsIsEvaluated runs 500 items of AG News against themselves, with the
// encoder of the data folder.
func TestNewsIsEvaluated(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a sentence encoder")
	}
	t.Parallel()
	path := realdata.File(t, "ag_news_test.csv.gz")
	rows, err := news(path, 500)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, text func(string) string) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w := csv.NewWriter(f)
		_ = w.Write([]string{"body", "topic"}) // errors stay until Flush
		for _, r := range rows {
			_ = w.Write([]string{text(r[1]), r[0]})
		}
		w.Flush()
		if err := w.Error(); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	original := write("news.csv", func(s string) string { return s })
	half := write("half.csv", func(s string) string { f := strings.Fields(s); return strings.Join(f[:len(f)/2], " ") })
	r, err := Run(context.Background(), Options{
		Original: original, Text: []string{"body"}, Label: "topic", Root: realdata.Dir(t), Documents: 2,
		Versions: []Version{{"copy", 1, original, ""}, {"half", math.NaN(), half, ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	plain, copied, cut := r.Rows[0], r.Rows[1], r.Rows[2]
	if copied.PP != 0 || copied.Low != 100 || math.Abs(float64(copied.CS)-100) > 1e-3 ||
		plain.English != copied.English {
		t.Errorf("a copy: %+v", copied)
	}
	if plain.Accuracy < 50 || cut.Aligned || cut.PP.Known() || !(cut.CS < 99.9) || !(cut.Low < 100) {
		t.Errorf("plain %+v, half %+v", plain, cut)
	}
}

// news returns topic and text of the first items, of all topics in turn.
func news(path string, n int) ([][2]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, err
	}
	var out [][2]string
	for _, r := range rows {
		if len(out) < n && len(r) == 3 && len(r[0]) == 1 {
			out = append(out, [2]string{"topic" + r[0], r[1] + " " + r[2]})
		}
	}
	return out, nil
}
