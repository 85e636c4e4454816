package documents

import (
	"context"

	"mldpbench/metrics"
	"mldpbench/models/attack"
)

func init() {
	Register(Attacker{Name: "linkage-tfidf", Title: "tf-idf", Version: 2, Score: scoreTFIDF})
}

// scoreTFIDF ranks plain documents by the words that they share with a private one.
func scoreTFIDF(_ context.Context, _ *attack.Target, l Linked) (Scores, error) {
	return tfidf(l), nil
}

func tfidf(l Linked) Scores {
	search := metrics.TFIDF(l.Plain)
	return Scores{Of: func(query int) []float64 { return search(l.Noisy[query]) }}
}
