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
		if a.count != b.count {
			return cmp.Compare(a.count, b.count)
		}
		return bytes.Compare(a.digest[:], b.digest[:])
	})
	words := make([]string, min(k, len(entries)))
	for i := range words {
		words[i] = entries[i].word
	}
	return words
}

// Present says of each of the words whether it occurs in the documents. LOW is the
// share that does, of those of LeastFrequent in privatised ones. Source: [M24] §4.1.3.
func Present(words []string, documents [][]string) []bool {
	missing := make(map[string]struct{}, len(words))
	for _, w := range words {
		missing[w] = struct{}{}
	}
	for _, d := range documents {
		for _, t := range d {
			delete(missing, t)
		}
		if len(missing) == 0 {
			break
		}
	}
	return list.Map(words, func(w string) bool {
		_, absent := missing[w]
		return !absent
	})
}

// Overlap returns the k least frequent words of one corpus, all where it has fewer,
// and of each whether it is also among the k least frequent of another. LOW overlap
// is the share that is: the published tables hold it, although the source describes
// Present. Unlike LeastFrequent it breaks ties as the study's code does: first come
// first, by a stable sort of ascending counts. Documents must come in the same order
// on both sides.
func Overlap(before, after [][]string, k int) (words []string, shared []bool) {
	words = firstOfLeastCommon(before, k)
	return words, Present(words, [][]string{firstOfLeastCommon(after, k)})
}

// firstOfLeastCommon are the k least frequent words, those that come first of as many.
func firstOfLeastCommon(documents [][]string, k int) []string {
	words, counts := embeddings.CountWords(documents)
	slices.SortStableFunc(words, func(a, b string) int {
		return cmp.Compare(counts[a], counts[b])
	})
	return words[:min(k, len(words))]
}

// Cut returns the documents with at most n words each, as the study's privacy
// metrics read them: 50 words of AG News, 100 of IMDb. Nothing is copied.
func Cut(documents [][]string, n int) [][]string {
	return list.Map(documents, func(d []string) []string {
		length := min(n, len(d))
		return d[:length:length]
	})
}
