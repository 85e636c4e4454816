package results_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// Every file of results/reference has one record, whose programs and rows are those of the file; a record that was not
// made yet has no file.
func TestRecordsAreThoseOfTheirFiles(t *testing.T) {
	files, err := filepath.Glob("reference/*")
	if err != nil {
		t.Fatal(err)
	}
	unlisted := map[string]bool{}
	for _, file := range files {
		unlisted[filepath.Base(file)] = true
	}
	names := map[string]bool{}
	for _, r := range results.Records() {
		if names[r.Name] {
			t.Errorf("%s is listed twice, want one record of a name", r.Name)
		}
		names[r.Name] = true
		made := unlisted[r.File]
		delete(unlisted, r.File)
		if made != (len(r.Made) > 0) {
			t.Errorf("%s: the file %q is there: %v, but made has %d programs", r.Name, r.File, made, len(r.Made))
		}
		if !made {
			continue
		}
		got, answers := partsOf(t, filepath.Join("reference", r.File))
		if answers != r.Answers {
			t.Errorf("%s: it holds answers by document: %v, but records.yaml says answers: %v", r.Name, answers,
				r.Answers)
		}
		if !strings.HasSuffix(r.File, ".gz") { // no column says who made it
			got[0].Program = r.Made[0].Program
		}
		if !slices.EqualFunc(got, r.Made, results.Part.Same) {
			t.Errorf("%s: made is %v, want what the column version has, %v", r.Name, r.Made, got)
		}
	}
	for file := range unlisted {
		t.Errorf("results/reference/%s is in no record of records.yaml", file)
	}
}

// partsOf are the programs of a file, one without a name where it has no such column, and whether it holds answers by
// document.
func partsOf(t *testing.T, file string) (parts []results.Part, answers bool) {
	t.Helper()
	if !strings.HasSuffix(file, ".gz") {
		lines, err := results.ReadRows[struct {
			Mechanism string `csv:"mechanism"`
		}](file)
		if err != nil {
			t.Fatal(err)
		}
		return []results.Part{{Rows: len(lines)}}, false
	}
	rows, err := results.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	answers = slices.ContainsFunc(rows, func(r results.Row) bool { return r.Items != "" })
	return results.Parts(rows), answers
}

// What records.yaml says of readers holds: pages name the record, figures are there. That templates read exactly these
// is a test of results/reports.
func TestReadersOfRecords(t *testing.T) {
	for _, r := range results.Records() {
		if r.Command == "" && r.Study != "" && r.Time() <= 0 {
			t.Errorf("%s: minutes = %g, want > 0", r.Name, r.Time())
		}
		for _, reader := range r.Reads {
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(reader)))
			if err != nil {
				t.Errorf("%s: reads names %s: %v", r.Name, reader, err)
				continue
			}
			isPage := filepath.Ext(reader) != ".svg" && filepath.Ext(reader) != ".tmpl"
			if isPage && !strings.Contains(string(text), "results/reference/"+r.File) {
				t.Errorf("%s: reads names %s, which does not name results/reference/%s", r.Name, reader, r.File)
			}
		}
	}
}

// A scene of a record is a run of its own; what is not listed is said.
func TestFindRecord(t *testing.T) {
	const cs = "run replication --set scenes=[cs] --dataset agnews-2024 --set embeddings[0].name=glove.6B.words"
	for name, want := range map[string]string{
		"vickrey-lexicon":     "run vickrey --dataset product-reviews",
		"cmp":                 "run cmp --set scenes=[neighbours,deniability,utility]",
		"cmp/utility":         "run cmp --set scenes=[utility]",
		"replication-cs/cs":   cs,
		"audit-glove-100":     "audit --grid --embedding glove.6B.100d --restrict agnews",
		"vickrey-means":       "",
		"replication/nothing": "the record replication has no scene \"nothing\"",
		"nothing":             "there is no record \"nothing\"",
	} {
		r, err := results.FindRecord(name)
		got := strings.Join(r.Arguments(), " ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	whole, _ := results.FindRecord("cmp")
	part, _ := results.FindRecord("cmp/utility")
	if whole.Time() != 18 || part.Time() != 8 {
		t.Errorf("cmp takes %g minutes and its scene utility %g, want 18 and 8", whole.Time(), part.Time())
	}
}
