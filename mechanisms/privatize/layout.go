package privatize

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"mldpbench/mechanisms"
)

// Layout is what is written besides the words: all that the text has, for Plain one space
// between words in lower case, above 0 the same for so many words, whatever a text has.
type Layout int

// Layouts that have no length.
const (
	Written Layout = 0
	Plain   Layout = -1
)

// fit cuts the words of a text to the first n, or fills in others at random places. The
// mechanism replaces these too. The k-th of the vocabulary has a probability of nearly
// 1/(k + 2.7), as in text (Mandelbrot 1953): vector files have frequent words first.
func (s *Stream) fit(p *piece, n int) {
	own := p.words
	if s.drops() {
		own = slices.DeleteFunc(own, func(w word) bool { return w.kind == unknown })
	}
	own = own[:min(n, len(own))]
	p.cut = len(p.words) - len(own)
	p.words = make([]word, 0, n)
	rng := p.seed.Derive("layout").Rand()
	end := int32(0)
	for ; n > 0; n-- {
		if rng.IntN(n) >= len(own) {
			p.words = append(p.words, s.splitter.filler(rng, end))
			continue
		}
		p.words = append(p.words, own[0])
		end = own[0].end
		own = own[1:]
	}
}

// filler draws a word that is filled in at a place of a text.
func (s splitter) filler(rng *rand.Rand, at int32) word {
	const flat = 2.7
	v := s.vocabulary
	w := word{
		start: at,
		end:   at,
		kind:  filler,
	}
	for !Writable(w.token) {
		k := flat * (math.Pow(1+float64(v.Len())/flat, rng.Float64()) - 1)
		w.id = mechanisms.WordID(min(int(k), v.Len()-1))
		w.token = v.Word(w.id)
	}
	if _, ok := s.kept[w.token]; ok {
		w.id = mechanisms.Kept
	}
	return w
}

// plain is the text of words in the plain layout.
func (s splitter) plain(words []string) string {
	var all []string
	for _, w := range words {
		found, _ := runs(w)
		for _, part := range found {
			all = append(all, s.lower(part))
		}
	}
	return strings.Join(all, " ")
}
