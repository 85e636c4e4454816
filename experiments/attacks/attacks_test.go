package attacks

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/cachetest"
	"mldpbench/internal/realdata"
	"mldpbench/models/attack"
	"mldpbench/results"
)

func TestMain(m *testing.M) { os.Exit(cachetest.Tests{M: m}.Run()) }

const small = `schema: 1
name: small
protocol: attacks
seed: 1
scenes:
  - dataset: {name: generated-styles, train: 300, validation: 60, test: 160}
    embedding: {name: generated, dimensions: [10]}
    shadow: 60
    attackers: [map, inversion, attribute-static-svm]
mechanisms: [{name: k-rr, epsilons: [5]}]
options: {tokens: 500, resamples: 50, neighbours: [1]}
`

func plan(t *testing.T, text, root string) []engine.Unit {
	t.Helper()
	s, err := study.Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l := lab.New(root)
	t.Cleanup(func() { _ = l.Close() })
	units, err := s.Body.(*Study).Plan(l)
	if err != nil {
		t.Fatal(err)
	}
	return units
}

// onReal is the same on real data, with all attackers of texts.
const onReal = `schema: 1
name: real
protocol: attacks
seed: 1
scenes:
  - dataset: {name: spooky-authors, train: 1500, validation: 100, test: 200, max_tokens: 20}
    embedding: {name: local, dimensions: [50]}
    shadow: 100
    language: true
    attackers: [%s]
mechanisms: []
options: {tokens: 300, candidates: 10, words: 50, resamples: 50, releases: [1, 10], documents: 100,
  model: {hidden: 16, epochs: 8, learning_rate: 0.02}}
`

// measured are the rows of a study by mechanism and quantity.
func measured(t *testing.T, text, root string) map[[2]string]results.Record {
	t.Helper()
	var job *engine.Job
	at := map[[2]string]results.Record{}
	units := plan(t, text, root)
	for i, u := range units {
		if i == 0 || units[i-1].Group != u.Group {
			job = &engine.Job{Threads: 1}
			for _, o := range units {
				if o.Group == u.Group {
					job.IDs = append(job.IDs, o.ID)
				}
			}
		}
		out, err := u.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Rows {
			if _, err := results.FindColumn(r.Quantity); err != nil {
				t.Error(err)
			}
			at[[2]string{r.Mechanism, r.Quantity}] = r
		}
	}
	return at
}

// Unchanged text gives the ceiling and random words the chance level.
func TestReferences(t *testing.T) {
	t.Parallel()
	at := measured(t, small, "")
	for _, q := range []string{"em-uniform", "inversion-1", "attribute-static-svm-accuracy"} {
		same, random := at[[2]string{"identity", q}], at[[2]string{"uniform", q}]
		if d := float64(same.Value - same.Ceiling); d > 1e-9 || d < -1e-9 {
			t.Errorf("%s on unchanged text: %v, ceiling %v", q, same.Value, same.Ceiling)
		}
		// Five standard deviations of a share of 160 documents or more, false alarm below 1e-6.
		if d := float64(random.Value - random.Chance); d > 0.2 || d < -0.2 {
			t.Errorf("%s on random words: %v, chance %v", q, random.Value, random.Chance)
		}
		if float64(same.Value-random.Value) < 0.1 && float64(random.Value-same.Value) < 0.1 {
			t.Errorf("%s tells unchanged text from random words by %v", q, same.Value-random.Value)
		}
	}
}

// The same of every attacker who needs no users, on sentences of three authors.
// A share of n is six standard deviations off, 3/√n, with a probability below
// 2e-8 (Hoeffding). Words without a vector are replaced even where all others
// stay: they are fewer than one in ten.
func TestReferencesOnRealData(t *testing.T) {
	t.Parallel()
	root := realdata.Dir(t)
	realdata.File(t, "spooky_authors.csv.gz")
	realdata.File(t, "local.50d.txt.gz")
	realdata.File(t, "wordnet-3.0")
	var names []string
	for _, name := range attack.Names() {
		if d, _ := attack.Find(name); !slices.Contains(d.Needs, attack.NeedsUsers) {
			names = append(names, name)
		}
	}
	at := measured(t, fmt.Sprintf(onReal, strings.Join(names, ", ")), root)
	for _, name := range names {
		d, _ := attack.Find(name)
		for i, c := range d.Columns {
			same, there := at[[2]string{"identity", c.Name}]
			random := at[[2]string{"uniform", c.Name}]
			if c.Unit != "share" || !there || !same.Value.Known() || !same.Ceiling.Known() {
				continue
			}
			noise := 3 / math.Sqrt(float64(same.Trials))
			if off := math.Abs(float64(same.Value - same.Ceiling)); off > 0.1+noise {
				t.Errorf("%s on unchanged text: %v, ceiling %v", c.Name, same.Value, same.Ceiling)
			}
			if off := math.Abs(float64(random.Value - random.Chance)); off > noise {
				t.Errorf("%s on random words: %v, chance %v", c.Name, random.Value, random.Chance)
			}
			if apart := math.Abs(float64(same.Value - random.Value)); i == 0 && apart < 0.1 {
				t.Errorf("%s tells unchanged text from random words by %v", c.Name, apart)
			}
		}
		if !slices.ContainsFunc(d.Columns, func(c attack.Column) bool {
			r, there := at[[2]string{"identity", c.Name}]
			return there && r.Value.Known()
		}) {
			t.Errorf("%s was not measured", name)
		}
	}
	kept := func(m string) float64 { return float64(at[[2]string{m, speechKept}].Value) }
	perplexity := func(m string) float64 { return float64(at[[2]string{m, logPerplexity}].Value) }
	if kept("identity") < 90 || kept("uniform") > 60 || perplexity("uniform") < perplexity("identity")+1 {
		t.Errorf("parts of speech kept %.1f%% and %.1f%%, log-perplexity %.2f and %.2f, on unchanged text and on "+
			"random words", kept("identity"), kept("uniform"), perplexity("identity"), perplexity("uniform"))
	}
}
