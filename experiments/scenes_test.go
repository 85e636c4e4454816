package experiments_test

import (
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

// Two scenes of one data set, split differently, share no model of plain text:
// each has the accuracy that it has alone.
func TestScenesOfOneDatasetAreKeptApart(t *testing.T) {
	t.Parallel()
	accuracy := func(scenes ...string) (all []results.Optional) {
		s := parsed(t, "schema: 1\nname: two\nseed: 3\nembeddings: [{name: generated, dimensions: [50]}]\n"+
			"models: [{name: svm}]\nscenes:\n"+strings.Join(scenes, ""))
		for _, r := range mustRun(t, s, engine.Options{Workers: 1}).Rows {
			if r.Quantity == "accuracy" || r.Quantity == "validation_accuracy" {
				all = append(all, r.Value)
			}
		}
		return all
	}
	const first = "  - datasets: [{name: generated-words, train: 60, validation: 20, test: 40}]\n"
	const second = "  - datasets: [{name: generated-words, train: 40, validation: 20, test: 60}]\n"
	together, alone := accuracy(first, second), accuracy(second)
	if len(together) != 4 || len(alone) != 2 || together[2] != alone[0] || together[3] != alone[1] {
		t.Errorf("accuracy %v beside another scene, %v alone", together, alone)
	}
}
