package privatize

import (
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// render puts the new words of a piece in their places, and counts them.
func (s *Stream) render(p *piece, holds func(rune) bool) {
	drops := !s.outside && s.options.Policy == mechanisms.Drop
	expected := 0 // words that the mechanism returns if it returns one word per word
	for _, w := range p.words {
		if !w.kept && w.id == embeddings.Unknown && !s.outside {
			p.unknown++
		}
		if s.counted(w) {
			p.known++
		}
		if !w.kept && (w.id != embeddings.Unknown || !drops) {
			expected++
		}
	}
	if !s.options.Mechanism.TakesWords() || expected != len(p.output) {
		s.renderLoose(p)
		return
	}
	var to strings.Builder
	next, end, written := p.output, int32(0), false // written: the last word is another than that of the text
	for _, w := range p.words {
		before, part := p.Text[end:w.start], p.Text[w.start:w.end]
		touching := before == "" && end > 0
		end = w.end
		word := part
		switch {
		case w.kept:
			if !s.splitter.kept[part] { // it is kept in lower case
				word = s.cased(s.token(p.Text, w), part)
			}
		case w.id == embeddings.Unknown && drops:
			to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			continue
		default:
			word, next = next[0], next[1:]
			if s.counted(w) && word != s.token(p.Text, w) {
				p.changed++
			}
			if s.options.Texts && strings.ContainsFunc(word, func(r rune) bool { return !holds(r) }) {
				word = strings.Join(strings.Fields(word), " ") // what a field cannot hold becomes a space
			}
			if w.id != embeddings.Unknown || s.options.Policy != mechanisms.Keep {
				word = s.cased(word, part)
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
	to.WriteString(p.Text[end:])
	p.Text, p.output = to.String(), nil
}

// counted reports whether the mechanism's guarantee is spent on a word: it knows
// the word, or is a command, which decides.
func (s *Stream) counted(w word) bool {
	return !w.kept && (w.id != embeddings.Unknown || s.outside)
}

// token returns a word as the vocabulary spells it or, if unknown, as in the
// text.
func (s *Stream) token(text string, w word) string {
	switch part := text[w.start:w.end]; {
	case w.id != embeddings.Unknown:
		return s.splitter.vocabulary.Word(w.id)
	case w.kept:
		return strings.ToLower(part)
	default:
		return part
	}
}

// cased restores the case of a word.
func (s *Stream) cased(as, like string) string {
	if s.options.KeepCase && !s.options.Texts {
		return cased(as, like)
	}
	return as
}

// renderLoose writes the output of a mechanism that leaves words out. The
// positions of the remaining words are unknown, so the text between words is
// left out as well.
func (s *Stream) renderLoose(p *piece) {
	same := len(p.output) == len(p.words)
	for i, w := range p.words {
		if s.counted(w) && !(same && p.output[i] == s.token(p.Text, w)) {
			p.changed++
		}
	}
	p.Text = strings.Join(p.output, " ") + p.Text[len(strings.TrimRightFunc(p.Text, unicode.IsSpace)):]
	p.output = nil
}
