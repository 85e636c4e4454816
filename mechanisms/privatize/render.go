package privatize

import (
	"hash/maphash"
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// render puts the new words of a piece, as they are written, in their places, and counts
// them. Where a mechanism leaves words out, the places of the others are unknown: the text
// between words is left out as well.
func (s *Stream) render(p *piece, holds func(rune) bool) {
	expected, drops := len(p.words), s.options.Policy == mechanisms.Drop
	if drops && s.options.Layout <= 0 {
		expected -= p.of[unknown]
	}
	if !s.options.Mechanism.TakesWords() || len(p.output) != expected {
		for i, w := range p.words {
			if w.kind == known && (len(p.output) != len(p.words) || p.output[i] != w.token) {
				p.changed++
			}
		}
		p.Text = strings.Join(p.output, " ") + p.Text[len(strings.TrimRightFunc(p.Text, unicode.IsSpace)):]
		return
	}
	var to strings.Builder
	var shape maphash.Hash // of what is kept besides the words
	shape.SetSeed(s.seed)
	next, end, written := p.output, int32(0), false // written: the last word is another than that of the text
	for _, w := range p.words {
		before, part := p.Text[end:w.start], p.Text[w.start:w.end]
		_, _ = shape.WriteString(before) // never fails
		if _ = shape.WriteByte(0); s.options.KeepCase {
			_, _ = shape.WriteString(cased("ab", part))
		}
		if w.kind == unknown && drops {
			p.marked.count(part, w.token, "")
			end = w.end
			to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			continue
		}
		word := next[0]
		switch {
		case w.kind == kept && s.splitter.vocabulary.ID(part) != embeddings.Unknown:
			word = part
		case w.kind == known && word != w.token:
			p.changed++
		}
		if !s.options.Texts {
			p.marked.count(part, w.token, word)
		}
		switch {
		case s.options.Texts:
			if strings.ContainsFunc(word, func(r rune) bool { return !holds(r) }) {
				word = strings.Join(strings.Fields(word), " ") // what a field cannot hold becomes a space
			}
		case s.options.KeepCase && word != part:
			word = cased(word, part)
		}
		next[0], next = word, next[1:]
		to.WriteString(before)
		apart := before == "" && end > 0 && (word != part || written) // two words of the text stay two words
		if w.split {
			apart = !strings.HasPrefix(word, "'") && !strings.HasSuffix(word, "'t")
		}
		if apart {
			to.WriteByte(' ')
		}
		end, written = w.end, word != part
		to.WriteString(word)
	}
	_, _ = shape.WriteString(p.Text[end:])
	to.WriteString(p.Text[end:])
	p.Text, p.shape = to.String(), shape.Sum64()
}
