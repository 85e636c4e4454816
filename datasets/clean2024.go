package datasets

import (
	"strings"
	"unicode"
)

// The cleanings of the texts that Meisenbacher et al. 2024 published with their
// code, found from the texts themselves: they give all 4,000 of its AG News
// test texts and all of its 2,000 IMDb test texts of which the official review
// is at hand, word for word (TestCleaningsOf2024). CleanTopic and
// CleanSentiment follow the paper's description; these differ from them in
//
//   - punctuation, which is deleted and joins what it separated ("don't" is
//     dont and not a stop word, "U.N." is un, "quot;they" is quotthey, a tag
//     <b> is b), but for hyphens and backslashes, which separate;
//   - a word with a digit or any other sign that is no letter, which is removed
//     whole ("#39;mistakes" is 39mistakes without its sign);
//   - entities and damages of the files, which are not repaired;
//   - on IMDb, of the negations only "not" stays, and a line break is removed
//     after a full stop and otherwise leaves "br" on the word before it.
const (
	CleanTopic2024     Cleaning = "topic-2024"
	CleanSentiment2024 Cleaning = "sentiment-2024"
)

func stopWordsSentiment2024() map[string]bool {
	stop := stopWords()
	delete(stop, "not")
	stop["br"] = true
	return stop
}

// words2024 cleans one text in the way described above.
func (c *Cleaner) words2024(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), ".<br /><br />", " ")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '\\':
			return ' '
		case r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
			return -1
		}
		return r
	}, text)
	var tokens []string
	for _, word := range strings.Fields(text) {
		if !c.stop[word] &&
			!strings.ContainsFunc(word, func(r rune) bool {
				return !unicode.IsLetter(r)
			}) {
			tokens = append(tokens, c.lemmatizer.Lemma(word))
		}
	}
	return tokens
}
