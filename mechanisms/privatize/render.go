package privatize

import (
	"context"
	"io"
	"strings"
	"unicode"

	"mldpbench/datasets/textio"
	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// write puts the words of a batch at their positions and writes it.
func (s *Stream) write(ctx context.Context, b *batch, out io.Writer) error {
	parts := (len(b.pieces) + 1023) / 1024
	b.text, b.counts = make([][]byte, parts), make([]counts, parts)
	err := s.parallel(ctx, len(b.pieces), func(part, from, to int) error {
		var line strings.Builder
		for i := from; i < to; i++ {
			line.Reset()
			s.render(&line, b, i, &b.counts[part])
			b.text[part] = textio.Append(b.text[part], b.pieces[i], line.String())
			if b.output != nil {
				b.output[i] = nil
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, text := range b.text {
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	for _, c := range b.counts {
		s.summary.add(c)
	}
	for i, p := range b.pieces {
		known := list.Count(b.words[i], func(w word) bool {
			return w.id != embeddings.Unknown || s.options.Rewriter != nil
		})
		s.spent.words(p.Record, known)
		if p.Missing {
			s.summary.Missing++
		}
	}
	return nil
}

// Texts privatises texts in memory with the built-in mechanism, each with its
// seed, as Run does the fields of a table, and counts their words.
func (s *Stream) Texts(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, Summary, error) {
	b := &batch{seeds: seeds}
	for i, t := range texts {
		b.pieces = append(b.pieces, textio.Piece{Text: t, Record: uint64(i)})
	}
	var sum Summary
	err := s.split(ctx, b)
	if err == nil {
		err = s.replace(ctx, b)
	}
	if err != nil {
		return nil, sum, err
	}
	out := make([]string, len(texts))
	for i := range out {
		var line strings.Builder
		var c counts
		s.render(&line, b, i, &c)
		out[i] = line.String()
		sum.add(c)
	}
	return out, sum, nil
}

// render writes the text of a piece with its new words.
func (s *Stream) render(to *strings.Builder, b *batch, i int, c *counts) {
	if s.options.Texts != nil {
		s.renderText(to, b, i, c)
		return
	}
	text, next := b.pieces[i].Text, b.output[i]
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

// renderText writes the answer of a command of whole texts. What a line or a field
// of TSV cannot hold of it becomes a space.
func (s *Stream) renderText(to *strings.Builder, b *batch, i int, c *counts) {
	text := b.pieces[i].Text
	inner := withoutEnd(text)
	if strings.TrimSpace(inner) == "" {
		to.WriteString(text)
		return
	}
	after := b.after[i]
	if strings.ContainsFunc(after, func(r rune) bool { return !b.pieces[i].Holds(r) }) {
		after = strings.Join(strings.Fields(after), " ")
	}
	c.texts++
	if after == inner {
		c.copied++
	}
	to.WriteString(after)
	to.WriteString(text[len(inner):])
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
	text := b.pieces[i].Text
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
