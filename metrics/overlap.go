package metrics

// Jaccard is |A ∩ B|/|A ∪ B| of the sets of words of two documents, of which the first is
// not empty. Whole words are compared: "he" is not in "the".
func Jaccard[W comparable](original, privatised []W) float64 {
	before := map[W]bool{}
	after := map[W]bool{}
	for _, w := range original {
		before[w] = true
	}
	both := 0
	for _, w := range privatised {
		if !after[w] && before[w] {
			both++
		}
		after[w] = true
	}
	return float64(both) / float64(len(before)+len(after)-both)
}
