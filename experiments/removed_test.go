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
		for _, name := range []string{"delete", "syntf:released", "cmp"} {
			t.Run(string(policy)+" "+name, func(t *testing.T) {
				t.Parallel()
				s := changed(t, "tiny", "policy: drop", "policy: "+string(policy))
				s, err := s.Override(study.Overrides{
					Repetitions: 1, Epsilons: []float64{5}, Mechanisms: []string{name},
					Set: []string{"models=[svm]", "settings=[local]"},
				})
				if err != nil {
					t.Fatal(err)
				}
				measured := 0
				for _, r := range cells(t, mustRun(t, s, engine.Options{})) {
					if r.IsBaseline() {
						continue
					}
					measured++
					if at(r, "pp").Whole == 0 || !r.Has("pp") {
						t.Errorf("%s: %d tokens, PP %v: not measured", r.Dataset, at(r, "pp").Whole, r.Get("pp"))
					}
					if name == "delete" && at(r, "pp").Part < at(r, "pp").Whole-at(r, "tokens_unknown").Part {
						t.Errorf("%s: %d of %d known tokens changed: all were deleted", r.Dataset, at(r, "pp").Part,
							at(r, "pp").Whole-at(r, "tokens_unknown").Part)
					}
					if policy == mechanisms.Drop && at(r, "pp").Part < at(r, "tokens_unknown").Part {
						t.Errorf("%s: %d changed, %d of them unknown and dropped", r.Dataset, at(r, "pp").Part,
							at(r, "tokens_unknown").Part)
					}
				}
				if measured == 0 {
					t.Fatal("no records")
				}
			})
		}
	}
}
