package privatize

import "strings"

// longestTable bounds the memory of Align, in bytes.
const longestTable = 1 << 26

// Align returns the words of a text and what each became in the text that a Stream
// wrote of it, nil where they do not align. The two new words of a contraction that
// was cut (do n't) are one. Where one was cut, what stands between words tells: a
// Stream copies it, and new words add at most signs (#tag, U.S.).
func Align(original, written string) (before, after []string) {
	before, gaps := runs(original)
	words, others := runs(written)
	cuts := len(words) - len(before)
	if cuts == 0 {
		return before, words
	}
	if cuts < 0 || cuts > len(before) || cuts*len(before) > longestTable {
		return nil, nil
	}
	after = make([]string, len(before))
	failed := make([]bool, (cuts+1)*len(before)) // by a word and the cuts before it
	var place func(word, cut int) bool
	place = func(word, cut int) bool {
		if word == len(before) {
			return cut == cuts
		}
		at := word*(cuts+1) + cut
		first := word + cut
		if failed[at] {
			return false
		}
		for n := min(1, cuts-cut); n >= 0; n-- { // cut here or not
			if n == 1 && !(strings.ContainsAny(before[word], "'’") && strings.Contains(others[first], " ")) ||
				!strings.Contains(others[first+n], gaps[word]) ||
				!place(word+1, cut+n) {
				continue
			}
			after[word] = strings.Join(words[first:first+n+1], "")
			return true
		}
		failed[at] = true
		return false
	}
	if !place(0, 0) {
		return nil, nil
	}
	return before, after
}
