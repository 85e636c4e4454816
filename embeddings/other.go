package embeddings

import (
	"bytes"
	"fmt"
	"regexp"
)

// fastTextMagic begins a model of fastText, little-endian 793712314 (fasttext.cc,
// FASTTEXT_FILEFORMAT_MAGIC_INT32), also one that is quantised (.ftz).
var fastTextMagic = []byte{0xba, 0x16, 0x4f, 0x2f}

// floretHeader begins a table of floret: buckets, dimension, shortest and longest n-gram,
// number of hashes, their seed, and the marks of a word's begin and end.
var floretHeader = regexp.MustCompile(`^\d+ \d+ \d+ \d+ \d+ \d+ \S+ \S+\r?\n0 `)

// otherFile returns an error for a file that holds no words with their vectors, but is what
// a trainer of vectors writes beside them.
func otherFile(path string, head []byte) error {
	switch {
	case bytes.HasPrefix(head, fastTextMagic):
		return fmt.Errorf("%s: is a model of fastText, not word vectors: give the .vec file that fastText writes beside it, "+
			"or write one from its words (get_words, get_word_vector)", path)
	case floretHeader.Match(head):
		return fmt.Errorf("%s: is a table of floret, whose rows are hashes and not words: write vectors of words from it "+
			"(the .vec file that floret writes beside it)", path)
	}
	return nil
}
