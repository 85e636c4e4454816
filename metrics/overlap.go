package metrics

import "fmt"

// Overlap is how much of a document remains after privatising, word for word.
type Overlap struct {
	// Jaccard is |A ∩ B|/|A ∪ B| of the sets of words, 1 for two empty ones.
	Jaccard float64
	// Run is the length of the longest run of consecutive tokens that occurs in
	// both, at any position. RunShare is Run divided by the length of the
	// original, 0 for an empty one.
	Run      int
	RunShare float64
}

// MeasureOverlap compares a document before and after privatising, in any
// representation of words. Whole words are compared: "he" is not in "the".
// Time O(len(original)·len(privatised)).
func MeasureOverlap[W comparable](original, privatised []W) Overlap {
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
	o := Overlap{Jaccard: 1}
	if either := len(before) + len(after) - both; either > 0 {
		o.Jaccard = float64(both) / float64(either)
	}
	// runs[j] is the length of the common run that ends at original[i], privatised[j−1].
	runs := make([]int, len(privatised)+1)
	for _, w := range original {
		for j := len(privatised); j > 0; j-- {
			if privatised[j-1] != w {
				runs[j] = 0
				continue
			}
			runs[j] = runs[j-1] + 1
			o.Run = max(o.Run, runs[j])
		}
	}
	if len(original) > 0 {
		o.RunShare = float64(o.Run) / float64(len(original))
	}
	return o
}

// Overlaps are the means over documents with 95% t intervals, as shares 0–1
// and, for the run, in tokens. Documents without a token are left out.
type Overlaps struct{ Jaccard, Run, RunShare Interval }

// MeasureOverlaps applies MeasureOverlap to every document.
func MeasureOverlaps[W comparable](original, privatised [][]W) (Overlaps, error) {
	if len(original) != len(privatised) {
		return Overlaps{}, fmt.Errorf("overlap: %d documents privatised to %d", len(original), len(privatised))
	}
	var jaccard, run, share []float64
	for i, before := range original {
		if len(before) == 0 {
			continue
		}
		o := MeasureOverlap(before, privatised[i])
		jaccard, run, share = append(jaccard, o.Jaccard), append(run, float64(o.Run)), append(share, o.RunShare)
	}
	return Overlaps{MeanInterval(jaccard, 0.95), MeanInterval(run, 0.95), MeanInterval(share, 0.95)}, nil
}
