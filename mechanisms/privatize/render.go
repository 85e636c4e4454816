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
	if r := s.options.Rewriter; r != nil && !r.Aligned() || s.expected(b.words[i]) != len(next) {
		s.renderLoose(to, b, i, c)
		return
	}
	end, touching, written := int32(0), false, false // written: the last word is another than that of the text
	for _, w := range b.words[i] {
		before, part := text[end:w.start], text[w.start:w.end]
		touching = before == "" && end > 0
		end = w.end
		c.words++
		word := part
		switch {
		case w.kept:
			if !s.splitter.kept[part] { // it is kept in lower case
				word = s.cased(s.token(text, w), w)
			}
		case w.id == embeddings.Unknown && s.drops():
			c.unknown++
			to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			continue
		default:
			word, next = next[0], next[1:]
			if w.id == embeddings.Unknown {
				c.unknown++
			}
			if (w.id != embeddings.Unknown || s.options.Rewriter != nil) && word != s.token(text, w) {
				c.changed++
			}
			if w.id != embeddings.Unknown || s.options.Policy != mechanisms.Keep {
				word = s.cased(word, w)
			}
		}
		to.WriteString(before)
		other := word != part
		switch {
		case w.split:
			if !strings.HasPrefix(word, "'") && !strings.HasSuffix(word, "'t") {
				to.WriteByte(' ')
			}
		case touching && (other || written): // two words of the text stay two words
			to.WriteByte(' ')
		}
		written = other
		to.WriteString(word)
	}
	to.WriteString(text[end:])
}

// cased restores the case of a word.
func (s *Stream) cased(as string, of word) string {
	if s.options.KeepCase {
		return of.form.apply(as)
	}
	return as
}

// expected returns the number of words that the mechanism gets, and returns if it
// returns one word per word.
func (s *Stream) expected(words []word) int {
	return list.Count(words, func(w word) bool { return !w.kept && (w.id != embeddings.Unknown || !s.drops()) })
}

// drops reports whether nothing is written for unknown words.
func (s *Stream) drops() bool {
	return s.options.Rewriter == nil && s.options.Policy == mechanisms.Drop
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
