package embeddings

import (
	"strings"

	"mldpbench/internal/check"
)

// Suggest returns the word of the vocabulary that was probably meant by a word
// outside it: the lower-case form, or else the word with the fewest insertions,
// deletions and substitutions, at most two. Among equals it is the first, which
// in the usual files is the most frequent. Suggest returns "" where no word is
// close.
func (v *Vocabulary) Suggest(word string) string {
	if lower := strings.ToLower(word); v.ID(lower) != Unknown {
		return lower
	}
	return check.Suggest(word, v.words)
}
