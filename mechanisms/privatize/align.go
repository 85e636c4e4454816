package privatize

import (
	"math"
	"slices"
	"strings"
)

// longestTable bounds the memory of Align, in bytes.
const longestTable = 1 << 26

// Align returns the words of a text and what each became in the text that a Stream
// wrote of it, nil where they do not align. The two new words of a contraction that
// was cut (do n't) are one. Where one was cut, what stands between words tells: a
// Stream copies it, and new words add at most signs (#tag, U.S.).
func Align(original, written string) (before, after []string) {
	before, gaps := runs(original)
	after, others := runs(written)
	cuts := len(after) - len(before)
	if cuts == 0 {
		return before, after
	}
	if cuts < 0 || cuts > len(before) || cuts*len(before) > longestTable {
		return nil, nil
	}
	const none = math.MaxInt32
	cost := slices.Repeat([]int{none}, cuts+1) // signs added so far, by the cuts so far
	cost[0] = 0
	cut := make([][]bool, len(before)) // the last word is, by the cuts with it
	add := func(cost int, gap, other string) int {
		if cost == none || !strings.Contains(other, gap) {
			return none
		}
		return cost + len(other) - len(gap)
	}
	for i, word := range before {
		cut[i] = make([]bool, cuts+1)
		contraction := strings.ContainsAny(word, "'’")
		for k := min(cuts, i+1); k >= 0; k-- {
			whole, parted := add(cost[k], gaps[i], others[i+k]), none
			if contraction && k > 0 {
				parted = add(add(cost[k-1], " ", others[i+k-1]), gaps[i], others[i+k])
			}
			cost[k], cut[i][k] = min(whole, parted), parted < whole
		}
	}
	if cost[cuts] == none {
		return nil, nil
	}
	joined := make([]string, len(before))
	for i, k := len(before)-1, cuts; i >= 0; i-- {
		joined[i] = after[i+k]
		if cut[i][k] {
			k--
			joined[i] = after[i+k] + joined[i]
		}
	}
	return before, joined
}
