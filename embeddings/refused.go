package embeddings

import (
	"bytes"
	"fmt"
	"regexp"
)

// The formats of this file hold no words with their vectors: they are what trainers of
// vectors write beside them, and are refused by name.

// fastTextMagic begins a model of fastText, little-endian 793712314 (fasttext.cc,
// FASTTEXT_FILEFORMAT_MAGIC_INT32), also one that is quantised (.ftz).
var fastTextMagic = []byte{0xba, 0x16, 0x4f, 0x2f}

func isFastTextModel(_ string, head []byte) bool { return bytes.HasPrefix(head, fastTextMagic) }

func refuseFastTextModel(f *File, _ func(Rows) error) error {
	return fmt.Errorf("%s: is a model of fastText, not word vectors: give the .vec file that fastText writes beside "+
		"it, or write one from its words (get_words, get_word_vector)", f.Path)
}

// floretHeader begins a table of floret: buckets, dimension, shortest and longest n-gram,
// number of hashes, their seed, and the marks of a word's begin and end.
var floretHeader = regexp.MustCompile(`^\d+ \d+ \d+ \d+ \d+ \d+ \S+ \S+\r?\n0 `)

func isFloretTable(_ string, head []byte) bool { return floretHeader.Match(head) }

func refuseFloretTable(f *File, _ func(Rows) error) error {
	return fmt.Errorf("%s: is a table of floret, whose rows are hashes and not words: write vectors of words from it "+
		"(the .vec file that floret writes beside it)", f.Path)
}
