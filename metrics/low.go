package metrics

import (
	"bytes"
	"cmp"
	"slices"

	"mldpbench/stream"
)

// LowWords is the study's number of least frequent words.
const LowWords = 1000

// LeastFrequent returns the k least frequent words of a corpus, rarest first.
//
// Most words of a corpus occur once, so ties decide which words are counted.
// The source does not say how they are broken. Here: by the digest
// seed.Derive(word), which depends on seed and word alone, so that neither
// the order of documents nor that of a map reaches the result.
func LeastFrequent(documents [][]string, k int, seed stream.Seed) []string {
	type entry struct {
		word   string
		count  int
		digest stream.Seed
	}
	counts := map[string]int{}
	for _, d := range documents {
		for _, t := range d {
			counts[t]++
		}
	}
	entries := make([]entry, 0, len(counts))
	for w, n := range counts {
		entries = append(entries, entry{w, n, seed.Derive(w)})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.count, b.count), bytes.Compare(a.digest[:], b.digest[:]))
	})
	words := make([]string, min(k, len(entries)))
	for i := range words {
		words[i] = entries[i].word
	}
	return words
}

// CountPresent returns how many of the words occur in the documents. LOW is
// Percent(CountPresent(rare, privatised), len(rare)). Source: [M24] §4.1.3.
func CountPresent(words []string, documents [][]string) int {
	missing := make(map[string]struct{}, len(words))
	for _, w := range words {
		missing[w] = struct{}{}
	}
	total := len(missing)
	for _, d := range documents {
		for _, t := range d {
			delete(missing, t)
		}
		if len(missing) == 0 {
			break
		}
	}
	return total - len(missing)
}
