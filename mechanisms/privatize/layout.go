package privatize

import (
	"math"
	"slices"
	"strings"

	"mldpbench/mechanisms"
)

// Layout is what is written besides the words: all that the text has, for Plain one space
// between words in lower case, above 0 the same for so many words, whatever a text has.
type Layout int

const (
	Written Layout = 0
	Plain   Layout = -1
)

// fit cuts the words of a text to the first n, or fills in others at random places. The
// mechanism replaces these too. The k-th of the vocabulary has a probability of nearly
// 1/(k + 2.7), as in text (Mandelbrot 1953): vector files have frequent words first.
func (s *Stream) fit(p *piece, n int) {
	own, v, all, at := p.words, s.splitter.vocabulary, len(p.words), int32(0)
	if s.options.Policy == mechanisms.Drop {
		own = slices.DeleteFunc(own, func(w word) bool { return w.kind == unknown })
	}
	own = own[:min(n, len(own))]
	p.cut, p.words = all-len(own), make([]word, 0, n)
	const flat = 2.7
	for rng := p.seed.Derive("layout").Rand(); n > 0; n-- {
		if rng.IntN(n) < len(own) {
			p.words, own, at = append(p.words, own[0]), own[1:], own[0].end
			continue
		}
		fill := word{start: at, end: at, kind: filler}
		for !Writable(fill.token) {
			k := flat * (math.Pow(1+float64(v.Len())/flat, rng.Float64()) - 1)
			fill.token = v.Word(mechanisms.WordID(min(int(k), v.Len()-1)))
		}
		p.words = append(p.words, fill)
	}
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
