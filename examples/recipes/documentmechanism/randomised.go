// Package documentmechanism is a template: copy it, and import it in cmd/mldp.
package documentmechanism

import (
	"context"
	"math"
	"strings"

	"mldpbench/mechanisms"
)

func init() {
	mechanisms.Register(mechanisms.Definition{
		Name:      "sentence-response",
		Title:     "Sentence response",
		Source:    "Warner 1965 (randomised response)",
		Metric:    mechanisms.AnyDocuments,
		Order:     993,
		Variants:  []mechanisms.Variant{mechanisms.Proved},
		Documents: true,
		New:       newResponse,
	})
}

// answers are all texts that are published.
var answers = []string{"This text asks a question.", "This text asks nothing."}

// newResponse publishes whether a text asks, by randomised response: the truth is e^ε times as
// likely as the other answer. Both answers have the same normaliser, e^ε + 1, whatever is read.
func newResponse(env mechanisms.Environment, s mechanisms.Settings) (*mechanisms.Mechanism, error) {
	g := mechanisms.BetweenDocuments(s.Epsilon, "randomised response")
	normaliser := s.Epsilon + math.Log1p(math.Exp(-s.Epsilon)) // ln(e^ε + 1)
	logRows := func(_ context.Context, texts []string) ([][]float64, error) {
		rows := make([][]float64, len(texts))
		for i, text := range texts {
			rows[i] = []float64{-normaliser, s.Epsilon - normaliser}
			if strings.Contains(text, "?") {
				rows[i] = []float64{s.Epsilon - normaliser, -normaliser}
			}
		}
		return rows, nil
	}
	return mechanisms.ByDocuments(env, s, g, mechanisms.Documents{Outputs: answers, LogRows: logRows})
}
