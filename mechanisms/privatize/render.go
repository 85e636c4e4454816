package privatize

import (
	"hash/maphash"
	"strings"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// render writes the new text of a piece, and counts its words. Where a mechanism leaves
// words out, the places of the others are unknown: the text between words is left out
// as well.
func (s *Stream) render(p *piece, holds func(rune) bool) {
	output := s.output(p)
	expected := len(p.words)
	if s.drops() {
		expected -= p.of[unknown]
	}
	inPlace := s.options.Texts || s.options.Mechanism.TakesWords()
	if inPlace && len(output) == expected {
		p.Text = s.inPlace(p, output, holds)
	} else {
		end := p.Text[len(strings.TrimRightFunc(p.Text, unicode.IsSpace)):]
		p.Text = strings.Join(output, " ") + end
	}
	if s.options.Layout != Written {
		p.Text = s.splitter.plain(output)
	}
	if p.pair != nil {
		p.pair.Written = p.Text
	}
	p.private = nil
	p.rewritten = nil
}

// drops reports whether words outside the vocabulary are left out.
func (s *Stream) drops() bool { return s.options.Policy == mechanisms.Drop }

// output returns the words that are written, without those that are left out, and counts
// the changed ones.
func (s *Stream) output(p *piece) []string {
	if s.options.Mechanism.Outside() {
		for i, w := range p.words {
			if len(p.rewritten) != len(p.words) || p.rewritten[i] != w.token {
				p.changed++
			}
		}
		return p.rewritten
	}
	output := make([]string, 0, len(p.words))
	for i, id := range p.private {
		w := &p.words[i]
		if w.kind == known && id != w.id {
			p.changed++
		}
		spelled := w.token
		switch {
		case id == mechanisms.Removed:
			continue
		case id != mechanisms.Kept:
			spelled = s.splitter.vocabulary.Word(id)
		}
		deleted := spelled == "" && w.kind != unknown
		if !deleted {
			output = append(output, spelled)
		}
	}
	return output
}

// rendering is the new text of a piece as far as it is written.
type rendering struct {
	*Stream
	piece *piece
	holds func(rune) bool
	to    strings.Builder
	shape maphash.Hash // of what is kept besides the words
	end   int32        // of the last word, in the old text
	other bool         // the last word is another than that of the old text
}

// inPlace returns the text with words in the places of those of the piece, and leaves in
// output how they are written.
func (s *Stream) inPlace(p *piece, output []string, holds func(rune) bool) string {
	r := rendering{
		Stream: s,
		piece:  p,
		holds:  holds,
	}
	r.shape.SetSeed(s.seed)
	for i := range p.words {
		w := &p.words[i]
		before := r.before(w)
		if w.kind == unknown && s.drops() {
			p.marked.count(p.Text[w.start:w.end], w.token, "")
			r.to.WriteString(strings.TrimRightFunc(before, unicode.IsSpace))
			r.end = w.end
			continue
		}
		output[0] = r.word(w, before, output[0])
		output = output[1:]
	}
	rest := p.Text[r.end:]
	_, _ = r.shape.WriteString(rest) // never fails
	r.to.WriteString(rest)
	p.shape = r.shape.Sum64()
	return r.to.String()
}

// before returns the text between the last word and this one, and adds to the shape what
// is kept of both.
func (r *rendering) before(w *word) string {
	before := r.piece.Text[r.end:w.start]
	_, _ = r.shape.WriteString(before)
	_ = r.shape.WriteByte(0)
	if r.options.KeepCase {
		_, _ = r.shape.WriteString(cased("ab", r.piece.Text[w.start:w.end]))
	}
	return before
}

// word writes a word in the place of one of the piece, after the text before it, and
// returns how it is written.
func (r *rendering) word(w *word, before, becomes string) string {
	part := r.piece.Text[w.start:w.end]
	if w.kind == kept && w.id != embeddings.Unknown {
		becomes = part
	}
	if !r.options.Texts {
		r.piece.marked.count(part, w.token, becomes)
	}
	becomes = r.spelled(becomes, part)
	r.to.WriteString(before)
	if r.apart(w, before, becomes) {
		r.to.WriteByte(' ')
	}
	r.to.WriteString(becomes)
	r.end = w.end
	r.other = becomes != part
	return becomes
}

// spelled is how a word is written in the place of part of a text.
func (r *rendering) spelled(becomes, part string) string {
	switch {
	case r.options.Texts:
		if r.holds != nil &&
			strings.ContainsFunc(becomes, func(c rune) bool {
				return !r.holds(c)
			}) {
			return strings.Join(strings.Fields(becomes), " ") // what a field cannot hold becomes a space
		}
	case r.options.KeepCase && becomes != part:
		return cased(becomes, part)
	}
	return becomes
}

// apart reports whether a space is written before a word, where none is in the text: two
// words of the text stay two words.
func (r *rendering) apart(w *word, before, becomes string) bool {
	if w.split {
		return !strings.HasPrefix(becomes, "'") && !strings.HasSuffix(becomes, "'t")
	}
	return before == "" && r.end > 0 && (becomes != r.piece.Text[w.start:w.end] || r.other)
}
