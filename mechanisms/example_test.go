package mechanisms_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// animals is a tiny space: two animals, two cities and a number.
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

// Privatising a text: in production the seed comes from stream.Cryptographic.
func ExamplePrivatizeText() {
	m, err := mechanisms.New(mechanisms.Environment{Space: animals()}, mechanisms.Settings{Mechanism: "cmp", Epsilon: 2})
	if err != nil {
		log.Fatal(err)
	}
	documents := [][]string{{"cat", "dog", "in", "rome"}, {"seven", "paris"}}
	private, err := mechanisms.PrivatizeText(context.Background(), m, documents, mechanisms.TextOptions{
		Policy: mechanisms.Drop, // "in" has no vector
		Seed:   stream.FromUint64(1),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, words := range private {
		fmt.Println(words)
	}
	// Output:
	// [cat cat rome]
	// [seven rome]
}

// Stop words pass as they are: the guarantee says that it does not cover them.
func ExampleKeepWords() {
	m, err := mechanisms.New(mechanisms.Environment{Space: animals()}, mechanisms.Settings{Mechanism: "k-rr", Epsilon: 1})
	if err != nil {
		log.Fatal(err)
	}
	m = mechanisms.KeepWords(m, []string{"seven", "in"})
	o := mechanisms.TextOptions{Seed: stream.FromUint64(2)}
	private, err := mechanisms.PrivatizeText(context.Background(), m, [][]string{{"seven", "in", "paris"}}, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(private[0][:2])
	for _, warning := range o.Warnings(m.Guarantee()) {
		fmt.Println(warning)
	}
	// Output:
	// [seven in]
	// the guarantee holds only between words that are not kept; those that are, 1 of 5, pass unchanged: on them epsilon is infinite
}

// SanText with the distance as cost, and over three outputs with the cosine: a word that is
// no output is replaced here.
func ExampleDecay() {
	space := animals()
	word := space.Vocabulary.ID("cat")
	for _, law := range []mechanisms.Decay{
		{Costs: mechanisms.DistanceCosts(space, nil), Rate: 1, Most: math.Inf(1)},
		{Costs: mechanisms.CosineCosts(space, []mechanisms.WordID{1, 2, 3}), Rate: 1, Most: 1, Replaced: 1},
	} {
		m := mechanisms.ByScores(mechanisms.Settings{Mechanism: "mine", Epsilon: 2}, mechanisms.Guarantee{},
			law.Scores())
		row, err := m.Row(word)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f\n", row)
	}
	// Output:
	// [0.61 0.37 0.01 0.00 0.00]
	// [0.00 0.55 0.22 0.22 0.00]
}

// Scores from the inner products with two outputs.
func ExampleByScores() {
	space := animals()
	outputs := []mechanisms.WordID{0, 2}
	m := mechanisms.ByScores(mechanisms.Settings{Mechanism: "mine", Epsilon: 2}, mechanisms.Guarantee{},
		mechanisms.Scores{
			Vocabulary: space.Vocabulary,
			Basis:      mechanisms.InnerProducts(space, outputs),
			Of: func(_ mechanisms.WordID, products []float64) ([]float64, []mechanisms.WordID) {
				return products, outputs
			},
		})
	row, err := m.Row(1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", row)
	// Output:
	// [0.953 0.000 0.047 0.000 0.000]
}
