package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/stream"
)

func init() {
	name, columns := "attribute-channel", labelColumn("attribute-channel", "Bayes with the channel")
	Register(Definition{Name: name, Version: 3, Needs: []Need{NeedsPrivate}, Columns: columns,
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			b := newBayes(s)
			sent, err := s.through(b.counts)
			if err != nil {
				return nil, err
			}
			l := learner{name: name, fit: func(ctx context.Context, _ *Situation, _, validation []Document, _ stream.Seed) (
				trained, error) {
				return b.choose(ctx, b.counts, validation)
			}}
			return s.findPrivate(ctx, columns[0].Name, l, s.Seed, func(trained) (trained, error) {
				validation, err := l.own(ctx, s, Validation, 0)
				if err != nil {
					return trained{}, err
				}
				return b.choose(ctx, sent, validation)
			})
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
	unknown []float64 // by source and label: words that the mechanism does not know
}

// backgrounds are how many words of all labels together are added to the counts
// of each label, one of which is chosen on validation.
var backgrounds = []float64{30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000}

func newBayes(s *Situation) *bayes {
	b := &bayes{Situation: s, counts: [][]float64{slices.Repeat([]float64{1}, s.Words)},
		prior: make([]float64, s.Privates)}
	for _, d := range s.Train {
		b.prior[d.Private]++
	}
	count := func(name string, documents []Document) {
		b.sources = append(b.sources, name)
		counts, unknown := make([][]float64, s.Privates), make([]float64, s.Privates)
		for k := range counts {
			counts[k] = make([]float64, s.Words)
		}
		for _, d := range documents {
			for _, w := range d.Words {
				if s.knows(w) {
					counts[d.Private][w]++
				} else {
					unknown[d.Private]++
				}
			}
		}
		b.counts, b.unknown = append(b.counts, counts...), append(b.unknown, unknown...)
	}
	count("training text", s.Train)
	if len(s.Public) > 0 {
		count("training and public text", slices.Concat(s.Train, s.Public))
	}
	return b
}

// scorer returns the attacker who adds background words to the counts of one source,
// as they are in what he reads. A word that the mechanism does not know is released as
// any word, or as itself, which tells nothing here.
func (b *bayes) scorer(counts [][]float64, source int, background float64) LabelScorer {
	n, first := float64(b.Words), source*b.Privates
	total := func(k int) float64 { return floats.Sum(b.counts[1+k]) + b.unknown[k] }
	everything := n
	for label := range b.Privates {
		everything += total(first + label)
	}
	logs := make([][]float64, b.Privates) // by label and output
	for label := range logs {
		k, all := first+label, total(first+label)
		logs[label] = make([]float64, b.Words)
		for y := range logs[label] {
			common := counts[0][y]
			for other := range b.Privates {
				common += counts[1+first+other][y] + b.unknown[first+other]/n
			}
			logs[label][y] = math.Log((counts[1+k][y] + b.unknown[k]/n + background*common/everything) /
				(all + background))
		}
	}
	return func(ctx context.Context, documents []Document) ([][]float64, error) {
		scores := make([][]float64, len(documents))
		for i, d := range documents {
			for label, logs := range logs {
				score := math.Log((b.prior[label] + 1) / float64(len(b.Train)+b.Privates))
				for _, y := range d.Words {
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
func (b *bayes) choose(ctx context.Context, counts [][]float64, validation []Document) (trained, error) {
	var all []trained
	for i, source := range b.sources {
		for _, background := range backgrounds {
			all = append(all, trained{b.scorer(counts, i, background),
				fmt.Sprintf("counts of %s, %v words of all labels", source, background)})
		}
	}
	return mostRight(ctx, all, validation)
}
