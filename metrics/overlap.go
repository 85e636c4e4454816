package metrics

import (
	"fmt"

	"mldpbench/internal/stats"
)

// Overlaps are how much of documents remains after privatising, word for word:
// means over documents with t intervals. Documents without a token are left out.
type Overlaps struct {
	// Jaccard is |A ∩ B|/|A ∪ B| of the sets of words.
	Jaccard stats.Interval
	// Run is the length of the longest run of consecutive tokens that occurs in
	// both, at any position.
	Run stats.Interval
}

// MeasureOverlaps compares documents before and after privatising, in any
// representation of words. Whole words are compared: "he" is not in "the".
// Time O(len(original)·len(privatised)) a document.
func MeasureOverlaps[W comparable](original, privatised [][]W, level float64) (Overlaps, error) {
	if len(original) != len(privatised) {
		return Overlaps{}, fmt.Errorf("overlap: %d documents privatised to %d", len(original), len(privatised))
	}
	var jaccard, run []float64
	for i, before := range original {
		if len(before) == 0 {
			continue
		}
		jaccard = append(jaccard, similarity(before, privatised[i]))
		run = append(run, float64(longestRun(before, privatised[i])))
	}
	return Overlaps{stats.MeanInterval(jaccard, level), stats.MeanInterval(run, level)}, nil
}

// similarity is Jaccard's, of the sets of words; original is not empty.
func similarity[W comparable](original, privatised []W) float64 {
	before, after := map[W]bool{}, map[W]bool{}
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

func longestRun[W comparable](original, privatised []W) int {
	longest := 0
	// runs[j] is the length of the common run that ends at original[i], privatised[j−1].
	runs := make([]int, len(privatised)+1)
	for _, w := range original {
		for j := len(privatised); j > 0; j-- {
			if privatised[j-1] != w {
				runs[j] = 0
				continue
			}
			runs[j] = runs[j-1] + 1
			longest = max(longest, runs[j])
		}
	}
	return longest
}
