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
	registerLabels("stacked", "surface, characters and words stacked", 1,
		learner{name: "stacked", written: true, fit: fitStacked}, public, NeedsWriter)
}

// pieces gives an id to each word, in lower case, and to each sign of a text.
type pieces struct {
	words bool // words are told apart
	alone bool // there are no signs, and no case
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
			case w == lower || p.alone:
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
		} else if p.alone {
			continue
		}
		out = append(out, p.id(w))
	}
	return append(out, p.id(fmt.Sprintf("\x00%d", int(4*math.Log2(float64(words+1))))))
}

func (p *pieces) examples(documents []Document) models.Examples {
	return models.Examples{Sequences: list.Map(textsOf(documents), p.read), Labels: privates(documents)}
}

// fit learns n-grams of the pieces. Ids are of one fit, which makes it independent of what
// was read before.
func (p *pieces) fit(ctx context.Context, s *Situation, train, validation []Document) (trained, float64, error) {
	p.ids = map[string]int32{}
	o := models.NGramOptions{Classes: s.Privates}
	if p.words {
		o.Spelling = func(id int32) string { return p.of[id] }
	}
	m, h, err := models.FitNGrams(ctx, o, p.examples(train), p.examples(validation))
	return classified(m, h.Chosen, p.examples), h.Accuracy, err
}

// fitWriting learns from texts as they are written. Who reads words may as well leave
// them out, if validation says so.
func fitWriting(words bool) func(context.Context, *Situation, []Document, []Document, stream.Seed) (trained, error) {
	return func(ctx context.Context, s *Situation, train, validation []Document, _ stream.Seed) (out trained, err error) {
		out, most, err := (&pieces{}).fit(ctx, s, train, validation)
		if err != nil || !words {
			return out, err
		}
		out.note = "without words: " + out.note
		if all, accuracy, err := (&pieces{words: true}).fit(ctx, s, train, validation); err != nil || accuracy > most {
			return all, err
		}
		return out, nil
	}
}

// fitStacked learns from texts as they are written by what the surface, the words and both
// say: a logistic regression of their scores on one half of the validation documents, its
// strength chosen on the other. They learned from other documents.
func fitStacked(ctx context.Context, s *Situation, train, validation []Document, seed stream.Seed) (trained, error) {
	var all []trained
	for _, p := range []*pieces{{}, {words: true, alone: true}, {words: true}} {
		t, _, err := p.fit(ctx, s, train, validation)
		if err != nil {
			return t, err
		}
		all = append(all, t)
	}
	read := func(ctx context.Context, documents []Document) (models.Examples, error) {
		x := models.Examples{Vectors: make([][]float32, len(documents)), Labels: privates(documents)}
		for _, t := range all {
			scores, err := t.score(ctx, documents)
			if err != nil {
				return x, err
			}
			for i, row := range scores {
				x.Vectors[i] = append(x.Vectors[i], list.Map(row, func(v float64) float32 { return float32(v) })...)
			}
		}
		return x, nil
	}
	var halves [2]models.Examples // a document and its releases are in one
	for half := range halves {
		var of []Document
		for i, d := range validation {
			if i%len(s.Validation)%2 == half {
				of = append(of, d)
			}
		}
		var err error
		if halves[half], err = read(ctx, of); err != nil {
			return trained{}, err
		}
	}
	m, err := models.New("logistic", models.Options{Classes: s.Privates, Seed: seed})
	if err == nil {
		_, err = m.Fit(ctx, halves[0], halves[1])
	}
	return trained{score: func(ctx context.Context, documents []Document) ([][]float64, error) {
		x, err := read(ctx, documents)
		if err != nil {
			return nil, err
		}
		return m.Score(ctx, x)
	}}, err
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
