package datasets

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
)

// stopWordsText has the function words of English, by kind; it says which they are.
//
//go:embed stopwords.txt
var stopWordsText string

// StopWords are the function words of English, negations among them, in alphabetical
// order.
func StopWords() []string {
	const keepNegations = false
	return slices.Sorted(maps.Keys(stopWords(keepNegations)))
}

// stopWords returns the stop list as a set. The study keeps negations for sentiment
// (IMDb) and removes them for topics (AG News).
func stopWords(keepNegations bool) map[string]bool {
	set, kind := map[string]bool{}, ""
	for line := range strings.Lines(stopWordsText) {
		if line[0] == '#' {
			continue
		}
		words := line
		if before, after, starts := strings.Cut(line, ": "); starts {
			kind, words = before, after
		}
		for _, w := range strings.Fields(words) {
			if kind != "negations" || !keepNegations {
				set[w] = true
			}
		}
	}
	return set
}
