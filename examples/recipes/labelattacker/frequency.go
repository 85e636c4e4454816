// Package labelattacker is a template: copy it, and import it in cmd/mldp.
package labelattacker

import (
	"context"
	"math"

	"mldpbench/models/attack"
	"mldpbench/models/attack/labels"
	"mldpbench/stream"
)

func init() {
	labels.Register(labels.Attacker{
		Name:    "frequency",
		Title:   "frequencies of words",
		From:    labels.Adaptive,
		Learner: labels.Learner{Learn: learn},
	})
}

// learn counts the words of each label. The score of a label is the sum
// of ln(1 + occurrences by document) over the words of a document.
func learn(_ context.Context, t *attack.Target, train, _ []attack.Document, _ stream.Seed) (labels.Learned, error) {
	having := make([]map[int32]float64, t.Corpus.PrivateLabels)
	for label := range having {
		having[label] = map[int32]float64{}
	}
	documents := make([]float64, len(having))
	for _, d := range train {
		documents[d.Private]++
		for _, w := range d.Words {
			having[d.Private][w]++
		}
	}
	score := func(_ context.Context, all []attack.Document) ([][]float64, error) {
		scores := make([][]float64, len(all))
		for i, d := range all {
			scores[i] = make([]float64, len(having))
			for label := range having {
				for _, w := range d.Words {
					scores[i][label] += math.Log1p(having[label][w] / (1 + documents[label]))
				}
			}
		}
		return scores, nil
	}
	return labels.Learned{Score: score}, nil
}
