package attack

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"

	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/models"
	"mldpbench/stream"
)

// Attackers of what `mldp privatize` writes. Attackers of tokens are kinder to a
// mechanism than its users are: what is written keeps punctuation, case and
// length.
func init() {
	for _, w := range []struct {
		name, title string
		words       bool // and characters, beside punctuation, case and length
	}{
		{"attribute-written", "text as written", true},
		{"attribute-surface", "punctuation, case, length", false},
	} {
		l := learner{name: w.name, written: true, fit: fitWriting(w.words)}
		columns := labelColumn(w.name, w.title)
		Register(Definition{Name: w.name, Version: 2, Needs: []Need{NeedsPrivate, NeedsWriter}, Columns: columns,
			Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
				return s.findPrivate(ctx, columns[0].Name, l, s.Seed, func(trained) (trained, error) {
					own, _, err := l.fitOwn(ctx, s, s.Seed)
					return own, err
				})
			}})
	}
}

// pieces gives an id to each word, in lower case, and to each sign of a text.
type pieces struct {
	words bool // words are told apart
	ids   map[string]int32
	of    []string
}

func (p *pieces) id(piece string) int32 {
	id, met := p.ids[piece]
	if !met {
		id = int32(len(p.of))
		p.ids[piece], p.of = id, append(p.of, piece)
	}
	return id
}

// Pieces that are no text. No word and no sign of a text is two letters long and
// starts with a control character.
const (
	anyWord   = "\x00w"
	title     = "\x00t"
	upper     = "\x00u"
	oneLetter = "\x00o"
)

// read returns the pieces of a text: for each word its case and, unless words
// are left out, itself; each other sign that is no space; and the number of
// words, on a scale of quarters of a doubling.
func (p *pieces) read(text string) []int32 {
	var out []int32
	words := 0
	word := func(w string) {
		words++
		lower := strings.ToLower(w)
		switch runes := []rune(w); {
		case w == lower:
		case len(runes) == 1:
			out = append(out, p.id(oneLetter))
		case w == strings.ToUpper(w):
			out = append(out, p.id(upper))
		default:
			out = append(out, p.id(title))
		}
		if !p.words {
			lower = anyWord
		}
		out = append(out, p.id(lower))
	}
	start := -1
	for i, r := range text {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			word(text[start:i])
			start = -1
		}
		if !unicode.IsSpace(r) {
			out = append(out, p.id(string(r)))
		}
	}
	if start >= 0 {
		word(text[start:])
	}
	return append(out, p.id(fmt.Sprintf("\x00%d", int(4*math.Log2(float64(words+1))))))
}

func (p *pieces) examples(documents []Document) models.Examples {
	return models.Examples{Sequences: list.Map(textsOf(documents), p.read), Labels: privates(documents)}
}

// fitWriting learns from texts as they are written. Who reads words may as well leave
// them out, if validation says so. Ids are of one fit, which makes it independent of
// what was read before.
func fitWriting(words bool) func(context.Context, *Situation, []Document, []Document, stream.Seed) (trained, error) {
	return func(ctx context.Context, s *Situation, train, validation []Document, _ stream.Seed) (out trained, err error) {
		readings := []*pieces{{words: false, ids: map[string]int32{}}, {words: true, ids: map[string]int32{}}}
		if !words {
			readings = readings[:1]
		}
		most := math.Inf(-1)
		for _, p := range readings {
			o := models.NGramOptions{Classes: s.Privates}
			if p.words {
				o.Spelling = func(id int32) string { return p.of[id] }
			}
			m, h, err := models.FitNGrams(ctx, o, p.examples(train), p.examples(validation))
			if err != nil {
				return out, err
			}
			if h.Accuracy > most {
				most, out = h.Accuracy, classified(m, h.Chosen, p.examples)
				if words && !p.words {
					out.note = "without words: " + out.note
				}
			}
		}
		return out, nil
	}
}

// Written returns a Situation.Write that does what `mldp privatize` does with
// every text as one line: words replaced, all else kept, case restored.
func Written(m *mechanisms.Mechanism, policy mechanisms.Policy, workers int) func(context.Context, []string,
	stream.Seed) ([]string, error) {
	return func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error) {
		p := privatize.New(privatize.Options{Mechanism: m, Policy: policy, KeepCase: true, Workers: max(1, workers)})
		lines, seeds := make([]string, len(texts)), make([]stream.Seed, len(texts))
		for i, t := range texts {
			lines[i], seeds[i] = strings.Join(strings.Fields(t), " "), seed.At(uint64(i))
		}
		written, _, err := p.Texts(ctx, lines, seeds)
		return written, err
	}
}
