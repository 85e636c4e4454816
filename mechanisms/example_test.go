package mechanisms_test

import (
	"context"
	"fmt"
	"log"

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
