package metrics

import "slices"

// Unrelated returns the numbers of the public documents that no document of a
// split nearly repeats: those with a word whose set of words has a Jaccard
// similarity of at most the given one, such as 0.3, with that of every document
// of the splits. What an attacker learns from the others he would have looked
// up, not learned.
func Unrelated(public, splits [][]int32, most float64) []int {
	distinct := func(d []int32) []int32 {
		return slices.Compact(slices.Sorted(slices.Values(d)))
	}
	having := map[int32][]int32{} // documents of the splits, by word
	sizes := make([]int, len(splits))
	for i, d := range splits {
		words := distinct(d)
		sizes[i] = len(words)
		for _, w := range words {
			having[w] = append(having[w], int32(i))
		}
	}
	var kept []int
	common := make([]int, len(splits))
	for i, d := range public {
		words := distinct(d)
		clear(common)
		for _, w := range words {
			for _, j := range having[w] {
				common[j]++
			}
		}
		near := false
		for j, c := range common {
			near = near || float64(c) > most*float64(len(words)+sizes[j]-c)
		}
		if len(words) > 0 && !near {
			kept = append(kept, i)
		}
	}
	return kept
}
