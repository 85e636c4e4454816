// Package documentattacker is a template: copy it, and import it in cmd/mldp.
package documentattacker

import (
	"context"

	"mldpbench/models/attack"
	"mldpbench/models/attack/documents"
)

func init() {
	documents.Register(documents.Attacker{
		Name:  "linkage-common",
		Title: "words in common",
		Score: score,
	})
}

// score prefers originals that differ from a privatised document in few words.
func score(_ context.Context, _ *attack.Target, l documents.Linked) (documents.Scores, error) {
	of := func(query int) []float64 {
		scores := make([]float64, len(l.Plain))
		for i, plain := range l.Plain {
			scores[i] = -difference(plain, l.Noisy[query])
		}
		return scores
	}
	return documents.Scores{Of: of}, nil // Take would get the rows of the mechanism's channel
}

// difference is the number of words that only one of two documents has.
func difference(a, b []int32) float64 {
	counts := map[int32]int{}
	for _, w := range a {
		counts[w]++
	}
	for _, w := range b {
		counts[w]--
	}
	sum := 0
	for _, n := range counts {
		sum += max(n, -n)
	}
	return float64(sum)
}
