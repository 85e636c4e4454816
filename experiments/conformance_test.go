package experiments_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// needsData are measurements of real data, of models and of commands. They have
// tests of their own.
var needsData = []string{"english", "bertscore", "causal_perplexity", "attacker", "measured"}

// Every registered measurement makes rows of its own columns, with finite
// values, or says why there is none. It is asked for with the options of a
// small study, or with none.
func TestMeasurementsConform(t *testing.T) {
	t.Parallel()
	var asked []string
	var all []*study.Study
	for _, name := range small {
		s := open(t, name)
		for _, scene := range s.Parts() {
			for key := range scene.Metrics {
				asked = append(asked, key)
			}
		}
		all = append(all, s)
	}
	var more strings.Builder
	var attackers []string
	for _, m := range measure.All() {
		if key := m.Metric.Key; key != "" && key != "user_audit" && !slices.Contains(asked, key) && !slices.Contains(needsData, m.Name) {
			fmt.Fprintf(&more, "  %s:\n", key)
			asked = append(asked, key)
		}
		switch a, err := attack.Find(m.Name); {
		case err != nil || needs(a, attack.NeedsModel, attack.NeedsWriter, attack.NeedsPublic):
		default:
			attackers = append(attackers, m.Name)
		}
	}
	all[0] = withText(t, all[0], "metrics:\n", "metrics:\n"+more.String())
	all[0] = withText(t, all[0], "  inference_error:\n", "  inference_error:\n    distance: true\n")
	s, err := study.Parse("attacks.yaml", fmt.Appendf(nil, attacked, strings.Join(attackers, ", ")))
	if err != nil {
		t.Fatal(err)
	}
	fewer(&s.Options)
	made := map[string]bool{}
	for _, s := range append(all, s) {
		for _, r := range conforming(t, s) {
			name, _, _ := strings.Cut(r.Measurement, "@")
			made[name] = true
		}
	}
	for _, m := range measure.All() {
		if a, err := attack.Find(m.Name); err == nil &&
			needs(a, attack.NeedsModel, attack.NeedsWriter, attack.NeedsPublic) {
			continue
		}
		if !made[m.Name] && !slices.Contains(needsData, m.Name) {
			t.Errorf("%s has no row: give its options defaults, or put its key into testdata/tiny.yaml", m.Name)
		}
	}
}

// attacked has every attacker that needs no more than a study offers.
const attacked = `
schema: 1
name: attacked
streams: attacks
seed: 5
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: k-rr}]
epsilons: [5]
shadow: 20
options: {candidates: 4, releases: [1, 2]}
scenes:
  - datasets: [{name: generated-styles, train: 120, validation: 20, test: 40}]
    models: [{name: svm}]
    attackers: [%s]
  - datasets: [{name: generated-users, train: 120, validation: 16, test: 40}]
    metrics: {user_audit: {}}
`

func needs(a attack.Definition, any ...attack.Need) bool {
	return slices.ContainsFunc(any, func(n attack.Need) bool { return slices.Contains(a.Needs, n) })
}

// conforming runs a study and returns its rows, after a look at each.
func conforming(t *testing.T, s *study.Study) []results.Row {
	sum, err := experiments.Run(t.Context(), s, "", engine.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sum.Rows {
		if r.Status == results.StatusUndefined {
			if r.Reason == "" {
				t.Errorf("%s: undefined without a reason", r.Measurement)
			}
			continue
		}
		name, _, _ := strings.Cut(r.Measurement, "@")
		m := measurement(t, name)
		if !slices.ContainsFunc(m.Columns, func(c results.Column) bool { return c.Name == r.Quantity }) {
			t.Errorf("%s: %q is none of its columns", m, r.Quantity)
		}
		if !r.Value.Known() && r.Note == "" {
			t.Errorf("%s: %s is NaN, and its note gives no reason", m, r.Quantity)
		}
		for _, v := range []results.Optional{r.Value, r.Low, r.High, r.Floor, r.Ceiling} {
			if math.IsInf(v.Float(), 0) {
				t.Errorf("%s: %s is infinite: %+v", m, r.Quantity, r.Measured)
			}
		}
		if r.Low.Float() > r.Value.Float() || r.Value.Float() > r.High.Float() || results.MustColumn(r.Quantity).Counted && r.Part > r.Whole {
			t.Errorf("%s: %s is outside its interval, or its counts are impossible: %+v", m, r.Quantity, r.Measured)
		}
	}
	return sum.Rows
}
