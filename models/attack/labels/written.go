package labels

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"mldpbench/internal/list"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Attackers of what `mldp privatize` writes. Attackers of tokens are kinder to a
// mechanism than its users are: what is written keeps punctuation, case and
// length.
func init() {
	needs := []attack.Need{attack.NeedsWriter}
	Register(Attacker{
		Name:    "attribute-written",
		Title:   "text as written",
		Version: 3,
		Needs:   needs,
		From:    Own,
		Learner: Learner{
			Name:    "attribute-written",
			Written: true,
			Learn:   learnWriting,
		},
	})
	Register(Attacker{
		Name:    "attribute-surface",
		Title:   "punctuation, case, length",
		Version: 3,
		Needs:   needs,
		From:    Own,
		Learner: Learner{
			Name:    "attribute-surface",
			Written: true,
			Learn:   learnSurface,
		},
	})
	Register(Attacker{
		Name:    "stacked",
		Title:   "surface, characters and words stacked",
		Version: 2,
		Needs:   needs,
		From:    Public,
		Learner: Learner{
			Name:    "stacked",
			Written: true,
			Learn:   learnStacked,
		},
	})
}

// pieces reads a text as ids: of each word, in lower case, and of each form of what stands
// around. Ids are of one reader, which makes it independent of what others read.
type pieces struct {
	words bool // words are told apart
	alone bool // there are no signs, and no case
	*reader
}

// reader keeps the ids of what was read.
type reader struct {
	mu   sync.Mutex // who learned from plain text reads several releases at once
	ids  *attack.Lexicon
	runs map[string]run
}

// run is what stands between two spaces.
type run struct {
	ids   []int32
	words int
}

// newReader has read nothing.
func newReader() *reader { return &reader{ids: attack.NewLexicon(nil), runs: map[string]run{}} }

var (
	surface      = pieces{}
	surfaceWords = pieces{words: true}
	wordsAlone   = pieces{words: true, alone: true}
)

// letters are those of a word.
var letters = regexp.MustCompile(`[\pL\pM]+`)

// shape is the case of a word.
func shape(word, lower string) string {
	switch {
	case word == lower:
		return "a"
	case utf8.RuneCountInString(word) == 1:
		return "I"
	case word == strings.ToUpper(word):
		return "AA"
	}
	return "A"
}

// word is that of an id.
func (r *reader) word(id int32) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids.Word(id)
}

// read returns the pieces of a text: what stands between spaces, with each word reduced to
// its case; before it, unless words are left out, the words themselves; and the number of
// words, on a scale of quarters of a doubling. No word starts with a control character.
func (p pieces) read(text string) []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int32
	words := 0
	for _, between := range strings.Fields(text) {
		r := p.run(between)
		out = append(out, r.ids...)
		words += r.words
	}
	return append(out, p.ids.ID(fmt.Sprintf("\x01%d", int(4*math.Log2(float64(words+1))))))
}

// run reads what stands between two spaces, once.
func (p pieces) run(text string) run {
	r, met := p.runs[text]
	if met {
		return r
	}
	form := letters.ReplaceAllStringFunc(text, func(w string) string {
		r.words++
		lower := strings.ToLower(w)
		if p.words {
			r.ids = append(r.ids, p.ids.ID(lower))
		}
		return shape(w, lower)
	})
	if !p.alone && !(p.words && form == "a") { // else pairs of words would be apart
		r.ids = append(r.ids, p.ids.ID("\x00"+form))
	}
	p.runs[text] = r
	return r
}

// examples are documents as they are written.
func (p pieces) examples(documents []attack.Document) models.Examples {
	return models.Examples{Sequences: list.Map(attack.TextsOf(documents), p.read), Labels: privateLabels(documents)}
}

// learn learns n-grams of the pieces, and returns the share of right labels on validation too.
func (p pieces) learn(ctx context.Context, t *attack.Target, train, validation []attack.Document) (Learned, float64,
	error) {
	p.reader = newReader()
	o := models.NGramOptions{Classes: t.Corpus.PrivateLabels}
	if p.words {
		o.Spelling = p.word
	}
	m, h, err := models.FitNGrams(ctx, o, p.examples(train), p.examples(validation))
	return classified(m, h.Chosen, p.examples), h.Accuracy, err
}

// learnSurface learns from texts as they are written, without the words.
func learnSurface(ctx context.Context, t *attack.Target, train, validation []attack.Document, _ stream.Seed) (Learned,
	error) {
	out, _, err := surface.learn(ctx, t, train, validation)
	return out, err
}

// learnWriting learns from texts as they are written. Who reads words may as well leave
// them out, if validation says so.
func learnWriting(ctx context.Context, t *attack.Target, train, validation []attack.Document, _ stream.Seed) (
	Learned, error) {
	without, least, err := surface.learn(ctx, t, train, validation)
	if err != nil {
		return without, err
	}
	with, accuracy, err := surfaceWords.learn(ctx, t, train, validation)
	if err != nil || accuracy > least {
		return with, err
	}
	without.Note = "without words: " + without.Note
	return without, nil
}

// stack reads the scores of several as vectors.
type stack []Learned

// examples are the scores of documents.
func (s stack) examples(ctx context.Context, documents []attack.Document) (models.Examples, error) {
	x := models.Examples{Vectors: make([][]float32, len(documents)), Labels: privateLabels(documents)}
	for _, l := range s {
		scores, err := l.Score(ctx, documents)
		if err != nil {
			return x, err
		}
		for i, row := range scores {
			x.Vectors[i] = append(x.Vectors[i], list.Map(row, func(v float64) float32 {
				return float32(v)
			})...)
		}
	}
	return x, nil
}

// learnStacked learns from texts as they are written by what the surface and the words say: a
// logistic regression of their scores on the validation documents, of which neither learned.
func learnStacked(ctx context.Context, t *attack.Target, train, validation []attack.Document, seed stream.Seed) (
	Learned, error) {
	var all stack
	for _, p := range []pieces{surface, wordsAlone} {
		l, _, err := p.learn(ctx, t, train, validation)
		if err != nil {
			return l, err
		}
		all = append(all, l)
	}
	held, err := all.examples(ctx, validation)
	if err != nil {
		return Learned{}, err
	}
	m, err := models.New("logistic", models.Options{Classes: t.Corpus.PrivateLabels, Seed: seed})
	if err != nil {
		return Learned{}, err
	}
	if _, err := m.Fit(ctx, held, held); err != nil {
		return Learned{}, err
	}
	return Learned{Score: func(ctx context.Context, documents []attack.Document) ([][]float64, error) {
		x, err := all.examples(ctx, documents)
		if err != nil {
			return nil, err
		}
		return m.Score(ctx, x)
	}}, nil
}
