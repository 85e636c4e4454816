package experiments_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
)

// A study from a program: what was measured of each release and classifier.
func ExampleRun() {
	s, err := study.Parse("own.yaml", []byte(`
schema: 1
name: own
seed: 1
datasets: [{name: generated-words}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: k-rr}]
epsilons: [1, 10]
repetitions: 1
metrics: {deniability: {words: 10, runs: 20}}
`), "")
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "own")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	run, err := experiments.Run(context.Background(), experiments.Running{Parsed: s, Out: folder})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range run.Analysis.Cells {
		fmt.Printf("%s, ε = %s: N_w %s%%\n", c.Mechanism, c.Epsilon, c.Get("n_w"))
	}
	// Output:
	// k-rr, ε = 1: N_w 0.5%
	// k-rr, ε = 10: N_w 98%
}
