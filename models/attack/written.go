package attack

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
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
	registerLabels("attribute-written", "text as written", 3,
		learner{name: "attribute-written", written: true, fit: fitWriting(true)}, own, NeedsWriter)
	registerLabels("attribute-surface", "punctuation, case, length", 3,
		learner{name: "attribute-surface", written: true, fit: fitWriting(false)}, own, NeedsWriter)
	registerLabels("stacked", "surface, characters and words stacked", 2,
		learner{name: "stacked", written: true, fit: fitStacked}, public, NeedsWriter)
}

// pieces gives an id to each word, in lower case, and to each form of what stands around.
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

// letters are those of a word.
var letters = regexp.MustCompile(`[\pL\pM]+`)

// read returns the pieces of a text: what stands between spaces, with each word reduced to
// its case; before it, unless words are left out, the words themselves; and the number of
// words, on a scale of quarters of a doubling. No word starts with a control character.
func (p *pieces) read(text string) []int32 {
	var out []int32
	words := 0
	for _, run := range strings.Fields(text) {
		form := letters.ReplaceAllStringFunc(run, func(w string) string {
			words++
			lower := strings.ToLower(w)
			if p.words {
				out = append(out, p.id(lower))
			}
			switch {
			case w == lower:
				return "a"
			case utf8.RuneCountInString(w) == 1:
				return "I"
			case w == strings.ToUpper(w):
				return "AA"
			}
			return "A"
		})
		if !p.alone && !(p.words && form == "a") { // else pairs of words would be apart
			out = append(out, p.id("\x00"+form))
		}
	}
	return append(out, p.id(fmt.Sprintf("\x01%d", int(4*math.Log2(float64(words+1))))))
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

// fitStacked learns from texts as they are written by what the surface and the words say: a
// logistic regression of their scores on the validation documents, of which neither learned.
func fitStacked(ctx context.Context, s *Situation, train, validation []Document, seed stream.Seed) (trained, error) {
	var all []trained
	for _, p := range []*pieces{{}, {words: true, alone: true}} {
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
	held, err := read(ctx, validation)
	if err != nil {
		return trained{}, err
	}
	m, err := models.New("logistic", models.Options{Classes: s.Privates, Seed: seed})
	if err == nil {
		_, err = m.Fit(ctx, held, held)
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
