package documents

import (
	"context"

	"mldpbench/models/attack"
	"mldpbench/models/tfidf"
)

func init() {
	Register(Attacker{
		Name:    "linkage-tfidf",
		Title:   "tf-idf",
		Version: 2,
		Score:   scoreTFIDF,
	})
}

// scoreTFIDF ranks plain documents by the words that they share with a private one.
func scoreTFIDF(_ context.Context, _ *attack.Target, l Linked) (Scores, error) {
	return cosines(l), nil
}

// cosines are those of tf-idf.
func cosines(l Linked) Scores {
	index := tfidf.NewIndex(l.Plain)
	return Scores{Of: func(query int) []float64 { return index.Cosines(l.Noisy[query]) }}
}
