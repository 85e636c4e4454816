package attacks

import (
	"os"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/cachetest"
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

func plan(t *testing.T, text string) []engine.Unit {
	t.Helper()
	s, err := study.Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l := lab.New("")
	t.Cleanup(func() { _ = l.Close() })
	units, err := s.Body.(*Study).Plan(l)
	if err != nil {
		t.Fatal(err)
	}
	return units
}

// Unchanged text gives the ceiling and random words the chance level.
func TestReferences(t *testing.T) {
	t.Parallel()
	var job *engine.Job
	at := map[[2]string]results.Record{} // mechanism, quantity
	units := plan(t, small)
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
