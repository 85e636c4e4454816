package privatize

import (
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// render writes the text of a piece with its new words, and counts them.
func (s *Stream) render(p *piece) {
	r, drops := s.options.Rewriter, s.options.Rewriter == nil && s.options.Policy == mechanisms.Drop
	expected := 0 // words that the mechanism returns if it returns one word per word
	for _, w := range p.words {
		p.counts.words++
		if w.id == embeddings.Unknown && !w.kept {
			p.counts.unknown++
		}
		if s.counted(w) {
			p.counts.known++
		}
		if !w.kept && (w.id != embeddings.Unknown || !drops) {
			expected++
		}
	}
	if r != nil && !r.Aligned() || expected != len(p.output) {
		s.renderLoose(p)
		return
	}
	var to strings.Builder
	next, end, written := p.output, int32(0), false // written: the last word is another than that of the text
	for _, w := range p.words {
		before, part := p.text[end:w.start], p.text[w.start:w.end]
		touching := before == "" && end > 0
		end = w.end
		word := part
		switch {
		case w.kept:
			if !s.splitter.kept[part] { // it is kept in lower case
				word = s.cased(s.token(p.text, w), w)
			}
		case w.id == embeddings.Unknown && drops:
			to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			continue
		default:
			word, next = next[0], next[1:]
			if s.counted(w) && word != s.token(p.text, w) {
				p.counts.changed++
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
	to.WriteString(p.text[end:])
	p.after, p.output = to.String(), nil
}

// counted reports whether the mechanism's guarantee is spent on a word: it knows
// the word, or is a command, which decides.
func (s *Stream) counted(w word) bool {
	return !w.kept && (w.id != embeddings.Unknown || s.options.Rewriter != nil)
}

// cased restores the case of a word.
func (s *Stream) cased(as string, of word) string {
	if s.options.KeepCase {
		return of.form.apply(as)
	}
	return as
}

// renderLoose writes the output of a mechanism that leaves words out. The
// positions of the remaining words are unknown, so the text between words is
// left out as well.
func (s *Stream) renderLoose(p *piece) {
	same := len(p.output) == len(p.words)
	for i, w := range p.words {
		if s.counted(w) && !(same && p.output[i] == s.token(p.text, w)) {
			p.counts.changed++
		}
	}
	p.after = strings.Join(p.output, " ") + p.text[len(strings.TrimRightFunc(p.text, unicode.IsSpace)):]
	p.output = nil
}
