package attack

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

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
	registerLabels("attribute-written", "text as written", 2,
		learner{name: "attribute-written", written: true, fit: fitWriting(true)}, own, NeedsWriter)
	registerLabels("attribute-surface", "punctuation, case, length", 2,
		learner{name: "attribute-surface", written: true, fit: fitWriting(false)}, own, NeedsWriter)
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

// wordOrSign is a word or a sign that is no space.
var wordOrSign = regexp.MustCompile(`[\pL\pM]+|[^\pZ\s\v\x{85}]`)

// read returns the pieces of a text: for each word its case and, unless words
// are left out, itself; each other sign that is no space; and the number of
// words, on a scale of quarters of a doubling.
func (p *pieces) read(text string) []int32 {
	var out []int32
	words := 0
	for _, w := range wordOrSign.FindAllString(text, -1) {
		if first, size := utf8.DecodeRuneInString(w); unicode.IsLetter(first) || unicode.IsMark(first) {
			words++
			lower := strings.ToLower(w)
			switch {
			case w == lower:
			case len(w) == size:
				out = append(out, p.id(oneLetter))
			case w == strings.ToUpper(w):
				out = append(out, p.id(upper))
			default:
				out = append(out, p.id(title))
			}
			if w = lower; !p.words {
				w = anyWord
			}
		}
		out = append(out, p.id(w))
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
		readings := []*pieces{{words: false, ids: map[string]int32{}}}
		if words {
			readings = append(readings, &pieces{words: true, ids: map[string]int32{}})
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
