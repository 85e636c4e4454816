// Package generated makes a corpus of English from a built-in grammar, for
// machines without data: film, book, restaurant and other reviews in two
// classes of sentiment, news in four topics, and the sentiment lexicon and
// thesaurus of their words.
//
// The corpus is for running and testing the pipeline, not for findings:
// everything made of it is marked "generated" and never mixed with real text.
// It has those properties of real text that the pipeline depends on:
// interchangeable words, frequencies that follow Zipf's law, and documents
// whose class only the whole text shows. The corpus is one fixed value, the
// same on every machine; a study's seed only draws from it.
package generated

import (
	_ "embed"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"mldpbench/stream"
)

//go:embed slots.txt
var slotsText string

//go:embed templates.txt
var templatesText string

// Numbers of documents of the two tasks.
const (
	reviewCount = 5000
	newsCount   = 5000
)

// The shares that set the difficulty: how often a sentence of a review goes
// with its class, against it, or is neutral, and how often a sentence of a news
// item is on its topic, on another, or on none. They are chosen so that a
// linear classifier on mean vectors is well above chance and below perfect.
const (
	reviewWith    = 0.55
	reviewAgainst = 0.16
	newsOn        = 0.62
	newsOff       = 0.16
)

// Classes of the tasks.
var (
	sentiments = []string{"negative", "positive"}
	topics     = []string{"world", "sports", "business", "science"}
)

// products are the kinds of thing reviewed, more frequent ones first.
var products = []string{"film", "table", "book", "hotel", "phone", "flight", "concert", "dress"}

// Document is one text with its class.
type Document struct {
	Sentences []string
	Label     int    // index into sentiments or topics
	Style     int    // index into Styles, of Styled and Users
	User      string // of Users
}

// Text returns the document as a string.
func (d Document) Text() string { return strings.Join(d.Sentences, " ") }

// Slot is a set of interchangeable words.
type Slot struct {
	Name     string
	Polarity int // +1, 0 or -1, of every word of the slot
	Words    []string
}

// grammar is the content of the two text files.
type grammar struct {
	slots     []Slot
	byName    map[string]*Slot
	byWord    map[string]*Slot
	templates map[string][]string // by section
	parts     map[string][]string // product → names of its parts
	// counterparts maps a slot of praise to the matching slot of blame, and
	// back.
	counterparts map[string]*Slot
	// prefer, if not nil, is a writer's habit: it may replace the i-th word of
	// a slot by another.
	prefer func(rng *rand.Rand, s *Slot, i int) int
}

// polarities are those of slots as the text writes them.
var polarities = map[string]int{"+": 1, "0": 0, "-": -1}

// theGrammar reads the two texts, which are embedded; TestGrammarIsWhole checks them.
var theGrammar = sync.OnceValue(func() *grammar {
	g := &grammar{
		byName:       map[string]*Slot{},
		byWord:       map[string]*Slot{},
		templates:    map[string][]string{},
		parts:        map[string][]string{},
		counterparts: map[string]*Slot{},
	}
	for line := range strings.Lines(slotsText) {
		f := strings.Fields(line) // name, polarity, words
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		g.slots = append(g.slots, Slot{
			Name:     f[0],
			Polarity: polarities[f[1]],
			Words:    f[2:],
		})
		if part, ok := strings.CutSuffix(f[0], "+"); ok {
			product, _, _ := strings.Cut(part, ".")
			g.parts[product] = append(g.parts[product], part)
		}
	}
	for i := range g.slots {
		s := &g.slots[i]
		g.byName[s.Name] = s
		for _, w := range s.Words {
			g.byWord[w] = s
		}
	}
	pairs := slices.Collect(maps.Values(byPolarity))
	for _, parts := range g.parts {
		for _, part := range parts {
			pairs = append(pairs, [2]string{part + "+", part + "-"})
		}
	}
	for _, p := range pairs {
		praise := g.byName[p[0]]
		blame := g.byName[p[1]]
		if praise != nil && blame != nil {
			g.counterparts[praise.Name] = blame
			g.counterparts[blame.Name] = praise
		}
	}
	section := ""
	for line := range strings.Lines(templatesText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			g.templates[section] = append(g.templates[section], line)
		}
	}
	return g
})

// byPolarity maps a name used in templates to the slots of praise and blame.
var byPolarity = map[string][2]string{
	"overall":   {"good", "bad"},
	"amazing":   {"amazing", "pathetic"},
	"liked":     {"loved", "hated"},
	"recommend": {"recommend", "avoid"},
	"mood":      {"delighted", "disappointed"},
	"treat":     {"treat", "disaster"},
	"adverb":    {"beautifully", "badly"},
	"luck":      {"luckily", "sadly"},
	"bargain":   {"bargain", "ripoff"},
	"exceeded":  {"exceeded", "ruined"},
	"noise":     {"smiling", "complaining"},
}

// weights are the terms of zipf, (index+1)^−s of each index below n, and their
// sum.
type weights struct {
	terms []float64
	total float64
}

// zipfWeights keeps the weights of each shape: a corpus uses few shapes, and
// draws from them often.
var zipfWeights sync.Map // shape → weights

// shape is what weights depend on.
type shape struct {
	n int
	s float64
}

func weightsOf(n int, s float64) weights {
	known, ok := zipfWeights.Load(shape{n, s})
	if !ok {
		w := weights{terms: make([]float64, n)}
		for i := range w.terms {
			w.terms[i] = math.Pow(float64(i+1), -s)
			w.total += w.terms[i]
		}
		known, _ = zipfWeights.LoadOrStore(shape{n, s}, w)
	}
	return known.(weights)
}

// zipf draws an index below n with probability ∝ 1/(index+1)^s.
func zipf(rng *rand.Rand, n int, s float64) int {
	w := weightsOf(n, s)
	u := rng.Float64() * w.total
	for i, term := range w.terms[:n-1] {
		if u -= term; u < 0 {
			return i
		}
	}
	return n - 1
}

// Exponents of zipf: words of a slot, and templates, products and parts.
const (
	wordExponent  = 1.2
	groupExponent = 0.8
)

// word draws a word of a slot. The rarest word of every slot of judgement is
// ambiguous, as some words of every language are: half the time its counterpart
// is used instead, so its use does not reveal its polarity.
func (g *grammar) word(rng *rand.Rand, s *Slot) string {
	i := zipf(rng, len(s.Words), wordExponent)
	if g.prefer != nil {
		i = g.prefer(rng, s, i)
	}
	if counterpart := g.counterparts[s.Name]; counterpart != nil && i == len(s.Words)-1 && rng.IntN(2) == 0 {
		return counterpart.Words[len(counterpart.Words)-1]
	}
	return s.Words[i]
}

// sentence fills in a template of a section. lookup turns a name of the
// template into the name of a slot.
func (g *grammar) sentence(rng *rand.Rand, section string, lookup func(name string) string) string {
	templates := g.templates[section]
	template := templates[zipf(rng, len(templates), groupExponent)]
	var b strings.Builder
	var last []string // words drawn: no word twice in a sentence
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			b.WriteString(template)
			break
		}
		end := open + strings.IndexByte(template[open:], '}')
		b.WriteString(template[:open])
		slot := g.byName[lookup(template[open+1:end])]
		word := g.word(rng, slot)
		for slices.Contains(last, word) {
			word = g.word(rng, slot)
		}
		last = append(last, word)
		b.WriteString(word)
		template = template[end+1:]
	}
	s := articles(b.String())
	return strings.ToUpper(s[:1]) + s[1:] // templates begin with an ASCII letter
}

// consonantal are the words of the corpus that start with a vowel letter but
// not with a vowel sound.
var consonantal = []string{"university", "union", "useless", "used"}

// articles chooses between "a" and "an".
func articles(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words[:len(words)-1] {
		if lower := strings.ToLower(w); lower == "a" || lower == "an" {
			next := words[i+1]
			vowel := strings.IndexByte("aeiou", next[0]) >= 0 &&
				!slices.Contains(consonantal, strings.TrimRight(next, ".,")) ||
				strings.HasPrefix(next, "hour")
			words[i] = w[:1]
			if vowel {
				words[i] += "n"
			}
		}
	}
	return strings.Join(words, " ")
}

// review writes one review of a class.
func (g *grammar) review(rng *rand.Rand, label int) Document {
	product := products[zipf(rng, len(products), groupExponent)]
	d := Document{Label: label}
	for range 5 + rng.IntN(4) {
		parts := g.parts[product]
		part := parts[zipf(rng, len(parts), groupExponent)]
		praise := label == 1
		section := "opinion"
		u := rng.Float64()
		switch {
		case u < reviewWith:
		case u < reviewWith+reviewAgainst:
			praise = !praise
		case rng.IntN(2) == 0:
			section = "review"
		default:
			section = product
		}
		side := 0
		sign := "+"
		opposite := "-"
		if !praise {
			side = 1
			sign = "-"
			opposite = "+"
		}
		if section == "opinion" && rng.IntN(8) == 0 {
			section = "praise"
			if !praise {
				section = "blame"
			}
		}
		d.Sentences = append(d.Sentences, g.sentence(rng, section, func(name string) string {
			switch name {
			case "n":
				return part
			case "item":
				return product + ".item"
			case "adj":
				return part + sign
			case "opposite":
				return part + opposite
			}
			if pair, ok := byPolarity[name]; ok {
				return pair[side]
			}
			return name
		}))
	}
	return d
}

// news writes one news item on a topic.
func (g *grammar) news(rng *rand.Rand, label int) Document {
	d := Document{Label: label}
	for range 3 + rng.IntN(3) {
		section := "report"
		u := rng.Float64()
		switch {
		case u < newsOn:
			section = topics[label]
		case u < newsOn+newsOff:
			section = topics[(label+1+rng.IntN(len(topics)-1))%len(topics)]
		}
		d.Sentences = append(d.Sentences, g.sentence(rng, section, func(name string) string {
			return name
		}))
	}
	return d
}

// corpus writes n documents of alternating classes, each from a separate
// stream.
func corpus(name string, n, classes int, write func(*rand.Rand, int) Document) []Document {
	seed := stream.FromUint64(1).Derive("generated", name)
	docs := make([]Document, n)
	for i := range docs {
		docs[i] = write(seed.At(uint64(i)).Rand(), i%classes)
	}
	return docs
}

// Reviews returns the reviews, the same ones at every call; the caller must
// not change them.
var Reviews = sync.OnceValue(func() []Document {
	return corpus("reviews", reviewCount, len(sentiments), theGrammar().review)
})

// News returns the news items, the same ones at every call; the caller must
// not change them.
var News = sync.OnceValue(func() []Document {
	return corpus("news", newsCount, len(topics), theGrammar().news)
})

// Slots returns all slots in the order of the grammar; the caller must not
// change them.
func Slots() []Slot { return theGrammar().slots }

// Thesaurus treats the words of one slot as synonyms; it has the methods of
// mechanisms.Thesaurus.
type Thesaurus struct{}

// Covers reports whether the word is in a slot.
func (Thesaurus) Covers(word string) bool { return theGrammar().byWord[word] != nil }

// Lemmas returns all words of the word's slot, the word itself included, most
// frequent first.
func (Thesaurus) Lemmas(word string) []string {
	if s := theGrammar().byWord[word]; s != nil {
		return slices.Clone(s.Words)
	}
	return nil
}
