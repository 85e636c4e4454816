package experiments_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// needsData are measurements of real data, of models and of commands. They have
// tests of their own.
var needsData = []string{"english", "bertscore", "causal_perplexity", "attacker", "measured"}

// Every registered measurement makes rows of its own columns, with finite
// values, or says why there is none. It is asked for with the options of a
// small study, or with none.
func TestMeasurementsConform(t *testing.T) {
	t.Parallel()
	var metrics, attackers []string
	left := func(m *measure.Measurement) bool {
		a, err := attack.Find(m.Name)
		return err == nil && needs(a, attack.NeedsModel, attack.NeedsWriter, attack.NeedsPublic)
	}
	for _, m := range measure.All() {
		key := "      " + m.Metric.Key + ":"
		if ofUsers := []string{"", "user_audit", "retrieval"}; !slices.Contains(ofUsers, m.Metric.Key) && !strings.Contains(attacked, key) &&
			!slices.Contains(metrics, key) && !slices.Contains(needsData, m.Name) {
			metrics = append(metrics, key)
		}
		if _, err := attack.Find(m.Name); err == nil && !left(m) {
			attackers = append(attackers, m.Name)
		}
	}
	s := parsed(t, fmt.Sprintf(attacked, strings.Join(attackers, ", "),
		strings.Join(metrics, "\n")))
	fewer(s.Options)
	made := map[string]bool{}
	for _, s := range []*study.Study{open(t, "papers"), s} {
		for _, r := range conforming(t, s) {
			name, _, _ := strings.Cut(r.Measurement, "@")
			made[name] = true
		}
	}
	for _, m := range measure.All() {
		if !made[m.Name] && !left(m) && !slices.Contains(needsData, m.Name) {
			t.Errorf("%s has no row: give its options defaults, or put its key into this study", m.Name)
		}
	}
}

// attacked has every attacker that needs no more than a study offers, and every metric.
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
    metrics:
      deniability: {words: 5, runs: 20}
      low: 50
      examples: 2
      cs: {encoder: sif, documents: 20}
      inference_error: {samples: 10, distance: true}
%s
  - datasets: [{name: generated-users, train: 120, validation: 16, test: 40}]
    metrics: {user_audit: {}, retrieval: {}}
`

func needs(a attack.Definition, any ...attack.Need) bool {
	return slices.ContainsFunc(any, func(n attack.Need) bool { return slices.Contains(a.Needs, n) })
}

// conforming runs a study and returns its rows, after a look at each.
func conforming(t *testing.T, s *study.Study) []results.Row {
	sum := mustRun(t, s, engine.Options{})
	for _, r := range sum.Rows {
		if r.Status == results.StatusUndefined {
			if r.Reason == "" {
				t.Errorf("%s: undefined without a reason", r.Measurement)
			}
			continue
		}
		name, _, _ := strings.Cut(r.Measurement, "@")
		m, column := measurement(t, name), quantity.Must(r.Quantity)
		infinite := slices.ContainsFunc([]results.Optional{r.Value, r.Low, r.High, r.Floor, r.Ceiling},
			func(v results.Optional) bool { return math.IsInf(v.Float(), 0) })
		if !slices.ContainsFunc(m.Quantities, func(c quantity.Quantity) bool { return c.Name == r.Quantity }) ||
			!r.Value.Known() && r.Note == "" || infinite || r.Low.Float() > r.Value.Float() ||
			r.Value.Float() > r.High.Float() || column.Counted && r.Part > r.Whole {
			t.Errorf("%s: %s is none of its columns, NaN without a note, infinite, outside its interval or counted wrongly: %+v",
				m.Name, r.Quantity, r.Measured)
		}
	}
	return sum.Rows
}
