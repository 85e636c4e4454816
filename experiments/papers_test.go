package experiments_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// point is a value of a figure of a paper.
type point struct {
	Study      string           `csv:"study"`
	Panel      string           `csv:"panel"`
	Series     string           `csv:"series"`
	X          string           `csv:"x"`
	Quantity   string           `csv:"quantity"`
	Repetition int              `csv:"repetition"`
	Value      results.Optional `csv:"value"`
	Note       string           `csv:"note"`
}

func sortPoints(list []point) {
	slices.SortFunc(list, func(a, b point) int {
		return cmp.Or(strings.Compare(a.Panel, b.Panel), strings.Compare(a.Series, b.Series), strings.Compare(a.X, b.X),
			strings.Compare(a.Quantity, b.Quantity), cmp.Compare(a.Repetition, b.Repetition))
	})
}

// The small studies of the four papers give what the program gave when each
// paper had a planner of its own; it wrote testdata/papers.csv.
func TestPapersAsBefore(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("testdata", "papers.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := results.ReadCSV("papers.csv", f)
	if err != nil {
		t.Fatal(err)
	}
	var all []point
	if err := table.Unmarshal(&all); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cmp", "privemb", "tem", "vickrey"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := results.Where(all, func(p point) bool { return p.Study == name })
			s, err := experiments.Builtin.Open(filepath.Join("testdata", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := experiments.Run(t.Context(), s, "", engine.Options{Out: dir}); err != nil {
				t.Fatal(err)
			}
			rows, err := results.Read(filepath.Join(dir, "results.csv"))
			if err != nil {
				t.Fatal(err)
			}
			var got []point
			for _, r := range rows {
				got = append(got, point{name, r.Panel, r.Series, r.X.String(), r.Quantity, r.Repetition, r.Value, r.Note})
			}
			sortPoints(got)
			sortPoints(want)
			if len(got) != len(want) || len(want) == 0 {
				t.Fatalf("%d values, want %d", len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%+v, want %+v", got[i], want[i])
				}
			}
		})
	}
}

// What a figure needs and does not have is an error with its position.
func TestOptionsOfPapers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, new, want string }{
		{"cmp", "words: 5, runs: 10", "words: 5", "runs = 0: must be >= 1"},
		{"cmp", "targets: [0.5]", "targets: [1.5]", "target"},
		{"cmp", "percentiles: [5, 50]", "percentiles: []", "number of percentiles = 0: must be >= 1"},
		{"vickrey", "runs: 4, prior: uniform", "runs: 5, prior: uniform", "runs = 5: must be even"},
		{"vickrey", "prior: uniform", "prior: flat", "prior = \"flat\""},
		{"vickrey", "    models: [{name: svm}]\n", "", "a model is needed for texts"},
		{"privemb", "models: [{name: svm}]", "models: [{name: bilstm}]", "bilstm reads no vectors"},
		{"privemb", "name: privemb, parameters: {projection: none}", "name: cmp", "cmp releases no vectors"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.file+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), c.old, c.new, 1)
		if text == string(data) {
			t.Fatalf("%s.yaml has no %q", c.file, c.old)
		}
		_, err = study.Parse("x.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: %v, want %q", c.file, c.new, err, c.want)
		}
	}
}
