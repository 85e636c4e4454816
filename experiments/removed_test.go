package experiments_test

import (
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
)

// Removed words count as changed, whether mechanism or policy removed them.
// Unknown words are those outside the mechanism's vocabulary, which may be
// larger than the space.
func TestRemovedWordsAreChanged(t *testing.T) {
	for _, policy := range []mechanisms.Policy{mechanisms.Random, mechanisms.Drop} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			s, err := changed(t, "tiny", "policy: drop", "policy: "+string(policy)).Override(study.Overrides{
				Repetitions: 1, Epsilons: []float64{5}, Mechanisms: []string{"delete", "syntf:released", "cmp"},
				Set: []string{"models=[svm]", "settings=[local]"}})
			if err != nil {
				t.Fatal(err)
			}
			measured := 0
			for _, c := range cells(t, mustRun(t, s, engine.Options{})) {
				pp, unknown := at(c, "pp"), at(c, "tokens_unknown").Part
				if c.IsBaseline() {
					continue
				}
				if measured++; pp.Whole == 0 || c.Mechanism == "delete" && pp.Part < pp.Whole-unknown ||
					policy == mechanisms.Drop && pp.Part < unknown {
					t.Errorf("%s: %d of %d tokens changed, %d unknown", c.Dataset, pp.Part, pp.Whole, unknown)
				}
			}
			if measured != 6 {
				t.Fatalf("%d records", measured)
			}
		})
	}
}
