package attack

import (
	"context"

	"mldpbench/metrics"
)

// scoreTFIDF ranks plain documents by the words that they share with a private one.
func scoreTFIDF(_ context.Context, _ *Situation, l linked) (func(int) []float64, error) {
	search := metrics.TFIDF(l.plain)
	return func(query int) []float64 { return search(l.noisy[query]) }, nil
}
