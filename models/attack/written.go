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
		d := attributeDefinition(w.name, w.title, []Need{NeedsPrivate, NeedsWriter})
		d.Version = 2
		d.Run = func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.findInWriting(ctx, d.Name, w.words)
		}
		Register(d)
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

func (p *pieces) examples(x labelledBy[string]) models.Examples {
	out := models.Examples{Sequences: make([][]int32, len(x.documents)), Labels: x.labels}
	for i, t := range x.documents {
		out.Sequences[i] = p.read(t)
	}
	return out
}

// findInWriting is findPrivate on texts as they are written.
func (s *Situation) findInWriting(ctx context.Context, name string, words bool) ([]Outcome, error) {
	// Ids are of one fit, which makes it independent of what was read before.
	// Whoever reads words may as well leave them out, if validation says so.
	fit := func(train, validation, test labelledBy[string]) (answers, string, error) {
		readings := []*pieces{{words: false, ids: map[string]int32{}}}
		if words {
			readings = append(readings, &pieces{words: true, ids: map[string]int32{}})
		}
		var best models.Classifier
		var history models.History
		var reading *pieces
		for _, p := range readings {
			o := models.NGramOptions{Classes: s.Privates}
			if p.words {
				o.Spelling = func(id int32) string { return p.of[id] }
			}
			m, h, err := models.FitNGrams(ctx, o, p.examples(train), p.examples(validation))
			if err != nil {
				return answers{}, "", err
			}
			if best == nil || h.Accuracy > history.Accuracy {
				best, history, reading = m, h, p
			}
		}
		found, err := highest(best.Score(ctx, reading.examples(test)))
		note := history.Chosen
		if words && !reading.words {
			note = "without words: " + note
		}
		return found, note, err
	}
	texts := func(documents []Document) []string {
		return list.Map(documents, func(d Document) string { return d.Text })
	}
	plain, err := once(s.Memo, name, func() ([]int, error) {
		of := func(documents []Document) labelledBy[string] {
			return labelledBy[string]{texts(documents), privates(documents)}
		}
		found, _, err := fit(of(s.Train), of(s.Validation), of(s.Test))
		return found.labels, err
	})
	if err != nil {
		return nil, err
	}
	own := func(split string, documents []Document, n int) (labelledBy[string], error) {
		return releases(s, documents, n, func(i int) ([]string, error) {
			labels := append([]string{"written"}, releaseLabels(split, i)...)
			return once(s.Releases, strings.Join(labels, " "), func() ([]string, error) {
				written, err := s.Write(ctx, texts(documents), s.Seed.Derive(labels...))
				if err == nil && len(written) != len(documents) {
					err = fmt.Errorf("%d texts were written as %d", len(documents), len(written))
				}
				return written, err
			})
		})
	}
	var parts [3]labelledBy[string]
	for i, part := range []struct {
		split     string
		documents []Document
		releases  int
	}{{Train, s.Train, s.Options.OwnReleases}, {Validation, s.Validation, s.Options.OwnReleases},
		{Test, s.Test, s.Options.TestReleases}} {
		if parts[i], err = own(part.split, part.documents, part.releases); err != nil {
			return nil, err
		}
	}
	all, chosen, err := fit(parts[0], parts[1], parts[2])
	if err != nil {
		return nil, err
	}
	var found []answers // of each release
	for n := len(s.Test); len(all.labels) > 0; all = (answers{all.labels[n:], all.scores[n:]}) {
		found = append(found, answers{all.labels[:n], all.scores[:n]})
	}
	return s.attributeOutcomes(name, found, plain, chosen)
}

// Written returns a Situation.Write that does what `mldp privatize` does with
// every text as one line: words replaced, all else kept, case restored.
func Written(m *mechanisms.Mechanism, policy mechanisms.Policy, workers int) func(context.Context, []string,
	stream.Seed) ([]string, error) {
	return func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error) {
		p, err := privatize.New(privatize.Options{Mechanism: m, Policy: policy, KeepCase: true, Seed: seed,
			Workers: max(1, workers)})
		if err != nil {
			return nil, err
		}
		lines, seeds := make([]string, len(texts)), make([]stream.Seed, len(texts))
		for i, t := range texts {
			lines[i], seeds[i] = strings.Join(strings.Fields(t), " "), seed.At(uint64(i))
		}
		written, _, err := p.Texts(ctx, lines, seeds)
		return written, err
	}
}
