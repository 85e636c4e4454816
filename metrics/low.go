package metrics

import (
	"bytes"
	"cmp"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/stream"
)

// LowWords is the study's number of least frequent words.
const LowWords = 1000

// LeastFrequent returns the k least frequent words of a corpus, rarest first.
//
// Most words of a corpus occur once, so ties decide which words are counted.
// The source does not say how they are broken. Here ties are ordered by the
// digest seed.Derive(word). It depends on seed and word alone, so neither the
// order of documents nor that of a map affects the result.
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

// CountOverlap returns how many of the k least frequent words of one corpus are
// also among the k least frequent of another, and how many the first has (k, or
// all where it has fewer). LOW overlap is Percent of the two: the published
// tables hold it, although the source describes CountPresent. Unlike
// LeastFrequent it breaks ties as the study's code does: first come first, by a
// stable sort of ascending counts. Documents must come in the same order on
// both sides.
func CountOverlap(before, after [][]string, k int) (shared, total int) {
	rare := firstOfLeastCommon(after, k)
	in := make(map[string]struct{}, len(rare))
	for _, w := range rare {
		in[w] = struct{}{}
	}
	words := firstOfLeastCommon(before, k)
	for _, w := range words {
		if _, ok := in[w]; ok {
			shared++
		}
	}
	return shared, len(words)
}

func firstOfLeastCommon(documents [][]string, k int) []string {
	words, counts := embeddings.CountWords(documents)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	return words[:min(k, len(words))]
}

// Cut returns the documents with at most n words each, as the study's privacy
// metrics read them: 50 words of AG News, 100 of IMDb. Nothing is copied.
func Cut(documents [][]string, n int) [][]string {
	return list.Map(documents, func(d []string) []string { return d[:min(n, len(d)):min(n, len(d))] })
}
