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
func StopWords() []string { return slices.Sorted(maps.Keys(stopWords())) }

// stopWords is the stop list of the study for topics (AG News).
func stopWords() map[string]bool {
	set := map[string]bool{}
	for _, words := range stopWordsByKind() {
		for _, w := range words {
			set[w] = true
		}
	}
	return set
}

// stopWordsButNegations is the stop list of the study for sentiment (IMDb).
func stopWordsButNegations() map[string]bool {
	set := stopWords()
	for _, w := range stopWordsByKind()["negations"] {
		delete(set, w)
	}
	return set
}

// stopWordsByKind reads the text. Every word is of one kind.
func stopWordsByKind() map[string][]string {
	byKind := map[string][]string{}
	kind := ""
	for line := range strings.Lines(stopWordsText) {
		if line[0] == '#' {
			continue
		}
		words := line
		if before, after, starts := strings.Cut(line, ": "); starts {
			kind = before
			words = after
		}
		byKind[kind] = append(byKind[kind], strings.Fields(words)...)
	}
	return byKind
}
