package labels

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/models/attack"
	"mldpbench/stream"
)

// attribute-channel names the label of highest posterior, given what the channel makes of
// the words of each label.
func init() {
	name := "attribute-channel"
	c := column(name, "Bayes with the channel")
	attack.Register(attack.Definition{
		Name:    name,
		Version: 3,
		Needs:   []attack.Need{attack.NeedsPrivate},
		Columns: []attack.Column{c},
		Start: func(ctx context.Context, t *attack.Target) (attack.Attack, error) {
			b := newBayes(t)
			sent := attack.NewExpected(b.counts)
			return attack.Attack{
				Take:   sent.Take,
				Finish: func() ([]attack.Outcome, error) { return b.outcomes(ctx, name, c.Name, sent.Outputs()) },
			}, nil
		},
	})
}

// bayes is p(label | y₁ y₂ …) ∝ p(label)·Π_i Σ_x p(x | label)·P(y_i | x), with
// words independent and counted in plain training text, and in public text with
// labels where there is some.
type bayes struct {
	*attack.Target
	// counts of the words of the mechanism: one of each, then by source and label.
	counts  [][]float64
	sources []string
	prior   []float64 // of the labels: how often each occurs in training
	unknown []float64 // by source and label: words that the mechanism does not know
}

// backgrounds are how many words of all labels together are added to the counts
// of each label, one of which is chosen on validation.
var backgrounds = []float64{30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000}

func newBayes(t *attack.Target) *bayes {
	c := t.Corpus
	b := &bayes{Target: t, prior: make([]float64, c.PrivateLabels)}
	b.counts = [][]float64{slices.Repeat([]float64{1}, t.Words.Count)}
	for _, d := range c.Train {
		b.prior[d.Private]++
	}
	b.count("training text", c.Train)
	if len(c.Public) > 0 {
		b.count("training and public text", slices.Concat(c.Train, c.Public))
	}
	return b
}

// count adds a source of counts.
func (b *bayes) count(source string, documents []attack.Document) {
	counts := make([][]float64, b.Corpus.PrivateLabels)
	for label := range counts {
		counts[label] = make([]float64, b.Words.Count)
	}
	unknown := make([]float64, b.Corpus.PrivateLabels)
	for _, d := range documents {
		for _, w := range d.Words {
			if b.Words.Known(w) {
				counts[d.Private][w]++
			} else {
				unknown[d.Private]++
			}
		}
	}
	b.sources = append(b.sources, source)
	b.counts = append(b.counts, counts...)
	b.unknown = append(b.unknown, unknown...)
}

// outcomes are those of who expects counts as the channel sends them.
func (b *bayes) outcomes(ctx context.Context, name, column string, sent [][]float64) ([]attack.Outcome, error) {
	l := Learner{
		Name: name,
		Learn: func(ctx context.Context, _ *attack.Target, _, validation []attack.Document,
			_ stream.Seed) (Learned, error) {
			return b.choose(ctx, b.counts, validation)
		},
	}
	plain, err := l.learnPlain(ctx, b.Target, b.Corpus.Seed)
	if err != nil {
		return nil, err
	}
	validation, err := l.ownReleases(ctx, b.Target, attack.Validation, l.numberOfReleases(b.Target))
	if err != nil {
		return nil, err
	}
	attacker, err := b.choose(ctx, sent, validation)
	if err != nil {
		return nil, err
	}
	return l.find(ctx, b.Target, column, attacker, plain.labels)
}

// logs are ln p(y | label), by label and output, for counts of one source with background
// words added.
func (b *bayes) logs(counts [][]float64, source int, background float64) [][]float64 {
	n := float64(b.Words.Count)
	labels := b.Corpus.PrivateLabels
	counts0 := counts[0]
	first := source * labels
	ofSource := counts[1+first : 1+first+labels]
	unknown := b.unknown[first : first+labels]
	totals := make([]float64, labels)
	everything := n
	for label := range totals {
		totals[label] = floats.Sum(b.counts[1+first+label]) + unknown[label]
		everything += totals[label]
	}
	out := make([][]float64, labels)
	for label := range out {
		out[label] = make([]float64, b.Words.Count)
		for y := range out[label] {
			common := counts0[y]
			for other := range labels {
				common += ofSource[other][y] + unknown[other]/n
			}
			out[label][y] = math.Log((ofSource[label][y] + unknown[label]/n + background*common/everything) /
				(totals[label] + background))
		}
	}
	return out
}

// scorer returns the attacker who adds background words to the counts of one source,
// as they are in what he reads. A word that the mechanism does not know is released as
// any word, or as itself, which tells nothing here.
func (b *bayes) scorer(counts [][]float64, source int, background float64) Scorer {
	byLabel := b.logs(counts, source, background)
	return func(ctx context.Context, documents []attack.Document) ([][]float64, error) {
		scores := make([][]float64, len(documents))
		for i, d := range documents {
			for label, logs := range byLabel {
				score := math.Log((b.prior[label] + 1) / float64(len(b.Corpus.Train)+b.Corpus.PrivateLabels))
				for _, y := range d.Words {
					if b.Words.Known(y) {
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
func (b *bayes) choose(ctx context.Context, counts [][]float64, validation []attack.Document) (Learned, error) {
	var all []Learned
	for i, source := range b.sources {
		for _, background := range backgrounds {
			all = append(all, Learned{b.scorer(counts, i, background),
				fmt.Sprintf("counts of %s, %v words of all labels", source, background)})
		}
	}
	return mostRight(ctx, all, validation)
}
