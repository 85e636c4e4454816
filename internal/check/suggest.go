package check

import "unicode/utf8"

// typos is the number of typing errors that Suggest corrects.
const typos = 2

// Suggest returns the word that was probably meant by another: the one with the
// fewest insertions, deletions and substitutions, the first among equals; ""
// where none is close.
func Suggest(word string, among []string) string {
	best, bestDistance := "", min(typos, utf8.RuneCountInString(word)-1)+1
	target := []rune(word)
	for _, w := range among {
		if n := utf8.RuneCountInString(w); n > len(target)+bestDistance || n < len(target)-bestDistance {
			continue
		}
		if d := distance([]rune(w), target); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			substitute := diagonal
			if x != y {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
