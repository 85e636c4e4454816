package embeddings

import (
	"slices"
	"strings"

	"mldpbench/internal/list"
)

// Tokenizer is a Keras tokenizer without a word for unknown ones: it numbers
// the words of the texts it is fitted on by falling frequency and leaves all
// other words out of a sequence, which thereby gets shorter. It lower-cases
// words and splits them at punctuation other than the apostrophe, so the
// thesaurus' New_York is read as new, york.
//
// Keras numbers from 1 and pads with 0; here numbers are rows of Matrix(Words),
// from 0, and padding is not part of a sequence.
type Tokenizer struct {
	words []string
	ids   map[string]int32
}

// NewTokenizer fits a tokenizer on documents.
func NewTokenizer(documents [][]string) *Tokenizer {
	split := list.Map(documents, kerasWords)
	t := &Tokenizer{words: ByFrequency(split), ids: map[string]int32{}}
	for i, w := range t.words {
		t.ids[w] = int32(i)
	}
	return t
}

// Words returns the words by number; the caller must not change them.
func (t *Tokenizer) Words() []string { return t.words }

// Sequences returns the numbers of the known words of each document.
func (t *Tokenizer) Sequences(documents [][]string) [][]int32 {
	out := make([][]int32, len(documents))
	for i, d := range documents {
		out[i] = make([]int32, 0, len(d))
		for _, w := range kerasWords(d) {
			if id, ok := t.ids[w]; ok {
				out[i] = append(out[i], id)
			}
		}
	}
	return out
}

// kerasFilters are the characters that Keras replaces by spaces.
const kerasFilters = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n "

// kerasWords are the words that a Keras tokenizer makes of a document's: lower case,
// cut at the characters that it filters. A document that is so already is returned
// as it is.
func kerasWords(document []string) []string {
	if !slices.ContainsFunc(document, func(w string) bool {
		return w == "" || strings.ContainsAny(w, kerasFilters) || strings.ToLower(w) != w
	}) {
		return document
	}
	var words []string
	for _, w := range document {
		words = append(words, strings.FieldsFunc(strings.ToLower(w), func(r rune) bool {
			return strings.ContainsRune(kerasFilters, r)
		})...)
	}
	return words
}
