package privatize

import (
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// render writes the text of a piece with its new words.
func (s *Stream) render(to *strings.Builder, b *batch, i int, c *counts) {
	text, next := b.pieces[i].text, b.output[i]
	if r := s.options.Rewriter; r != nil && !r.Aligned() || s.expected(text, b.words[i]) != len(next) {
		s.renderLoose(to, b, i, c)
		return
	}
	end := int32(0)
	for _, w := range b.words[i] {
		before := text[end:w.start]
		end = w.end
		c.words++
		if w.id == embeddings.Unknown {
			c.unknown++
			if s.drops(text, w) {
				to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
				continue
			}
		}
		word := next[0]
		next = next[1:]
		if (w.id != embeddings.Unknown || s.options.Rewriter != nil) && word != s.token(text, w) {
			c.changed++
		}
		to.WriteString(before)
		if w.split && !strings.HasPrefix(word, "'") && !strings.HasSuffix(word, "'t") {
			to.WriteByte(' ')
		}
		if s.options.KeepCase && !(w.id == embeddings.Unknown &&
			(s.options.Policy == mechanisms.Keep || s.kept[word])) {
			word = w.form.apply(word)
		}
		to.WriteString(word)
	}
	to.WriteString(text[end:])
}

// expected returns the number of words of the output if the mechanism returns
// one word per word.
func (s *Stream) expected(text string, words []word) int {
	return list.Count(words, func(w word) bool { return !s.drops(text, w) })
}

// drops reports whether nothing is written for a word.
func (s *Stream) drops(text string, w word) bool {
	return s.options.Rewriter == nil && s.options.Policy == mechanisms.Drop && w.id == embeddings.Unknown &&
		!s.kept[text[w.start:w.end]]
}

// renderLoose writes the output of a mechanism that leaves words out. The
// positions of the remaining words are unknown, so the text between words is
// left out as well.
func (s *Stream) renderLoose(to *strings.Builder, b *batch, i int, c *counts) {
	text := b.pieces[i].text
	same := len(b.output[i]) == len(b.words[i])
	for j, w := range b.words[i] {
		c.words++
		if w.id == embeddings.Unknown {
			c.unknown++
		}
		if (w.id != embeddings.Unknown || s.options.Rewriter != nil) && !(same && b.output[i][j] == s.token(text, w)) {
			c.changed++
		}
	}
	to.WriteString(strings.Join(b.output[i], " "))
	to.WriteString(text[len(strings.TrimRightFunc(text, unicode.IsSpace)):])
}
