package audit_test

import (
	"context"
	"fmt"
	"log"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
)

func animals() *embeddings.Space {
	words, err := embeddings.NewVocabulary([]string{"cat", "dog", "paris", "rome", "seven"})
	if err != nil {
		log.Fatal(err)
	}
	space, err := embeddings.NewSpace("animals", words, 2, []float32{1, 0, 1, 0.5, -3, 2, -3, 3, 5, 5})
	if err != nil {
		log.Fatal(err)
	}
	return space
}

// An audit refutes, or does not: it never proves.
func ExampleMechanism() {
	space := animals()
	santext, err := mechanisms.New(mechanisms.Environment{Space: space},
		mechanisms.Settings{Mechanism: "santext", Epsilon: 2})
	if err != nil {
		log.Fatal(err)
	}
	nearest, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "custext",
		Variant: mechanisms.Released, Epsilon: 1, Parameters: mechanisms.Parameters{"k": 2.0}})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range []*mechanisms.Mechanism{santext, nearest} {
		r, err := audit.Mechanism(context.Background(), m, space, audit.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s, epsilon >= %.3g\n", r.Settings.Mechanism, r.Verdict(), r.EpsilonLowerBound)
	}
	// Output:
	// santext: not refuted, epsilon >= 1.08
	// custext: violated (exact), epsilon >= +Inf
}
