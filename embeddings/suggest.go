package embeddings

import (
	"strings"
	"unicode/utf8"
)

// suggestionDistance is the number of typing errors that Suggest corrects.
const suggestionDistance = 2

// Suggest returns the word of the vocabulary that was probably meant by a word
// outside it: the lower-case form or else the word with the fewest insertions,
// deletions and substitutions. Among equals it is the first, which in the usual
// files is the most frequent. Suggest returns "" where no word is close.
func (v *Vocabulary) Suggest(word string) string {
	if lower := strings.ToLower(word); v.ID(lower) != Unknown {
		return lower
	}
	best, bestDistance := "", min(suggestionDistance, utf8.RuneCountInString(word)-1)+1
	target := []rune(word)
	for _, w := range v.words {
		if n := utf8.RuneCountInString(w); n > len(target)+bestDistance || n < len(target)-bestDistance {
			continue
		}
		if d := editDistance([]rune(w), target); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// editDistance returns the Levenshtein distance.
func editDistance(a, b []rune) int {
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
