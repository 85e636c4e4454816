package experiments_test

import (
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

// Two scenes of one data set, split differently, share no model of plain text:
// each has the accuracy that it has alone.
func TestScenesOfOneDatasetAreKeptApart(t *testing.T) {
	const head = `schema: 1
name: two
seed: 3
embeddings: [{name: generated, dimensions: [50]}]
models: [{name: svm}]
scenes:
`
	const first = "  - datasets: [{name: generated-words, train: 60, validation: 20, test: 40}]\n"
	const second = "  - datasets: [{name: generated-words, train: 40, validation: 20, test: 60}]\n"
	accuracy := func(text string) (all []results.Optional) {
		for _, r := range mustRun(t, parsed(t, text), engine.Options{Workers: 1}).Rows {
			if r.Quantity == "accuracy" || r.Quantity == "validation_accuracy" {
				all = append(all, r.Value)
			}
		}
		return all
	}
	together, alone := accuracy(head+first+second), accuracy(head+second)
	if len(together) != 4 || len(alone) != 2 || together[2] != alone[0] || together[3] != alone[1] {
		t.Errorf("accuracy %v beside another scene, %v alone", together, alone)
	}
}
