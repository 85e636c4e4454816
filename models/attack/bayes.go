package attack

import (
	"context"
	"fmt"
	"math"
)

func init() {
	const name = "attribute-channel"
	Register(Definition{Name: name, Version: 2, Needs: []Need{NeedsPrivate, NeedsChannel},
		Columns: labelColumns(name, "Bayes with the channel"),
		Start: func(ctx context.Context, s *Situation) (Attack, error) {
			channel, _, err := s.channel(ctx)
			b := newBayes(s)
			sent := throughChannel{b.counts, make([][][]float64, channel.Blocks())}
			return Attack{sent.take, func(ctx context.Context) ([]Outcome, error) {
				r := ofWords(name, 0, nil)
				return findPrivate(ctx, s, name, r, func() (trained[[]int32], error) {
					return b.choose(ctx, b.counts, r.onPlain(s, Validation))
				}, func(trained[[]int32]) (trained[[]int32], error) {
					validation, err := r.own(ctx, s, Validation, 0)
					if err != nil {
						return trained[[]int32]{}, err
					}
					return b.choose(ctx, sent.merged(), validation)
				})
			}}, err
		}})
}

// bayes is p(label | y₁ y₂ …) ∝ p(label)·Π_i Σ_x p(x | label)·P(y_i | x), with
// words independent and counted in plain training text, and in public text with
// labels where there is some.
type bayes struct {
	*Situation
	// counts of the words of the mechanism: one of each, then by source and label.
	counts  [][]float64
	sources []string
	prior   []float64 // of the labels: how often each occurs in training
	// By source and label: all words, and those that the mechanism does not know.
	total, unknown []float64
}

// backgrounds are how many words of all labels together are added to the counts
// of each label, one of which is chosen on validation.
var backgrounds = []float64{30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000}

func newBayes(s *Situation) *bayes {
	b := &bayes{Situation: s, counts: [][]float64{make([]float64, s.Words)}, prior: make([]float64, s.Privates)}
	for x := range b.counts[0] {
		b.counts[0][x] = 1
	}
	for _, d := range s.Train {
		b.prior[d.Private]++
	}
	count := func(name string, parts ...[]Document) {
		first := len(b.total)
		b.sources = append(b.sources, name)
		b.total = append(b.total, make([]float64, s.Privates)...)
		b.unknown = append(b.unknown, make([]float64, s.Privates)...)
		for range s.Privates {
			b.counts = append(b.counts, make([]float64, s.Words))
		}
		for _, documents := range parts {
			for _, d := range documents {
				k := first + d.Private
				for _, w := range d.Words {
					if b.total[k]++; s.knows(w) {
						b.counts[1+k][w]++
					} else {
						b.unknown[k]++
					}
				}
			}
		}
	}
	count("training text", s.Train)
	if len(s.Public) > 0 {
		count("training and public text", s.Train, s.Public)
	}
	return b
}

// throughChannel sends counts of inputs through a channel: expected numbers of
// outputs.
type throughChannel struct {
	counts [][]float64
	blocks [][][]float64 // by block, count and output
}

func (t throughChannel) take(block, x int, row []float64) {
	if t.blocks[block] == nil {
		for range t.counts {
			t.blocks[block] = append(t.blocks[block], make([]float64, len(row)))
		}
	}
	for k, counts := range t.counts {
		if n := counts[x]; n > 0 {
			to := t.blocks[block][k]
			for y, p := range row {
				to[y] += float64(n * p)
			}
		}
	}
}

// merged adds up the blocks in order.
func (t throughChannel) merged() [][]float64 {
	out := make([][]float64, len(t.counts))
	for k := range out {
		out[k] = make([]float64, len(t.counts[k]))
		for _, block := range t.blocks {
			if block == nil {
				continue
			}
			for y, v := range block[k] {
				out[k][y] += v
			}
		}
	}
	return out
}

// scorer returns the attacker who adds background words to the counts of one source,
// as they are in what he reads. A word that the mechanism does not know is released as
// any word, or as itself, which tells nothing here.
func (b *bayes) scorer(counts [][]float64, source int, background float64) LabelScorer[[]int32] {
	n, first := float64(b.Words), source*b.Privates
	everything := n
	for label := range b.Privates {
		everything += b.total[first+label]
	}
	logs := make([][]float64, b.Privates) // by label and output
	for label := range logs {
		k := first + label
		logs[label] = make([]float64, b.Words)
		for y := range logs[label] {
			common := counts[0][y]
			for other := range b.Privates {
				common += counts[1+first+other][y] + b.unknown[first+other]/n
			}
			logs[label][y] = math.Log((counts[1+k][y] + b.unknown[k]/n + background*common/everything) /
				(b.total[k] + background))
		}
	}
	return func(ctx context.Context, documents [][]int32) ([][]float64, error) {
		scores := make([][]float64, len(documents))
		for i, d := range documents {
			for label, logs := range logs {
				score := math.Log((b.prior[label] + 1) / float64(len(b.Train)+b.Privates))
				for _, y := range d {
					if b.knows(y) {
						score += logs[y]
					}
				}
				scores[i] = append(scores[i], score)
			}
		}
		return scores, ctx.Err()
	}
}

// choose returns the attacker who finds most labels of the validation documents.
func (b *bayes) choose(ctx context.Context, counts [][]float64, validation labelled[[]int32]) (trained[[]int32],
	error) {
	var all []trained[[]int32]
	for i, source := range b.sources {
		for _, background := range backgrounds {
			all = append(all, trained[[]int32]{b.scorer(counts, i, background),
				fmt.Sprintf("counts of %s, %v words of all labels", source, background)})
		}
	}
	return strongest(ctx, all, validation)
}
