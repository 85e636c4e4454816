// Package ngram is a language model of word ids: interpolated modified Kneser–Ney
// smoothing (Chen & Goodman 1998, §3 and eq. 26). After any history, probabilities
// sum to one over a fixed vocabulary and one class of unknown words. The end of a
// text has no symbol, because texts here have a public length.
package ngram

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Model gives the probability of a word after others. It is immutable and safe
// for concurrent use.
type Model struct {
	order int
	words int // ids in [0, words) are words, words is the unknown word
	// levels[k−1] holds the n-grams of length k. The nodes of the first level are
	// the words, the unknown word and the start of a text, in this order.
	levels []level
	// discounts[k−1] are D₁, D₂, D₃₊ of level k.
	discounts [][3]float64
	single    []float64 // probability of each word and of the unknown one after an unseen history
}

// level is one depth of a trie: node i is continued by [start[i], start[i+1]) of the next level.
type level struct {
	last  []int32         // the last word; nil in the first level, where it is the index
	count []int32         // adjusted: number of distinct words seen before the n-gram, or its number of occurrences
	start []int32         // absent in the highest level, as are:
	after []continuations // of each node
}

// gram is an n-gram while counting: the number of all its words but the last, and the last.
type gram struct{ before, last int32 }

// counter counts the n-grams of one length, numbered as they come.
type counter struct {
	number map[gram]int32
	grams  []gram
	count  []int32
}

// continuations sums up the n-grams that continue another.
type continuations struct {
	total            int64 // of their counts
	ones, twos, more int32 // how many have count 1, 2, and more
}

func (c *continuations) add(count int32) {
	c.total += int64(count)
	switch {
	case count == 1:
		c.ones++
	case count == 2:
		c.twos++
	case count > 2:
		c.more++
	}
}

// Train learns a model of the given order (1 for single words, 2 for pairs, …)
// from texts over a vocabulary of so many words; both are at least 1, and the texts
// have 1 to 2³¹ − 1 words. Ids outside [0, words) stand for the unknown word, which is
// in the vocabulary like any other word.
//
// Counts below the highest order are numbers of different words before the
// n-gram, except at the start of a text, where nothing precedes and occurrences
// count. Discounts are those of Chen & Goodman eq. 26, per order; where there
// is too little text to estimate them (no n-gram seen once, twice or three
// times, or a discount outside (0, count)), they are ½, 1 and 1½.
func Train(texts [][]int32, words, order int) (*Model, error) {
	if err := checkSizes(texts, words, order); err != nil {
		return nil, fmt.Errorf("n-gram model: %w", err)
	}
	m := &Model{
		order:  order,
		words:  words,
		levels: make([]level, order),
	}
	counters := make([]counter, order)
	for k := range counters {
		counters[k].number = map[gram]int32{}
	}
	counters[0].count = make([]int32, words+2)
	for _, t := range texts {
		m.count(counters, t)
	}
	for _, c := range counters {
		m.discounts = append(m.discounts, discountsOf(c.count))
	}
	m.levels[0].count = counters[0].count
	m.single = singleProbabilities(counters[0].count, m.discounts[0], words)
	nodes := consecutive(words + 2) // of each number
	for k := 1; k < order; k++ {
		nodes = m.levels[k-1].link(&m.levels[k], counters[k], nodes)
	}
	return m, nil
}

// singleProbabilities are those of the words and of the unknown one, smoothed by the uniform distribution over them.
func singleProbabilities(counts []int32, discounts [3]float64, words int) []float64 {
	var all continuations // of the empty n-gram
	for _, c := range counts {
		all.add(c)
	}
	p := make([]float64, words+1)
	for w := range p {
		p[w] = all.interpolate(counts[w], discounts, 1/float64(words+1))
	}
	return p
}

// checkSizes checks the arguments of Train.
func checkSizes(texts [][]int32, words, order int) error {
	if err := check.AtLeast("order", order, 1); err != nil {
		return err
	}
	if err := check.AtLeast("words", words, 1); err != nil {
		return err
	}
	tokens := list.Sum(texts, func(t []int32) int { return len(t) })
	if tokens == 0 {
		return errors.New("no words to learn from")
	}
	if tokens > math.MaxInt32-len(texts) {
		return fmt.Errorf("%d words: must be fewer than 2^31", tokens)
	}
	return nil
}

// count adds the n-grams of a text.
func (m *Model) count(counters []counter, text []int32) {
	before := []int32{m.begin()} // numbers of the last word, of the last two, …, up to the start of the text
	for _, w := range text {
		w = m.known(w)
		now := []int32{w}
		if m.order == 1 {
			counters[0].count[w]++
		}
		for i, n := range before[:min(len(before), m.order-1)] {
			k := i + 1
			at, isNew := counters[k].of(gram{before: n, last: w})
			if isNew {
				counters[k-1].count[now[k-1]]++
			}
			if k == m.order-1 || k == len(before) { // nothing precedes the start of the text
				counters[k].count[at]++
			}
			now = append(now, at)
		}
		before = now
	}
}

// of is the number of an n-gram, and whether it is a new one.
func (c *counter) of(g gram) (number int32, isNew bool) {
	number, met := c.number[g]
	if met {
		return number, false
	}
	number = int32(len(c.grams))
	c.number[g] = number
	c.grams = append(c.grams, g)
	c.count = append(c.count, 0)
	return number, true
}

// link makes the next level from the n-grams counted, given the nodes of their
// beginnings, and returns the nodes of the n-grams.
func (l *level) link(next *level, c counter, begins []int32) []int32 {
	order := consecutive(len(c.grams))
	slices.SortFunc(order, func(a, b int32) int {
		x := c.grams[a]
		y := c.grams[b]
		if begins[x.before] != begins[y.before] {
			return cmp.Compare(begins[x.before], begins[y.before])
		}
		return cmp.Compare(x.last, y.last)
	})
	l.start = make([]int32, len(l.count)+1)
	l.after = make([]continuations, len(l.count))
	nodes := make([]int32, len(order))
	for node, i := range order {
		g := c.grams[i]
		begin := begins[g.before]
		nodes[i] = int32(node)
		next.last = append(next.last, g.last)
		next.count = append(next.count, c.count[i])
		l.after[begin].add(c.count[i])
		l.start[begin+1] = int32(node + 1)
	}
	for i := range l.count { // nodes that nothing continues
		l.start[i+1] = max(l.start[i+1], l.start[i])
	}
	return nodes
}

func consecutive(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// begin is the id of the start of a text; it is a history, never an event.
func (m *Model) begin() int32 { return int32(m.words + 1) }

// known is a word, the unknown one for an id outside [0, words).
func (m *Model) known(w int32) int32 {
	if w < 0 || int(w) >= m.words {
		return int32(m.words)
	}
	return w
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

// History is the state of the model after some words, from which it computes
// the probability of any next word.
type History struct {
	model *Model
	nodes []int32 // nodes[j] is the node of the last j+1 words in level j+1; ends where one is unseen
}

// After returns the history for the words before a position, the last one last, where
// others may stand before them. At most the last order − 1 of them are used.
func (m *Model) After(words []int32) History {
	if len(words) > m.order-1 {
		words = words[len(words)-(m.order-1):]
	}
	return m.history(m.allKnown(nil, words))
}

// AfterStart is After for the first words of a text: nothing precedes them.
func (m *Model) AfterStart(words []int32) History {
	if len(words) >= m.order-1 {
		return m.After(words)
	}
	return m.history(m.allKnown([]int32{m.begin()}, words))
}

// allKnown appends words, those that are not of the vocabulary as the unknown word.
func (m *Model) allKnown(context, words []int32) []int32 {
	for _, w := range words {
		context = append(context, m.known(w))
	}
	return context
}

// history finds the nodes of the last word, the last two, … of fewer than order words.
func (m *Model) history(context []int32) History {
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
func (m *Model) find(words []int32) int32 {
	node := words[0]
	for k, w := range words[1:] {
		node = m.child(k, node, w)
		if node < 0 {
			return -1
		}
	}
	return node
}

// child returns the node of level k+2 that continues a node of level k+1 by a
// word, −1 if there is none.
func (m *Model) child(k int, node, w int32) int32 {
	lo := m.levels[k].start[node]
	hi := m.levels[k].start[node+1]
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
	p := m.single[w]
	for j, node := range h.nodes {
		c := m.levels[j].after[node]
		if c.total == 0 {
			break // seen, but never continued; so is any longer history
		}
		count := int32(0)
		if at := m.child(j, node, w); at >= 0 {
			count = m.levels[j+1].count[at]
		}
		p = c.interpolate(count, m.discounts[j+1], p)
	}
	return p
}

// interpolate returns (count − D(count))/total + γ·lower, with γ the share of
// the counts removed by discounts: Chen & Goodman, §3.
func (c continuations) interpolate(count int32, d [3]float64, lower float64) float64 {
	off := d[0]*float64(c.ones) + d[1]*float64(c.twos) + d[2]*float64(c.more)
	kept := float64(count)
	if count > 0 {
		kept -= d[min(count, 3)-1]
	}
	return (kept + off*lower) / float64(c.total)
}
