package privatize

import (
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// render puts the new words of a piece in their places, and counts them. Where a
// mechanism leaves words out, the places of the others are unknown: the text between
// words is left out as well.
func (s *Stream) render(p *piece, holds func(rune) bool) {
	expected, drops := len(p.words), s.options.Policy == mechanisms.Drop
	if drops && s.options.Layout.Words == 0 {
		expected -= p.of[unknown]
	}
	if !s.options.Mechanism.TakesWords() || len(p.output) != expected {
		for i, w := range p.words {
			if w.kind == known && (len(p.output) != len(p.words) || p.output[i] != w.token) {
				p.changed++
			}
		}
		if s.options.Layout.Plain {
			s.plain(p, p.output)
		} else {
			p.Text = strings.Join(p.output, " ") + p.Text[len(strings.TrimRightFunc(p.Text, unicode.IsSpace)):]
		}
		p.output = nil
		return
	}
	if p.record < countedRows && !s.options.Texts && s.options.Layout.Words == 0 && !p.Null {
		p.shape = s.shape(p)
	}
	var to strings.Builder
	var plain []string
	next, end, written := p.output, int32(0), false // written: the last word is another than that of the text
	for _, w := range p.words {
		before, part := p.Text[end:w.start], p.Text[w.start:w.end]
		if w.kind == unknown && drops {
			end = w.end
			to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			continue
		}
		word := next[0]
		next = next[1:]
		switch {
		case w.kind == kept && s.splitter.vocabulary.ID(part) != embeddings.Unknown:
			word = part
		case w.kind == known && word != w.token:
			p.changed++
		}
		switch {
		case s.options.Texts:
			if strings.ContainsFunc(word, func(r rune) bool { return !holds(r) }) {
				word = strings.Join(strings.Fields(word), " ") // what a field cannot hold becomes a space
			}
		case s.options.KeepCase && word != part:
			word = cased(word, part)
		}
		if s.options.Layout.Plain {
			plain = append(plain, word)
			continue
		}
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
	to.WriteString(p.Text[end:])
	p.Text, p.output = to.String(), nil
	if s.options.Layout.Plain && !p.Null {
		s.plain(p, plain)
	}
}
