package privatize

import (
	"math/rand/v2"
	"strings"

	"mldpbench/embeddings"
)

// sampledTexts are at most so many, each of at most sampledBytes before and after.
const sampledTexts, sampledBytes = 500, 32 << 10

// Pair is a text as it was and as it is written.
type Pair struct{ Original, Written string }

// sample draws texts that have words, each with the same probability, as they come
// (Vitter 1985, algorithm R).
type sample struct {
	rng   *rand.Rand
	met   int
	pairs []*Pair
}

// draw returns the pair of a text that is drawn, whose Written is to be filled in, or nil.
func (s *sample) draw(p *piece) *Pair {
	if len(p.words) == 0 || len(p.Text) > sampledBytes {
		return nil
	}
	s.met++
	at := len(s.pairs)
	if at == sampledTexts {
		at = s.rng.IntN(s.met)
	}
	if at >= sampledTexts {
		return nil
	}
	drawn := &Pair{Original: strings.Clone(p.Text)}
	if at == len(s.pairs) {
		s.pairs = append(s.pairs, drawn)
	} else {
		s.pairs[at] = drawn
	}
	return drawn
}

// Sample is at most 500 of the texts with words that Run has written, drawn at random
// among those of at most 32 KiB.
func (s *Stream) Sample() []Pair {
	var pairs []Pair
	for _, p := range s.sample.pairs {
		if len(p.Written) <= sampledBytes {
			pairs = append(pairs, *p)
		}
	}
	return pairs
}

// WordsOf returns the words of a text in lower case, as they are found in a vocabulary.
func (s *Stream) WordsOf(text string) []string { return s.splitter.lowered(text) }

// Tokens returns what finds the words of a text in a vocabulary, in lower case.
func Tokens(v *embeddings.Vocabulary) func(text string) []string { return newSplitter(v, nil).lowered }

// lowered are the words of a text in lower case.
func (s splitter) lowered(text string) (words []string) {
	for _, w := range s.words(nil, text) {
		words = append(words, s.lower(w.token))
	}
	return words
}
