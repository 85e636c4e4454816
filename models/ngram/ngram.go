// Package ngram is a language model of word sequences: interpolated modified
// Kneser–Ney smoothing (Chen & Goodman 1998, "An Empirical Study of Smoothing
// Techniques for Language Modeling", §3 and eq. 26), which models an attacker's
// prior knowledge of a language and measures the fluency of privatised text.
//
// A model is a distribution over a fixed vocabulary: after any history,
// probabilities sum to one over the words and one class of unknown words. There
// is no symbol for the end of a text, because the texts here have a public
// length. The package handles word ids, never text.
package ngram

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
)

// Model gives the probability of a word after others. It is immutable and safe
// for concurrent use.
type Model struct {
	order int
	words int // ids in [0, words) are words, words is the unknown word
	// levels[k−1] holds the n-grams of length k as a trie, sorted by prefix:
	// those that continue node i of level k are [start[i], start[i+1]) of
	// level k+1. The first level has a node for every word, for the unknown
	// word and for the start of a text, in this order.
	levels []level
	// discounts[k−1] are D₁, D₂, D₃₊ of level k.
	discounts [][3]float64
	singles   struct{ total, ones, twos, more float64 } // of the counts of single words
}

type level struct {
	last  []int32 // the last word; nil in the first level, where it is the index
	count []int32 // adjusted: number of distinct words seen before the n-gram, or its number of occurrences
	// Of the continuations, absent in the highest level:
	start []int32
	total []int64 // sum of their counts
	ones  []int32 // number with count 1, and with count 2
	twos  []int32
}

// Train learns a model of the given order (1 for single words, 2 for pairs, …)
// from texts over a vocabulary of so many words. Ids outside [0, words) stand
// for the unknown word, which is in the vocabulary like any other word.
//
// Counts below the highest order are numbers of different words before the
// n-gram, except at the start of a text, where nothing precedes and occurrences
// count. Discounts are those of Chen & Goodman eq. 26, per order; where there
// is too little text to estimate them (no n-gram seen once, twice or three
// times, or a discount outside (0, count)), they are ½, 1 and 1½.
func Train(texts [][]int32, words, order int) (*Model, error) {
	if err := check.AtLeast("order", order, 1); err != nil {
		return nil, fmt.Errorf("n-gram model: %w", err)
	}
	if err := check.AtLeast("words", words, 1); err != nil {
		return nil, fmt.Errorf("n-gram model: %w", err)
	}
	m := &Model{order: order, words: words, levels: make([]level, order), discounts: make([][3]float64, order)}
	var padded [][]int32
	tokens := 0
	for _, t := range texts {
		p := make([]int32, 1, len(t)+1)
		p[0] = m.begin()
		for _, w := range t {
			p = append(p, m.known(w))
		}
		padded = append(padded, p)
		tokens += len(t)
	}
	if tokens == 0 {
		return nil, fmt.Errorf("n-gram model: no words to learn from")
	}
	if tokens > math.MaxInt32-len(texts) {
		return nil, fmt.Errorf("n-gram model: %d words: must be fewer than 2^31", tokens)
	}
	grams := m.highest(padded)
	upper := grams // n-grams one word longer
	for k := order; k >= 1; k-- {
		m.discounts[k-1] = discountsOf(grams.counts)
		m.levels[k-1] = level{last: grams.column(k - 1), count: grams.counts}
		if k < order {
			m.continuations(k, grams, upper)
		}
		if k > 1 {
			upper, grams = grams, m.lower(grams, padded)
		}
	}
	for _, c := range m.levels[0].count {
		m.singles.total += float64(c)
		switch {
		case c == 1:
			m.singles.ones++
		case c == 2:
			m.singles.twos++
		case c > 2:
			m.singles.more++
		}
	}
	return m, nil
}

// begin is the id of the start of a text; it is a history, never an event.
func (m *Model) begin() int32 { return int32(m.words + 1) }

func (m *Model) known(w int32) int32 {
	if w < 0 || int(w) >= m.words {
		return int32(m.words)
	}
	return w
}

// grams holds distinct n-grams of one length k with their counts, sorted.
type grams struct {
	k      int
	ids    []int32 // k per n-gram
	counts []int32
}

func (g grams) len() int         { return len(g.counts) }
func (g grams) of(i int) []int32 { return g.ids[i*g.k : (i+1)*g.k] }

func (g grams) column(j int) []int32 {
	if g.k == 1 {
		return nil
	}
	c := make([]int32, g.len())
	for i := range c {
		c[i] = g.ids[i*g.k+j]
	}
	return c
}

// occurrence is an n-gram at its position in a text or in a longer n-gram.
type occurrence struct {
	gram   []int32
	weight int32
}

// collect sorts n-grams and adds up the weights of equal ones.
func collect(k int, all []occurrence) grams {
	slices.SortFunc(all, func(a, b occurrence) int { return slices.Compare(a.gram, b.gram) })
	g := grams{k: k}
	for i, o := range all {
		if i > 0 && slices.Equal(o.gram, all[i-1].gram) {
			g.counts[len(g.counts)-1] += o.weight
			continue
		}
		g.ids, g.counts = append(g.ids, o.gram...), append(g.counts, o.weight)
	}
	return g
}

// highest counts the n-grams of the model's own order.
func (m *Model) highest(padded [][]int32) grams {
	var all []occurrence
	for _, p := range padded {
		first := 0
		if m.order == 1 {
			first = 1 // the start of a text is not an event
		}
		for i := first; i+m.order <= len(p); i++ {
			all = append(all, occurrence{p[i : i+m.order], 1})
		}
	}
	if m.order == 1 {
		return m.dense(collect(1, all))
	}
	return collect(m.order, all)
}

// lower makes the n-grams one shorter: one count for every different word
// before them, and every occurrence at the start of a text.
func (m *Model) lower(g grams, padded [][]int32) grams {
	k := g.k - 1
	var all []occurrence
	for i := range g.len() {
		all = append(all, occurrence{g.of(i)[1:], 1})
	}
	if k == 1 {
		return m.dense(collect(1, all))
	}
	for _, p := range padded {
		if len(p) >= k {
			all = append(all, occurrence{p[:k], 1})
		}
	}
	return collect(k, all)
}

// dense gives every id an entry in the first level.
func (m *Model) dense(g grams) grams {
	out := grams{k: 1, ids: make([]int32, m.words+2), counts: make([]int32, m.words+2)}
	for i := range out.ids {
		out.ids[i] = int32(i)
	}
	for i := range g.len() {
		out.counts[g.ids[i]] = g.counts[i]
	}
	return out
}

// continuations links level k, whose n-grams are g, to the next one, whose
// n-grams are upper. Both are sorted, and the beginning of every longer n-gram
// is in g, so one pass is enough.
func (m *Model) continuations(k int, g, upper grams) {
	l, n := &m.levels[k-1], g.len()
	l.start = make([]int32, n+1)
	l.total, l.ones, l.twos = make([]int64, n), make([]int32, n), make([]int32, n)
	at := 0
	for i := range n {
		l.start[i] = int32(at)
		for at < upper.len() && slices.Equal(upper.of(at)[:k], g.of(i)) {
			c := upper.counts[at]
			l.total[i] += int64(c)
			switch c {
			case 1:
				l.ones[i]++
			case 2:
				l.twos[i]++
			}
			at++
		}
	}
	l.start[n] = int32(at)
}

// discountsOf returns D₁, D₂, D₃₊ of a level, computed from the numbers of its
// n-grams with counts 1 to 4.
func discountsOf(counts []int32) [3]float64 {
	var n [5]float64
	for _, c := range counts {
		if c >= 1 && c <= 4 {
			n[c]++
		}
	}
	d := [3]float64{0.5, 1, 1.5}
	if n[1] == 0 || n[2] == 0 || n[3] == 0 {
		return d
	}
	y := n[1] / (n[1] + 2*n[2])
	for i := range d {
		k := i + 1
		v := float64(k) - float64(k+1)*y*n[k+1]/n[k]
		if !(v > 0 && v < float64(k)) {
			return [3]float64{0.5, 1, 1.5}
		}
		d[i] = v
	}
	return d
}

// Order returns the length of the longest n-grams.
func (m *Model) Order() int { return m.order }

// History is the state of the model after some words, from which it computes
// the probability of any next word.
type History struct {
	model *Model
	nodes []int32 // nodes[j] is the node of the last j+1 words in level j+1; ends where one is unseen
}

// After returns the history for the words before a position, the last one last.
// At most the last order − 1 of them are used. start means that nothing
// precedes them.
func (m *Model) After(words []int32, start bool) History {
	context := make([]int32, 0, m.order)
	if len(words) > m.order-1 {
		words, start = words[len(words)-(m.order-1):], false
	}
	if start && len(words) < m.order-1 {
		context = append(context, m.begin())
	}
	for _, w := range words {
		context = append(context, m.known(w))
	}
	h := History{model: m}
	for j := 1; j <= len(context); j++ {
		node := m.find(context[len(context)-j:])
		if node < 0 {
			break
		}
		h.nodes = append(h.nodes, node)
	}
	return h
}

// find returns the node of an n-gram in the level of its length, −1 if unseen.
func (m *Model) find(gram []int32) int32 {
	node := gram[0]
	for k, w := range gram[1:] {
		if node = m.child(k, node, w); node < 0 {
			return -1
		}
	}
	return node
}

// child returns the node of level k+2 that continues a node of level k+1 by a
// word, −1 if there is none.
func (m *Model) child(k int, node, w int32) int32 {
	lo, hi := m.levels[k].start[node], m.levels[k].start[node+1]
	i, found := slices.BinarySearch(m.levels[k+1].last[lo:hi], w)
	if !found {
		return -1
	}
	return lo + int32(i)
}

// Probability returns the probability of a word after the history, always > 0.
func (h History) Probability(w int32) float64 {
	m := h.model
	w = m.known(w)
	p := m.unigram(w)
	for j, node := range h.nodes {
		l := &m.levels[j]
		if l.total[node] == 0 {
			break // seen, but never continued; so is any longer history
		}
		count := int32(0)
		if c := m.child(j, node, w); c >= 0 {
			count = m.levels[j+1].count[c]
		}
		d := m.discounts[j+1]
		more := l.start[node+1] - l.start[node] - l.ones[node] - l.twos[node]
		p = interpolate(count, d, float64(l.total[node]), float64(l.ones[node]), float64(l.twos[node]),
			float64(more), p)
	}
	return p
}

// interpolate returns (count − D(count))/total + γ·lower, with γ the share of
// the counts removed by discounts: Chen & Goodman, §3.
func interpolate(count int32, d [3]float64, total, ones, twos, more, lower float64) float64 {
	off := d[0]*ones + d[1]*twos + d[2]*more
	kept := float64(count)
	switch {
	case count >= 3:
		kept -= d[2]
	case count > 0:
		kept -= d[count-1]
	}
	return (kept + off*lower) / total
}

// unigram is smoothed by the uniform distribution over words and unknown word.
func (m *Model) unigram(w int32) float64 {
	return interpolate(m.levels[0].count[w], m.discounts[0], m.singles.total, m.singles.ones, m.singles.twos,
		m.singles.more, 1/float64(m.words+1))
}

// LogProbability returns the sum of ln P over a text and its number of tokens:
// the log-perplexity is −sum/tokens. All unknown words count as one word of the
// vocabulary, so a text with many unknown words is not comparable with a text
// with few.
func (m *Model) LogProbability(text []int32) (sum float64, tokens int) {
	for i, w := range text {
		sum += math.Log(m.After(text[max(0, i-m.order):i], i < m.order).Probability(w))
	}
	return sum, len(text)
}
