package attack

import (
	"context"
	"fmt"
	"math"

	"mldpbench/metrics"
)

func init() {
	d := attributeDefinition("attribute-channel", "Bayes with the channel", []Need{NeedsPrivate, NeedsChannel})
	d.Version = 2
	d.prepare = func(ctx context.Context, s *Situation, channel metrics.Channel, _ int) (channelAttack, error) {
		b := newBayes(s, channel.Blocks())
		return channelAttack{b.take, func(ctx context.Context) ([]Outcome, error) { return b.outcomes(ctx, d.Name) }}, nil
	}
	Register(d)
}

// bayes is p(label | y₁ y₂ …) ∝ p(label)·Π_i Σ_x p(x | label)·P(y_i | x), with
// words independent and counted in plain training text, and in public text with
// labels where there is some.
type bayes struct {
	situation *Situation
	// texts are the sources of counts: the training split, and that with the
	// public text.
	texts  []labelCounts
	blocks []*throughChannel
}

// labelCounts counts words by label.
type labelCounts struct {
	name    string
	words   [][]float64 // by label
	total   []float64   // by label, unknown words included
	unknown []float64   // by label: words that the mechanism does not know
}

// throughChannel are counts sent through a channel: expected numbers of outputs.
type throughChannel struct {
	counts [][][]float64 // by source, label and output
	all    []float64     // of one of each word
}

// backgrounds are how many words of all labels together are added to the counts
// of each label, one of which is chosen on validation.
var backgrounds = []float64{30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000}

func newBayes(s *Situation, blocks int) *bayes {
	b := &bayes{situation: s, blocks: make([]*throughChannel, blocks)}
	count := func(name string, parts ...[]Document) {
		c := labelCounts{name: name, total: make([]float64, s.Privates), unknown: make([]float64, s.Privates)}
		for range s.Privates {
			c.words = append(c.words, make([]float64, s.Words))
		}
		for _, documents := range parts {
			for _, d := range documents {
				for _, w := range d.Words {
					c.total[d.Private]++
					if s.knows(w) {
						c.words[d.Private][w]++
					} else {
						c.unknown[d.Private]++
					}
				}
			}
		}
		b.texts = append(b.texts, c)
	}
	count("training text", s.Train)
	if len(s.Public) > 0 {
		count("training and public text", s.Train, s.Public)
	}
	return b
}

func (b *bayes) empty() *throughChannel {
	t := &throughChannel{all: make([]float64, b.situation.Words)}
	for range b.texts {
		var of [][]float64
		for range b.situation.Privates {
			of = append(of, make([]float64, b.situation.Words))
		}
		t.counts = append(t.counts, of)
	}
	return t
}

func (b *bayes) take(block, x int, row []float64) {
	if b.blocks[block] == nil {
		b.blocks[block] = b.empty()
	}
	t := b.blocks[block]
	for y, p := range row {
		t.all[y] += p
	}
	for i, c := range b.texts {
		for label, counts := range c.words {
			if n := counts[x]; n > 0 {
				to := t.counts[i][label]
				for y, p := range row {
					to[y] += float64(n * p)
				}
			}
		}
	}
}

// merged adds up the blocks in order.
func (b *bayes) merged() *throughChannel {
	out := b.empty()
	add := func(to, from []float64) {
		for y, v := range from {
			to[y] += v
		}
	}
	for _, t := range b.blocks {
		if t == nil {
			continue
		}
		add(out.all, t.all)
		for i := range t.counts {
			for label := range t.counts[i] {
				add(out.counts[i][label], t.counts[i][label])
			}
		}
	}
	return out
}

// unchanged is the channel that returns every word as it is.
func (b *bayes) unchanged() *throughChannel {
	t := b.empty()
	for y := range t.all {
		t.all[y] = 1
	}
	for i, c := range b.texts {
		for label, counts := range c.words {
			copy(t.counts[i][label], counts)
		}
	}
	return t
}

// finder returns the attacker who adds background words to the counts of one
// source. A word that the mechanism does not know is released as any word, or as
// itself, which tells nothing here.
func (b *bayes) finder(t *throughChannel, source int, background float64) finder {
	s, c := b.situation, b.texts[source]
	n := float64(s.Words)
	logs := make([][]float64, s.Privates) // by label and output
	everything := n
	for _, total := range c.total {
		everything += total
	}
	prior := make([]float64, s.Privates)
	for _, d := range s.Train {
		prior[d.Private]++
	}
	for label := range logs {
		logs[label] = make([]float64, s.Words)
		for y := range logs[label] {
			common := t.all[y]
			for other, counts := range t.counts[source] {
				common += counts[y] + c.unknown[other]/n
			}
			logs[label][y] = math.Log((t.counts[source][label][y] + c.unknown[label]/n + background*common/everything) /
				(c.total[label] + background))
		}
	}
	return func(ctx context.Context, documents [][]int32) (answers, error) {
		scores := make([][]float64, len(documents))
		for i, d := range documents {
			scores[i] = make([]float64, len(logs))
			for label := range logs {
				score := math.Log((prior[label] + 1) / float64(len(s.Train)+s.Privates))
				for _, y := range d {
					if s.knows(y) {
						score += logs[label][y]
					}
				}
				scores[i][label] = score
			}
		}
		return highest(scores, ctx.Err())
	}
}

// choose returns the attacker who finds most labels of the validation documents.
func (b *bayes) choose(ctx context.Context, t *throughChannel, validation labelled) (finder, string, error) {
	var best finder
	name, bestHits := "", -1
	for i, c := range b.texts {
		for _, background := range backgrounds {
			find := b.finder(t, i, background)
			found, err := find(ctx, validation.documents)
			if err != nil {
				return nil, "", err
			}
			if hits := agree(found.labels, validation.labels); hits > bestHits {
				best, bestHits = find, hits
				name = fmt.Sprintf("counts of %s, %v words of all labels", c.name, background)
			}
		}
	}
	return best, name, nil
}

func (b *bayes) outcomes(ctx context.Context, name string) ([]Outcome, error) {
	s := b.situation
	plain, err := once(s.Memo, name, func() ([]int, error) {
		find, _, err := b.choose(ctx, b.unchanged(), labelled{wordsOf(s.Validation), privates(s.Validation)})
		if err != nil {
			return nil, err
		}
		found, err := find(ctx, wordsOf(s.Test))
		return found.labels, err
	})
	if err != nil {
		return nil, err
	}
	validation, err := s.ownReleases(ctx, Validation, s.Validation, 0)
	if err != nil {
		return nil, err
	}
	find, chosen, err := b.choose(ctx, b.merged(), validation)
	if err != nil {
		return nil, err
	}
	found, err := s.findInReleases(ctx, find)
	if err != nil {
		return nil, err
	}
	return s.attributeOutcomes(name, found, plain, chosen)
}
