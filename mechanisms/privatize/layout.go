package privatize

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

// Layout is what is written besides the words. The zero value is the text's own: its
// spaces, signs and line breaks.
type Layout struct {
	// Plain writes lower-case words with one space between them, and nothing else.
	Plain bool
	// Words, if > 0, also cuts every text to so many words or fills it up, so that its
	// length is that of all others.
	Words int
}

// ParseLayout reads written, plain or fixed=N.
func ParseLayout(text string) (l Layout, err error) {
	name, n, _ := strings.Cut(text, "=")
	switch {
	case text == "written" || text == "plain":
		l.Plain = text == "plain"
	case name == "fixed" && n != "":
		l.Plain = true
		if l.Words, err = strconv.Atoi(n); err != nil {
			return l, check.Wrong("layout = %q: N must be a whole number", text)
		}
		err = check.AtLeast("layout fixed", l.Words, 1)
	default:
		err = check.Wrong("layout = %q: must be written, plain or fixed=N", text)
	}
	return l, err
}

// fit cuts the words of a text to the first ones, or fills them up at places drawn
// among them. The mechanism replaces what is filled in as it does the others. It is of
// the vocabulary, the k-th word with a probability nearly ∝ 1/(k + 2.7), as words are
// in text (Mandelbrot 1953): vector files have frequent words first.
func (s *Stream) fit(p *piece) {
	own, v, all := p.words, s.splitter.vocabulary, len(p.words)
	if s.options.Policy == mechanisms.Drop {
		own = slices.DeleteFunc(own, func(w word) bool { return w.kind == unknown })
	}
	left := s.options.Layout.Words
	own = own[:min(left, len(own))]
	p.cut = all - len(own)
	p.words = make([]word, 0, left)
	const flat = 2.7
	at := int32(0)
	for rng := p.seed.Derive("layout").Rand(); left > 0; left-- {
		if rng.IntN(left) < len(own) {
			p.words, own, at = append(p.words, own[0]), own[1:], own[0].end
			continue
		}
		fill := word{start: at, end: at, kind: filler}
		for !Writable(fill.token) {
			k := flat * (math.Pow(1+float64(v.Len())/flat, rng.Float64()) - 1)
			fill.token = v.Word(mechanisms.WordID(min(int(k), v.Len()-1)))
		}
		p.words = append(p.words, fill)
	}
}

// plain is the text of words in the plain layout.
func (s *Stream) plain(p *piece, words []string) {
	var all []string
	for _, w := range words {
		found, _ := runs(w)
		all = append(all, found...)
	}
	p.Text = strings.ToLower(strings.Join(all, " "))
	p.irregular = s.options.Layout.Words > 0 && len(all) != s.options.Layout.Words
}

// countedRows bounds the memory of layouts.
const countedRows = 100_000

// layouts counts how many texts of the first rows have a layout that no other has.
type layouts struct {
	seed    maphash.Seed
	texts   int
	shapes  map[uint64]int // texts by what they keep besides their words
	lengths map[int]int    // texts by their number of words
}

// shape is a hash of what a text keeps besides its words: what stands between them, and
// which are capitalised where that is seen.
func (s *Stream) shape(p *piece) uint64 {
	var h maphash.Hash
	h.SetSeed(s.layouts.seed)
	end := int32(0)
	for _, w := range p.words {
		_, _ = h.WriteString(p.Text[end:w.start]) // never fails
		_ = h.WriteByte(0)
		if end = w.end; s.options.KeepCase {
			_, _ = h.WriteString(cased("ab", p.Text[w.start:w.end]))
		}
	}
	_, _ = h.WriteString(p.Text[end:])
	return h.Sum64()
}

func (l *layouts) add(p piece) {
	if p.shape == 0 {
		return
	}
	l.texts++
	l.shapes[p.shape]++
	l.lengths[len(p.words)]++
}

// alone is the share of texts that are the only ones of their kind, in percent.
func alone[K comparable](of map[K]int, texts int) float64 {
	n := 0
	for _, count := range of {
		if count == 1 {
			n++
		}
	}
	return 100 * float64(n) / float64(texts)
}

// Kept says what the layout of the texts gives away, and the flag that stops it; ""
// where there is nothing to tell apart.
func (s *Stream) Kept() string {
	l, o := &s.layouts, s.options.Layout
	if l.texts < 2 || o.Words > 0 {
		return ""
	}
	lengths, most, below := slices.Sorted(maps.Keys(l.lengths)), 0, 0
	for _, n := range lengths {
		if 10*below < 9*l.texts {
			most = max(1, n)
		}
		below += l.lengths[n]
	}
	length := alone(l.lengths, l.texts)
	stop := fmt.Sprintf("--layout fixed=%d hides that (a tenth of the texts is cut)", most)
	if o.Plain {
		return fmt.Sprintf("layout: %.3g%% of %d texts have a number of words that no other has, so whoever has the "+
			"originals finds them again; %s", length, l.texts, stop)
	}
	what := "spaces and signs"
	if s.options.KeepCase {
		what = "spaces, signs and capitals"
	}
	return fmt.Sprintf("layout: %.3g%% of %d texts have %s that no other has, so whoever has the originals finds them "+
		"again; --layout plain leaves their number of words (%.3g%%), %s", alone(l.shapes, l.texts), l.texts, what, length,
		stop)
}
