package datasets

import (
	"maps"
	"slices"
	"strings"
)

// Function words of English, grouped by kind. Together with negations they are
// the words that NLTK's English stop list (179 entries, as of 2024) has, which
// the comparative study removed; pieces such as "ve" and "didn" come from
// contractions split at the apostrophe.
var functionWords = map[string]string{
	"personal pronouns": `i me my myself we our ours ourselves you your yours yourself yourselves
		he him his himself she her hers herself it its itself they them their theirs themselves`,
	"other pronouns": `what which who whom this that these those`,
	"be, have, do":   `am is are was were be been being have has had having do does did doing`,
	"modals":         `can will should`,
	"articles":       `a an the`,
	"conjunctions":   `and but if or because as until while than so`,
	"prepositions": `of at by for with about against between into through during before after above below
		to from up down in out on off over under`,
	"adverbs":     `again further then once here there when where why how now just only too very`,
	"quantifiers": `all any both each few more most other some such own same`,
	"contracted":  `you're you've you'll you'd she's it's that'll should've`,
	"pieces":      `s t d ll m o re ve y ma don`,
}

// negations reverse the sentiment of the following words, so the study keeps
// them for sentiment (IMDb) and removes them for topics (AG News).
const negations = `no nor not don't
	ain aren aren't couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't
	mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't
	won won't wouldn wouldn't`

// StopWords are NLTK's 179 English stop words, sorted.
func StopWords() []string { return slices.Sorted(maps.Keys(stopWords(false))) }

// stopWords returns the stop list as a set.
func stopWords(keepNegations bool) map[string]struct{} {
	set := map[string]struct{}{}
	add := func(words string) {
		for _, w := range strings.Fields(words) {
			set[w] = struct{}{}
		}
	}
	for _, words := range functionWords {
		add(words)
	}
	if !keepNegations {
		add(negations)
	}
	return set
}
