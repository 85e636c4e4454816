package audit

import (
	"math/rand/v2"
	"strings"
)

// TextPair is two texts that a mechanism of documents must not tell better than it claims.
type TextPair struct {
	Family string // what the texts differ in
	A, B   string
}

// plainTexts are those that pairs are made of: lower case, with frequent words.
var plainTexts = []string{
	"the film was good and the music was great",
	"the bank said that prices of oil will rise this year",
	"our team won the game in the last minute",
	"she works at a school near the river",
	"the new phone has a better camera",
	"he was born in a small town and went to the city",
}

// family makes a pair of a plain text and its words, whose number is at least 5.
type family struct {
	name string
	pair func(text string, words []string, rng *rand.Rand) (a, b string)
}

// replaced is a text with another word in place of the third.
func replaced(words []string, word string) string {
	out := append([]string{}, words...)
	out[2] = word
	return strings.Join(out, " ")
}

// families are what documents have differed in where a mechanism told of it.
var families = []family{
	{"a word outside the vocabulary", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "xqzzt"), text
	}},
	{"which word outside the vocabulary", func(_ string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "xqzzt"), replaced(words, "vrblk")
	}},
	{"a stop word", func(_ string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "the"), replaced(words, "house")
	}},
	{"which stop word", func(_ string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "not"), replaced(words, "of")
	}},
	{"length: one word more", func(text string, _ []string, _ *rand.Rand) (string, string) {
		return text + " today", text
	}},
	{"length: many words", func(text string, words []string, _ *rand.Rand) (string, string) {
		return strings.Join([]string{text, text, text, text, text, text}, " "), words[0] + " " + words[1]
	}},
	{"length: no words", func(text string, _ []string, _ *rand.Rand) (string, string) { return "", text }},
	{"punctuation", func(text string, words []string, _ *rand.Rand) (string, string) {
		return strings.Join(words, ", ") + "!!!", text
	}},
	{"signs", func(text string, words []string, _ *rand.Rand) (string, string) {
		return "(" + strings.Join(words, " - ") + ") * $ %", text
	}},
	{"case", func(text string, _ []string, _ *rand.Rand) (string, string) { return strings.ToUpper(text), text }},
	{"a capital", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, strings.ToUpper(words[2][:1])+words[2][1:]), text
	}},
	{"numbers", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "83514"), text
	}},
	{"which number", func(_ string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "7"), replaced(words, "83514")
	}},
	{"an address", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "jo.roe@example.org"), text
	}},
	{"spaces and lines", func(text string, words []string, _ *rand.Rand) (string, string) {
		return strings.Join(words, "  \n"), text
	}},
	{"order of words", func(text string, words []string, _ *rand.Rand) (string, string) {
		turned := make([]string, len(words))
		for i, w := range words {
			turned[len(words)-1-i] = w
		}
		return strings.Join(turned, " "), text
	}},
	{"words that come again", func(text string, words []string, _ *rand.Rand) (string, string) {
		return strings.TrimSuffix(strings.Repeat(words[3]+" ", len(words)), " "), text
	}},
	{"letters with accents", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "café"), text
	}},
	{"one word", func(text string, words []string, _ *rand.Rand) (string, string) {
		return replaced(words, "water"), text
	}},
	{"all words", func(text string, _ []string, rng *rand.Rand) (string, string) {
		other := text
		for other == text {
			other = plainTexts[rng.IntN(len(plainTexts))]
		}
		return other, text
	}},
}

// pairsOfFamily is how many pairs are made of each family.
const pairsOfFamily = 2

// documentPairs are pairs of each family, of plain texts that are drawn.
func documentPairs(rng *rand.Rand) (pairs []TextPair) {
	for _, f := range families {
		for _, i := range rng.Perm(len(plainTexts))[:pairsOfFamily] {
			text := plainTexts[i]
			a, b := f.pair(text, strings.Fields(text), rng)
			pairs = append(pairs, TextPair{f.name, a, b})
		}
	}
	return pairs
}
